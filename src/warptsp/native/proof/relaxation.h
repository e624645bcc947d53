// A linear relaxation of closed tours that grows by edges and cuts, as a solver of linear programmes wants it. Host code
// only.
//
// The solver itself is elsewhere: it is told of new columns and rows, and tells its solutions and prices.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/parallel.h"
#include "common/random.h"
#include "common/stop_token.h"
#include "proof/blossoms.h"
#include "proof/dominoes.h"
#include "proof/local_cuts.h"
#include "proof/pricing.h"
#include "proof/shrunk_combs.h"
#include "proof/stars.h"
#include "proof/subtours.h"
#include "proof/sweep.h"
#include "proof/tightening.h"

namespace warptsp::proof {

// Rows or columns of a matrix, one after the other: those of k are [begin[k], begin[k + 1]).
struct SparseLines {
  std::vector<double> bound;  // the lower one of rows, the cost of columns
  std::vector<int> begin, index;
  std::vector<double> value;
};

enum class Effort { subtours, blossoms, tightening, local, dominoes, wide };

struct RoundReport {
  int components = 0, subtours = 0, blossoms = 0, tightened = 0, local = 0;
};

struct PricedPairs {
  int64_t bound = no_bound;
  std::vector<std::pair<int64_t, std::pair<int, int>>> pairs;  // missing ones of negative reduced length, least first
};

class Relaxation {
 public:
  // `lengths` [n, n]: symmetric, in units of 2^-16; forks share them. `tour`: any tour.
  Relaxation(std::shared_ptr<const int64_t> lengths, std::vector<int> tour, uint64_t seed)
      : n_((int)tour.size()), scale_(std::max(1, n_ / 1000)), lengths_(std::move(lengths)), tour_(std::move(tour)),
        seed_(seed), pricing_(lengths_.get(), n_) {}

  // The same relaxation, which goes its own way from here; `number`, from 1 on, is its own, and so are its cuts' ids.
  std::unique_ptr<Relaxation> fork(int number) const {
    auto other = std::make_unique<Relaxation>(*this);
    other->pricing_ = Pricing(lengths_.get(), n_);
    other->next_id_ = other->told_ = (int64_t)number << 40;
    return other;
  }

  // The cuts of the linear program that came since the last call, but those that others find as easily.
  std::vector<Cut> new_cuts() {
    std::vector<Cut> cuts;
    for (const Row &row : rows_)
      if (row.id >= told_ && !row.cut.is_subtour()) cuts.push_back(row.cut);
    told_ = next_id_;
    return cuts;
  }

  // Puts those that it does not know into the pool.
  void learn(const std::vector<Cut> &cuts) {
    std::unordered_set<uint64_t> known(present_);
    for (const Cut &cut : pool_) known.insert(cut.hash);
    for (const Cut &cut : cuts) {
      if (!known.insert(cut.hash).second) continue;
      pool_.push_back(cut);
      pool_.back().rest = {};
      pool_.back().sleeps = 0;
    }
  }

  int cities() const { return n_; }
  int columns() const { return (int)(ends_.size() / 2); }
  int rows() const { return (int)rows_.size(); }
  const std::vector<int> &ends() const { return ends_; }
  const Row &row(int r) const { return rows_[r]; }
  size_t pool_size() const { return pool_.size(); }
  void set_tour(std::vector<int> tour) { tour_ = std::move(tour); }

  // Cities have these coordinates [n, 2]; the last one may have none.
  void set_coordinates(const double *coordinates, int n) {
    points_.assign(coordinates, coordinates + 2 * (size_t)n);
    rows_of_cities_.clear();
    for (const int axis : {0, 1}) rows_of_cities_.push_back(Rows::of(n, coordinates, axis));
  }

  // From now on the costs of new columns differ from their lengths by up to so much, at random, so that equal ones do
  // not tie. Pricing goes by the lengths.
  void perturb(double most) { perturbation_ = most; }

  // Columns ------------------------------------------------------------------------------------------------------

  // Adds the edges that are not there yet; each may be used from 0 to 1 times.
  SparseLines add_columns(const int *pairs, size_t count) {
    SparseLines added;
    for (size_t k = 0; k < count; ++k) {
      const int u = std::min(pairs[2 * k], pairs[2 * k + 1]), v = std::max(pairs[2 * k], pairs[2 * k + 1]);
      if (!column_of_.emplace(key(u, v), columns()).second) continue;
      ends_.push_back(u);
      ends_.push_back(v);
      lower_.push_back(0);
      upper_.push_back(1);
      const double unit = Random(seed_, (uint64_t)u, (uint64_t)v).unit();
      added.bound.push_back(std::ldexp((double)pricing_.length(u, v), -fraction_bits) +
                            perturbation_ * (2.0 * unit - 1.0));
      added.begin.push_back((int)added.index.size());
      const auto put = [&](int row, double value) {
        added.index.push_back(row);
        added.value.push_back(value);
      };
      put(u, 1.0);
      put(v, 1.0);
      for (int r = 0; r < rows(); ++r)
        if (const int q = rows_[r].cut.coefficient(u, v) - taken(r, u) - taken(r, v); q != 0) put(n_ + r, q);
    }
    return added;
  }

  // The number of an edge, or -1.
  int column_at(int u, int v) const {
    const auto found = column_of_.find(key(u, v));
    return found == column_of_.end() ? -1 : found->second;
  }

  void set_column_bounds(int column, int lower, int upper) {
    lower_[column] = (char)lower;
    upper_[column] = (char)upper;
  }

  // Takes columns away; those after them move up.
  void drop_columns(const std::vector<int> &gone) {
    std::vector<char> goes(columns(), 0);
    for (const int column : gone) goes[column] = 1;
    int kept = 0;
    column_of_.clear();
    for (int e = 0; e < (int)goes.size(); ++e) {
      if (goes[e] != 0) continue;
      ends_[2 * kept] = ends_[2 * e];
      ends_[2 * kept + 1] = ends_[2 * e + 1];
      lower_[kept] = lower_[e];
      upper_[kept] = upper_[e];
      column_of_.emplace(key(ends_[2 * e], ends_[2 * e + 1]), kept++);
    }
    mean_.clear();
    ends_.resize((size_t)2 * kept);
    lower_.resize(kept);
    upper_.resize(kept);
  }

  // Rows ---------------------------------------------------------------------------------------------------------

  // Makes rows of the `most` most violated cuts of the last round.
  SparseLines take_cuts(size_t most) {
    put_violated_first(waiting_);
    if (waiting_.size() > most) waiting_.resize(most);
    SparseLines added;
    const std::vector<std::vector<int>> columns_at = this->columns_at();
    for (Cut &cut : waiting_) append(std::move(cut), added, &columns_at);
    waiting_.clear();
    return added;
  }

  // Makes the last row of the cities' subtour constraint, as it is.
  SparseLines add_subtour(const std::vector<int> &set) {
    SparseLines added;
    append(subtour_cut(n_, set), added);
    return added;
  }

  // Turns prices and values of the programme's rows into those of the cuts: sums of cities' edges, which are 2, were
  // taken off them.
  void to_cuts(double *price, double *activity) const {
    for (int r = 0; r < rows(); ++r)
      for (const auto &[city, times] : rows_[r].taken) {
        price[city] -= times * price[n_ + r];
        activity[r] += 2 * times;
      }
  }

  // Keeps a cut that is known to be valid, such as one of an earlier proof, for take_cuts(), unless there is a row of it.
  void adopt(Cut &&cut) {
    check_cut(cut, tour_);
    make_canonical(cut);
    if (present_.count(cut.hash) == 0) waiting_.push_back(std::move(cut));
  }

  // A row with other limits than its cut's stays until it has those again.
  void set_row_bounds(int row, int lower, int upper) {
    rows_[row].lower = lower;
    rows_[row].upper = upper;
  }

  // Takes rows away that were loose for more than so many rounds, if they are many; their numbers, in order.
  std::vector<int> drop_idle(const double *price, const double *activity, int most_rounds) {
    std::vector<int> gone;
    for (int r = 0; r < rows(); ++r) {
      Cut &cut = rows_[r].cut;
      if (price[r] > 1e-9)
        cut.idle_rounds = 0;
      else if (activity[r] > cut.bound + 1e-6)
        ++cut.idle_rounds;
      if (cut.idle_rounds > most_rounds && !rows_[r].is_limited()) gone.push_back(r);
    }
    if ((int)gone.size() < 20 && (int)gone.size() < rows() / 10) return {};
    std::vector<Row> kept;
    size_t next = 0;
    for (int r = 0; r < rows(); ++r) {
      if (next == gone.size() || gone[next] != r) {
        kept.push_back(std::move(rows_[r]));
        continue;
      }
      ++next;
      Cut &cut = rows_[r].cut;
      present_.erase(cut.hash);
      if (!cut.is_subtour()) pool_.push_back(std::move(cut));
    }
    rows_ = std::move(kept);
    const size_t most_pooled = 4000 * scale_, keep_pooled = 3000 * scale_;
    if (pool_.size() > most_pooled) pool_.erase(pool_.begin(), pool_.end() - keep_pooled);
    return gone;
  }

  // Separation ---------------------------------------------------------------------------------------------------

  void begin_rounds() {
    pieces_ = smallest_pieces;
    turns_ = {};
    seeds_.clear();
    wide_seeds_.clear();
    mean_.clear();
  }

  // Finds cuts that a solution violates, the same ones with any number of threads; `activity`: the values of the rows.
  // Where a solution `is_dear`, cuts are sought at a mean of those of the rounds, and at the solution itself if none of
  // them cuts that off: among ties it is one of many, and cuts that it alone violates leave the others (in-out
  // separation, Ben-Ameur and Neto, 2007; EXP-570). Dear kinds are sought in each round then, too, and cuts that mostly repeat
  // others are left out.
  RoundReport separate(const double *solution, const double *activity, Effort effort, bool is_dear, int threads,
                       const StopToken &token) {
    const bool is_first = mean_.empty();
    mean_.resize(columns(), 0.0);
    for (int e = 0; e < columns(); ++e) mean_[e] = is_first ? solution[e] : 0.5 * (mean_[e] + solution[e]);
    if (is_dear && !is_first && effort >= Effort::tightening) {
      support_.build(n_, ends_, mean_.data());
      std::vector<double> of_mean;
      for (const Row &row : rows_) of_mean.push_back(value_of(row.cut, support_));
      const RoundReport report = find_cuts(of_mean.data(), effort, is_dear, threads, token);
      support_.build(n_, ends_, solution);
      constexpr double least_violation = 0.01;
      const auto cuts_off = [&](const Cut &cut) { return value_of(cut, support_) < cut.bound - least_violation; };
      waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), std::not_fn(cuts_off)), waiting_.end());
      if (!waiting_.empty()) return report;
      mean_.assign(solution, solution + columns());
    } else {
      support_.build(n_, ends_, solution);
    }
    return find_cuts(activity, effort, is_dear, threads, token);
  }

  // Pricing ------------------------------------------------------------------------------------------------------

  // The bound that prices prove, and at most so many missing pairs that would lower it.
  PricedPairs price(const double *price, size_t most) {
    PricedPairs found;
    if (!pricing_.set_prices(price, rows_)) return found;
    int64_t sum = pricing_.base();
    constexpr int64_t lowest = -((int64_t)1 << 60);
    for_pairs([&](int u, int v) {
      if (sum < lowest || pricing_.quick(u, v) >= 0) return;
      const int64_t reduced = pricing_.reduced(u, v);
      if (reduced >= 0) return;
      const int column = column_at(u, v);
      if (column >= 0 && lower_[column] == upper_[column]) return;
      sum += reduced;
      if (column < 0) found.pairs.push_back({reduced, {u, v}});
    });
    for (int e = 0; e < columns(); ++e) {
      if (lower_[e] != 1) continue;
      if (sum < lowest) return PricedPairs();
      sum = std::min(sum, -lowest);  // a lower bound is one, too, and does not overflow
      sum += pricing_.reduced(ends_[2 * e], ends_[2 * e + 1]);
    }
    if (sum < lowest) return PricedPairs();
    found.bound = sum;
    const size_t count = std::min(most, found.pairs.size());
    std::partial_sort(found.pairs.begin(), found.pairs.begin() + count, found.pairs.end());
    found.pairs.resize(count);
    return found;
  }

  // With the prices of the last call of price(): the pairs that can be in a tour that is less than `slack` longer than
  // the bound. With `keep`, no others are looked at from now on.
  std::vector<int> survivors(int64_t slack, bool keep) {
    std::vector<int> pairs;
    for_pairs([&](int u, int v) {
      if (pricing_.quick(u, v) > slack || pricing_.reduced(u, v) > slack) return;
      const int column = column_at(u, v);
      if (column >= 0 && upper_[column] == 0) return;
      pairs.push_back(u);
      pairs.push_back(v);
    });
    if (keep) {
      // A column that must be used stays, whatever it costs.
      std::unordered_set<uint64_t> there;
      for (size_t k = 0; k < pairs.size(); k += 2) there.insert(key(pairs[k], pairs[k + 1]));
      for (int e = 0; e < columns(); ++e)
        if (lower_[e] == 1 && there.insert(key(ends_[2 * e], ends_[2 * e + 1])).second) {
          pairs.push_back(ends_[2 * e]);
          pairs.push_back(ends_[2 * e + 1]);
        }
      survivors_ = pairs;
      are_few_ = true;
    }
    return pairs;
  }

  const Pricing &pricing() const { return pricing_; }

  // With the prices of the last call of price(), whose bound is `slack` below `target`: whether a tour is left that is no
  // longer than that, found by a sweep.
  Swept sweep(int64_t slack, int64_t target, int64_t step, const std::vector<int> &order, int64_t most_states,
              const StopToken &token) const {
    constexpr size_t most_edges = 12;  // of each city: with more, the frontier is too wide
    std::vector<SweptEdge> edges;
    for_pairs([&](int u, int v) {
      if (pricing_.quick(u, v) > slack) return;
      const int64_t reduced = pricing_.reduced(u, v);
      const int column = column_at(u, v);
      if (reduced > slack || (column >= 0 && lower_[column] == upper_[column])) return;
      edges.push_back({u, v, pricing_.length(u, v), std::max<int64_t>(0, reduced), std::max<int64_t>(0, -reduced),
                       -reduced > slack});
    });
    for (int e = 0; e < columns(); ++e)
      if (lower_[e] == 1)
        edges.push_back({ends_[2 * e], ends_[2 * e + 1], pricing_.length(ends_[2 * e], ends_[2 * e + 1]), 0, 0, true});
    if (edges.size() > most_edges * (size_t)n_) return Swept();
    std::vector<SweptRow> rows;
    for (int r = 0; r < this->rows(); ++r) {
      const Row &row = rows_[r];
      const int64_t price = pricing_.row_prices()[r];
      if (token.stopped()) return Swept();
      if (price <= 0 && !row.is_limited()) continue;
      SweptRow swept{price, row.lower, row.upper, is_even(row.cut), row.is_limited(), {}};
      for (size_t e = 0; e < edges.size(); ++e)
        if (const int q = row.cut.coefficient(edges[e].u, edges[e].v); q != 0) swept.edges.emplace_back((int)e, q);
      rows.push_back(std::move(swept));
    }
    return Sweep(n_, std::move(edges), std::move(rows), slack, target, step).run(order, most_states, token);
  }

  // At most so many sets of the rows' cuts that about 3 edges of a solution leave, those nearest to 3 first: where a
  // tour has 2, or 4 and more.
  std::vector<std::vector<int>> undecided_sets(const double *solution, size_t most) {
    constexpr double farthest = 0.75;
    support_.build(n_, ends_, solution);
    std::vector<std::pair<double, std::vector<int>>> found;
    std::set<std::vector<int>> seen;
    for (const Row &row : rows_) {
      const Cut &cut = row.cut;
      for_sets(cut, [&](const std::vector<char> &in_set) {
        double value = 0.0;
        std::vector<int> set;
        for (const int u : cut.members) {
          if (in_set[cut.class_of[u]] == 0) continue;
          set.push_back(u);
          for (const Support::Edge &edge : support_.around(u))
            if (in_set[cut.class_of[edge.to]] == 0) value += edge.value;
        }
        const double far = std::fabs(value - 3.0);
        if (set.size() > 2 && (int)set.size() < n_ - 2 && far < farthest && seen.insert(set).second)
          found.emplace_back(far, std::move(set));
      });
    }
    std::stable_sort(found.begin(), found.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    std::vector<std::vector<int>> sets;
    for (size_t i = 0; i < found.size() && i < most; ++i) sets.push_back(std::move(found[i].second));
    return sets;
  }

 private:
  enum Kind { handles, combs, stars, dominoes, tightened, minimum_cuts, all_blossoms, local_cuts, wide_cuts, kinds };
  struct Turn : Rest {
    bool is_done = false;  // in this round
  };
  static constexpr int smallest_pieces = 8;
  static constexpr uint64_t combs_stream = 77,
                            wide_stream = 1000;  // of random numbers: no task of find_local() has these

  static uint64_t key(int u, int v) {
    return u < v ? (uint64_t)u << 32 | (uint64_t)v : (uint64_t)v << 32 | (uint64_t)u;
  }

  template <class Visit>
  void for_pairs(const Visit &visit) const {
    if (are_few_) {
      for (size_t k = 0; k < survivors_.size(); k += 2) visit(survivors_[k], survivors_[k + 1]);
      return;
    }
    for (int u = 0; u < n_; ++u)
      for (int v = u + 1; v < n_; ++v) visit(u, v);
  }

  // Every class of a cut but the largest, and the handle of a comb, as marks of classes.
  template <class Visit>
  static void for_sets(const Cut &cut, const Visit &visit) {
    std::vector<char> marks(cut.classes, 0);
    for (int c = 1; c < cut.classes; ++c) {
      marks[c] = 1;
      visit(marks);
      marks[c] = 0;
    }
    if (cut.comb.empty()) return;
    const std::vector<uint8_t> &handle = cut.comb[0];
    const bool has_largest = std::find(handle.begin(), handle.end(), (uint8_t)0) != handle.end();
    for (const uint8_t c : handle) marks[c] = 1;
    if (has_largest)  // then all others
      for (char &mark : marks) mark = (char)(1 - mark);
    visit(marks);
  }

  static void put_violated_first(std::vector<Cut> &cuts) {
    std::stable_sort(cuts.begin(), cuts.end(), [](const Cut &a, const Cut &b) { return a.violation > b.violation; });
  }

  // Takes cuts away that mostly repeat others: four fifths of their columns are in deeper ones that stay. How deep a cut
  // is, its violation for a unit of its row's length, is its violation from here on: long rows make solutions dear.
  void keep_apart(std::vector<Cut> &cuts) const {
    const std::vector<std::vector<int>> columns_at = this->columns_at();
    std::vector<std::vector<int>> row_of(cuts.size());
    std::vector<std::pair<double, size_t>> deepest;
    for (size_t i = 0; i < cuts.size(); ++i) {
      const Cut &cut = cuts[i];
      double squares = 0.0;
      for (const int u : cut.members)
        for (const int e : columns_at[u]) {
          const int v = ends_[2 * e] + ends_[2 * e + 1] - u, q = cut.coefficient(u, v);
          if (q == 0 || (v < u && cut.class_of[v] != 0)) continue;  // that one comes from v
          row_of[i].push_back(e);
          squares += (double)q * q;
        }
      deepest.emplace_back((value_of(cut, support_) - cut.bound) / std::sqrt(std::max(squares, 1.0)), i);
    }
    std::sort(deepest.begin(), deepest.end());
    std::vector<char> covered(columns(), 0);
    std::vector<Cut> kept;
    for (const auto &[depth, i] : deepest) {
      const std::vector<int> &row = row_of[i];
      const auto known = std::count_if(row.begin(), row.end(), [&](int e) { return covered[e] != 0; });
      if ((size_t)known * 5 > row.size() * 4) continue;
      for (const int e : row) covered[e] = 1;
      cuts[i].violation = -depth;
      kept.push_back(std::move(cuts[i]));
    }
    cuts = std::move(kept);
  }

  std::vector<std::vector<int>> columns_at() const {
    std::vector<std::vector<int>> found(n_);
    for (int e = 0; e < columns(); ++e)
      for (const int v : {ends_[2 * e], ends_[2 * e + 1]}) found[v].push_back(e);
    return found;
  }

  int taken(int row, int city) const {
    const auto &all = rows_[row].taken;
    const auto found = std::lower_bound(all.begin(), all.end(), std::make_pair(city, std::numeric_limits<int>::min()));
    return found != all.end() && found->first == city ? found->second : 0;
  }

  // Two edges meet in each city: their sum is taken off a row as often as leaves most of its coefficients 0 (Applegate,
  // Bixby, Chvatal and Cook, 2006).
  std::vector<std::pair<int, int>> make_sparse(std::vector<int> &row,
                                               const std::vector<std::vector<int>> &columns_at) const {
    constexpr int passes = 4;
    std::vector<int> cities, times(n_, 0);
    for (int v = 0; v < n_; ++v)
      if (std::any_of(columns_at[v].begin(), columns_at[v].end(), [&](int e) { return row[e] != 0; }))
        cities.push_back(v);
    std::vector<int> values;
    for (int pass = 0; pass < passes; ++pass) {
      bool changed = false;
      for (const int v : cities) {
        values.clear();
        for (const int e : columns_at[v]) values.push_back(row[e]);
        std::sort(values.begin(), values.end());
        int best = 0;
        auto most = std::count(values.begin(), values.end(), 0);
        for (auto first = values.begin(); first != values.end();) {
          const auto last = std::upper_bound(first, values.end(), *first);
          if (last - first > most) {
            most = last - first;
            best = *first;
          }
          first = last;
        }
        if (best == 0) continue;
        for (const int e : columns_at[v]) row[e] -= best;
        times[v] += best;
        changed = true;
      }
      if (!changed) break;
    }
    std::vector<std::pair<int, int>> found;
    for (const int v : cities)
      if (times[v] != 0) found.emplace_back(v, times[v]);
    return found;
  }

  void append(Cut &&cut, SparseLines &added, const std::vector<std::vector<int>> *columns_at = nullptr) {
    std::vector<int> row(columns());
    for (int e = 0; e < columns(); ++e) row[e] = cut.coefficient(ends_[2 * e], ends_[2 * e + 1]);
    std::vector<std::pair<int, int>> taken;
    if (columns_at != nullptr) taken = make_sparse(row, *columns_at);
    int lower = cut.bound;
    for (const auto &[city, times] : taken) lower -= 2 * times;
    added.bound.push_back(lower);
    added.begin.push_back((int)added.index.size());
    for (int e = 0; e < columns(); ++e)
      if (row[e] != 0) {
        added.index.push_back(e);
        added.value.push_back(row[e]);
      }
    present_.insert(cut.hash);
    cut.idle_rounds = 0;
    const int bound = cut.bound;
    rows_.push_back({std::move(cut), bound, Row::no_limit, next_id_++, std::move(taken)});
  }

  // What separate() finds at the support.
  RoundReport find_cuts(const double *activity, Effort effort, bool is_dear, int threads, const StopToken &token) {
    FoundCuts found(support_, present_, tour_);
    RoundReport report;
    const auto are_few = [&](size_t few) { return found.size() < few * scale_ && !token.stopped(); };
    const auto count = [&](const auto &find) {
      const size_t before = found.size();
      find();
      return (int)(found.size() - before);
    };
    report.subtours = count([&] {
      report.components = find_components(found);
      find_segments(found, tour_, scale_);
    });
    std::vector<std::vector<int>> tight;
    for (int r = 0; r < rows(); ++r)
      if (rows_[r].cut.is_subtour() && activity[r] < 2.0 + 1e-6) tight.push_back(rows_[r].cut.members);
    const bool may_tighten = effort >= Effort::tightening && are_few(30);
    // A kind that found nothing rests for 1, 3, and then 7 rounds, unless this one had no cut at all.
    bool is_last = false;
    const auto seek = [&](Kind kind, bool is_wanted, int &of_kind, const auto &find) {
      Turn &turn = turns_[kind];
      if (!is_wanted || turn.is_done || token.stopped()) return;
      if (!is_last && !turn.is_over()) return;
      const int more = count(find);
      of_kind += more;
      turn.is_done = true;
      turn.took(more > 0, 3);
    };
    // First those that bring most in their time.
    const auto seek_all = [&] {
      seek(handles, effort >= Effort::blossoms && are_few(50), report.blossoms, [&] { Blossoms(found).find(scale_); });
      seek(combs, effort >= Effort::tightening && are_few(50), report.blossoms, [&] {
        Random random(seed_, ++shrunk_, combs_stream);
        ShrunkCombs(found).find(random, token);
      });
      seek(stars, effort >= Effort::tightening && are_few(50), report.blossoms, [&] {
        for (const Rows &rows : rows_of_cities_) Stars(found).find(rows, token);
      });
      seek(dominoes, effort == Effort::dominoes && report.components == 1 && !points_.empty() && are_few(50),
           report.blossoms, [&] { Dominoes(found, points_.data(), seed_).find(token); });
      seek(tightened, may_tighten, report.tightened, [&] { tighten(found, activity); });
      seek(minimum_cuts, report.components == 1 && are_few(10), report.subtours,
           [&] { MinimumCuts(found, tight).find(scale_); });
      // What others find may be much, and raise the bound little.
      seek(wide_cuts, effort == Effort::wide && are_few(60), report.local, [&] { find_wide(found, tight, token); });
      if (is_dear) keep_apart(found.cuts());
      seek(all_blossoms, effort >= (is_dear ? Effort::blossoms : Effort::tightening) && are_few(30), report.blossoms,
           [&] { Blossoms(found).find_by_cuts(); });
      seek(local_cuts, effort >= Effort::local && are_few(60), report.local,
           [&] { find_local(found, tight, threads, token); });
      if (is_dear) keep_apart(found.cuts());
    };
    for (Turn &turn : turns_) turn.is_done = false;
    seek_all();
    is_last = true;
    if (found.size() == 0) seek_all();
    waiting_ = std::move(found.cuts());
    return report;
  }

  // Adds local cuts, of larger and larger pieces until there are enough.
  void find_local(FoundCuts &found, const std::vector<std::vector<int>> &tight, int threads, const StopToken &token) {
    // Large pieces raise the bound that eliminates edges; afterwards they take longer than the nodes that they save.
    constexpr int largest_at_root = 12, largest_in_tree = 10, ways_in_tree = 4;
    const size_t enough = 25 * scale_, enough_of_one = 60 * scale_;
    const int largest_pieces = are_few_ ? largest_in_tree : largest_at_root;
    const int ways = are_few_ ? ways_in_tree : LocalCuts::ways_to_shrink;  // of all, from another one on in each round
    const int tasks = (largest_pieces - pieces_ + 1) * ways;
    const size_t before = found.size();
    ++round_;
    // Several at once know nothing of each other; what one thread would not have begun is not looked at.
    const int together = std::min(threads, tasks);
    int last = 0;  // of those that were looked at
    const std::vector<char> rests = seeds_.resting(n_);
    for (int task = 0; task < tasks && found.size() - before < enough && !token.stopped(); task += together) {
      const int count = std::min(together, tasks - task);
      std::vector<FoundCuts> of_task(count, found.empty());
      std::vector<std::unique_ptr<LocalCuts>> local(count);
      for_each_task(count, count, [&](int k) {
        Random random(seed_, round_, (uint64_t)(task + k));
        const int way = (int)((task + k + round_) % LocalCuts::ways_to_shrink);
        local[k] = std::make_unique<LocalCuts>(of_task[k]);
        local[k]->find(pieces_ + (task + k) / ways, way, tight, enough_of_one, random, token, rests);
      });
      for (int k = 0; k < count && found.size() - before < enough; ++k) {
        found.take(of_task[k]);
        last = task + k;
        seeds_.took(*local[k]);
      }
    }
    pieces_ = std::min(pieces_ + last / ways, largest_pieces - 1);
    seeds_.end_round();
  }

  // Adds local cuts of large pieces.
  void find_wide(FoundCuts &found, const std::vector<std::vector<int>> &tight, const StopToken &token) {
    constexpr int ways[] = {0, 10, 15, 2, 11, 14, 0, 12, 17, 2, 13, 16}, sizes[] = {20, 24, 28, 16, 20};
    constexpr size_t tasks = 4;
    const size_t enough = 10 * scale_, before = found.size();
    const std::vector<char> rests = wide_seeds_.resting(n_);
    for (size_t task = 0; task < tasks && found.size() - before < enough && !token.stopped(); ++task) {
      Random random(seed_, round_, wide_stream + task);
      const int way = ways[(task + tasks * round_) % std::size(ways)];
      const int size = way < LocalCuts::ways_to_shrink ? sizes[3 + round_ % 2] : sizes[round_ % 3];
      LocalCuts local(found);
      local.find(size, way, tight, enough, random, token, rests);
      wide_seeds_.took(local);
    }
    wide_seeds_.end_round();
  }

  void tighten(FoundCuts &found, const double *activity) {
    constexpr double least_violation = 0.03;
    const size_t enough_of_rows = 200 * scale_, enough = 60 * scale_, most = 120 * scale_;
    const size_t before = found.size();
    std::vector<double> violation(pool_.size());
    // A cut that is far from being violated is not looked at for some rounds.
    constexpr double far = -0.5;
    constexpr int rounds_of_far = 3;
    for (size_t i = 0; i < pool_.size(); ++i) {
      Cut &cut = pool_[i];
      violation[i] = far;
      if (cut.sleeps > 0) {
        --cut.sleeps;
        continue;
      }
      violation[i] = cut.bound - value_of(cut, support_);
      if (violation[i] > 0.02) found.add(Cut(cut));
      if (violation[i] <= far) cut.sleeps = rounds_of_far;
    }
    Tightening tightening(support_);
    const auto tighten_one = [&](Cut &given, double violated) {
      if (!given.rest.is_over()) return;
      Cut cut;
      const bool is_of_use = tightening.tighten(given, violated, least_violation, cut);
      given.rest.took(is_of_use, 3);
      if (is_of_use) found.add(std::move(cut), least_violation);
    };
    for (int r = 0; r < rows() && found.size() - before <= enough_of_rows; ++r)
      if (const double violated = rows_[r].cut.bound - activity[r]; violated > -0.15)
        tighten_one(rows_[r].cut, violated);
    if (found.size() - before >= enough) return;
    for (size_t i = pool_.size(); i-- > 0 && found.size() - before <= most;)
      if (violation[i] > far && violation[i] < 0.02 && present_.count(pool_[i].hash) == 0)
        tighten_one(pool_[i], violation[i]);
  }

  const int n_;
  const size_t scale_;  // of what is enough of a round: more for more than a thousand cities
  const std::shared_ptr<const int64_t> lengths_;
  std::vector<int> tour_;
  const uint64_t seed_;
  uint64_t round_ = 0, shrunk_ = 0;
  double perturbation_ = 0.0;
  int64_t next_id_ = 0, told_ = 0;  // ids from here on were not in new_cuts()
  int pieces_ = smallest_pieces;
  std::array<Turn, kinds> turns_{};
  std::vector<double> mean_;       // of the rounds' solutions, the last one by a half; empty before the first
  PieceSeeds seeds_, wide_seeds_;  // of local cuts, and of those of large pieces

  std::vector<int> ends_;
  std::vector<char> lower_, upper_;
  std::unordered_map<uint64_t, int> column_of_;
  std::vector<int> survivors_;
  bool are_few_ = false;

  std::vector<Row> rows_;
  std::unordered_set<uint64_t> present_;
  std::vector<Cut> pool_, waiting_;
  std::vector<Rows> rows_of_cities_;
  std::vector<double> points_;  // [n, 2], if cities have coordinates
  Support support_;
  Pricing pricing_;
};

}  // namespace warptsp::proof
