// Whether a few edges leave a tour that is short enough: dynamic programming along a frontier that sweeps over the cities,
// bounded by the prices of a linear programme. Host code only.
//
// Edges are decided one after the other. Two choices that leave the cities of the frontier with the same degrees, and the
// same pairs of them joined by paths, can be completed in the same ways, so that only the shorter one is kept (M. Held and
// R. M. Karp, "A dynamic programming approach to sequencing problems", 1962; for edges of sparse graphs W. Cook and P.
// Seymour, "Tour merging via branch-decomposition", 2003). Prices tell what a tour pays: by weak duality its length is
//   bound + what it pays for its edges and for those that it leaves out + sum over rows of price * (count - lower),
// and no part is negative. A choice that has paid more than the slack between bound and target, or would have when the
// cities of the frontier have their edges, goes; and with it all that it stood for, as their completions are no shorter.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "common/disjoint_sets.h"
#include "common/random.h"
#include "common/stop_token.h"

namespace warptsp::proof {

struct SweptEdge {
  int u, v;
  int64_t length, taken, left;  // what a tour pays with it, and without
  bool is_forced;
};

struct SweptRow {
  static constexpr int no_limit = std::numeric_limits<int>::max();
  int64_t price;
  int lower, upper;
  bool is_even;                            // every closed walk counts an even number
  bool is_limited;                         // by a branch: not every tour is within the limits
  std::vector<std::pair<int, int>> edges;  // and their coefficients
};

struct Swept {
  enum Outcome { proved, found, gave_up };
  Outcome outcome = gave_up;
  std::vector<int> order;  // of the cities, as the sweep left them
  std::vector<int> tour;   // a shortest one, if there is one of the target or shorter
};

class Sweep {
 public:
  static constexpr int most_slots = 62;
  static constexpr size_t most_of_layer = (size_t)1 << 20, most_bytes = (size_t)1 << 26;
  static constexpr int64_t most_slack = (int64_t)1 << 54;  // sums do not overflow

  // All tours of n cities that are not longer than `target` consist of these edges, and pay at most `slack`.
  Sweep(int n, std::vector<SweptEdge> edges, std::vector<SweptRow> rows, int64_t slack, int64_t target, int64_t step)
      : n_(n), all_(std::move(edges)), rows_(std::move(rows)), slack_(slack), target_(target), step_(step) {}

  // `order` [n]: of the cities, or none, for one of its own.
  Swept run(const std::vector<int> &order, int64_t most_states, const StopToken &token) {
    Swept swept;
    path_of_.assign(n_, {});
    if (slack_ >= most_slack) return swept;
    for (SweptRow &row : rows_) row.price = std::min(row.price, slack_ + 1);
    if (!reduce() || slack_ < 0) {
      swept.outcome = Swept::proved;
      swept.order = order_of_cities({});
      return swept;
    }
    if (misses_a_limit()) return swept;
    contract();
    if (vertices_.size() < 3 || token.stopped()) return swept;
    std::vector<int> of_vertices = order.empty() ? best_order(token) : std::vector<int>();
    std::copy_if(order.begin(), order.end(), std::back_inserter(of_vertices),
                 [&](int v) { return !incident_[v].empty(); });
    swept.order = order_of_cities(of_vertices);
    if (!lay_out(of_vertices)) return swept;
    if (order.empty() && !will_end(most_states, token)) return swept;
    if (!sweep(most_states, token)) return swept;
    swept.outcome = best_.empty() ? Swept::proved : Swept::found;
    swept.tour = std::move(best_);
    return swept;
  }

 private:
  static constexpr uint8_t full = 0xff, nothing = 0xfe;  // a city with both edges; a slot without a city
  static constexpr int widest_row = 250;

  struct Edge : SweptEdge {
    int origin;                             // in all_, -1 for a path of forced edges
    std::vector<std::pair<int, int>> rows;  // and their coefficients
  };

  struct Use {
    int row, slot, coefficient;
    bool is_first;
    int64_t remaining;  // of the row, after this edge
  };

  struct Step {
    int edge, slot_u, slot_v, left_u, left_v;  // edges that are still to come to its ends
    bool new_u, new_v;
    std::vector<Use> uses;
  };

  // What is to come of a city of the frontier: its edges, and rows to which they pay as soon as those need no more.
  struct Due {
    int slot, need;
    int64_t price;
  };
  struct Coming {
    int other;            // slot of its other end, -1 where that is not in the frontier
    int64_t taken, left;  // halves where it is
    size_t end_of_dues;
  };
  struct Ahead {
    int slot;
    size_t end_of_edges;
  };

  struct Layer {
    std::vector<uint8_t> bytes;  // for each state: the mate of each slot, counts of limited rows; counts of other rows
    std::vector<int64_t> length, paid;

    size_t size() const { return length.size(); }
  };

  // Rows ---------------------------------------------------------------------------------------------------------

  bool rounds_up(const SweptRow &row, int need) const { return row.is_even && row.lower % 2 == 0 && need >= 1; }

  // What the edges so far pay to a row.
  int64_t pays(int row, int count) const {
    const SweptRow &here = rows_[row];
    const int need = need_[row];
    if (rounds_up(here, need)) count += (count ^ need) & 1;
    return count > need ? here.price * (count - need) : 0;
  }

  // Larger counts pay as this one does.
  int saturated(int row, int count) const {
    const int need = need_[row];
    if (count <= need || rows_[row].upper != SweptRow::no_limit) return count;
    return need + (rounds_up(rows_[row], need) ? (count - need) & 1 : 0);
  }

  // Fewer edges ------------------------------------------------------------------------------------------------------

  // Forces the edges of cities that have two, and drops those that would be too many or close a path. False if no tour
  // is left.
  bool reduce() {
    alive_.assign(all_.size(), 1);
    for (bool changed = true; changed;) {
      changed = false;
      std::vector<int> degree(n_, 0), forced(n_, 0), root(n_), size(n_, 1);
      std::iota(root.begin(), root.end(), 0);
      int longest = 1;
      for (size_t e = 0; e < all_.size(); ++e) {
        if (alive_[e] == 0) continue;
        const SweptEdge &edge = all_[e];
        for (const int v : {edge.u, edge.v}) {
          ++degree[v];
          if (edge.is_forced) ++forced[v];
        }
        if (!edge.is_forced) continue;
        const int a = root_of(root, edge.u), b = root_of(root, edge.v);
        if (a == b && size[a] < n_) return false;
        if (a == b) continue;
        root[a] = b;
        size[b] += size[a];
        longest = std::max(longest, size[b]);
      }
      for (int v = 0; v < n_; ++v)
        if (degree[v] < 2 || forced[v] > 2) return false;
      for (size_t e = 0; e < all_.size(); ++e) {
        SweptEdge &edge = all_[e];
        if (alive_[e] == 0 || edge.is_forced) continue;
        if (forced[edge.u] == 2 || forced[edge.v] == 2 ||
            (longest < n_ && root_of(root, edge.u) == root_of(root, edge.v))) {
          alive_[e] = 0;
          slack_ -= edge.left;
          if (slack_ < 0) return false;
          changed = true;
        } else if (degree[edge.u] == 2 || degree[edge.v] == 2) {
          edge.is_forced = true;
          changed = true;
        }
      }
    }
    counted_.assign(rows_.size(), 0);
    need_.assign(rows_.size(), 0);
    for (size_t e = 0; e < all_.size(); ++e)
      if (alive_[e] != 0 && all_[e].is_forced && slack_ >= 0) slack_ -= all_[e].taken;
    if (slack_ < 0) return false;
    for (size_t r = 0; r < rows_.size(); ++r) {
      SweptRow &row = rows_[r];
      for (const auto &[e, coefficient] : row.edges)
        if (alive_[e] != 0 && all_[e].is_forced) counted_[r] += coefficient;
      need_[r] = std::max(0, row.lower - counted_[r]);
      if (counted_[r] > row.upper) return false;
      if (need_[r] == 0 && row.upper == SweptRow::no_limit) row.is_limited = false;
      if (counted_[r] <= row.lower || row.price <= 0) continue;
      if (row.price > slack_ / (counted_[r] - row.lower)) return false;
      slack_ -= row.price * (counted_[r] - row.lower);
    }
    return true;
  }

  // Whether counts of a row fit into a byte: one that does not is not looked at.
  bool fits(int row) const {
    return need_[row] <= widest_row &&
           (rows_[row].upper == SweptRow::no_limit || rows_[row].upper - counted_[row] <= widest_row);
  }

  // Whether limits of a branch are not looked at. The shorter of two choices might be beyond them, pay to that row less than
  // nothing, and go for what it pays to others.
  bool misses_a_limit() const {
    for (size_t r = 0; r < rows_.size(); ++r)
      if (rows_[r].is_limited && !fits((int)r)) return true;
    return false;
  }

  // Makes an edge of each path of forced ones.
  void contract() {
    std::vector<std::vector<int>> forced(n_);
    for (size_t e = 0; e < all_.size(); ++e)
      if (alive_[e] != 0 && all_[e].is_forced)
        for (const int v : {all_[e].u, all_[e].v}) forced[v].push_back((int)e);
    std::vector<char> seen(n_, 0);
    for (int start = 0; start < n_; ++start) {
      if (forced[start].size() != 1 || seen[start] != 0) continue;
      Edge path{{start, start, 0, 0, 0, true}, -1, {}};
      std::vector<int> inner;
      int before = -1, city = start;
      for (;;) {
        seen[city] = 1;
        int next = -1;
        for (const int e : forced[city])
          if (e != before) next = e;
        if (next < 0) break;
        if (city != start) inner.push_back(city);
        path.length += all_[next].length;
        before = next;
        city = all_[next].u ^ all_[next].v ^ city;
      }
      path.v = city;
      path_of_[start] = inner;
      path_of_[city].assign(inner.rbegin(), inner.rend());
      edges_.push_back(std::move(path));
    }
    std::vector<int> number(all_.size(), -1);
    for (size_t e = 0; e < all_.size(); ++e) {
      if (alive_[e] == 0 || all_[e].is_forced) continue;
      number[e] = (int)edges_.size();
      edges_.push_back({all_[e], (int)e, {}});
    }
    for (size_t r = 0; r < rows_.size(); ++r) {
      if (!fits((int)r)) continue;
      for (const auto &[e, coefficient] : rows_[r].edges)
        if (number[e] >= 0) edges_[number[e]].rows.emplace_back((int)r, coefficient);
    }
    incident_.assign(n_, {});
    for (size_t e = 0; e < edges_.size(); ++e)
      for (const int v : {edges_[e].u, edges_[e].v}) incident_[v].push_back((int)e);
    for (int v = 0; v < n_; ++v)
      if (!incident_[v].empty()) vertices_.push_back(v);
  }

  int other_end(int e, int v) const { return edges_[e].u ^ edges_[e].v ^ v; }

  // Orders ---------------------------------------------------------------------------------------------------------

  std::vector<double> steps_from(int start) const {
    std::vector<double> steps(n_, 0.0);
    std::vector<char> seen(n_, 0);
    std::vector<int> queue{start};
    seen[start] = 1;
    for (size_t i = 0; i < queue.size(); ++i)
      for (const int e : incident_[queue[i]])
        if (const int v = other_end(e, queue[i]); seen[v] == 0) {
          seen[v] = 1;
          steps[v] = steps[queue[i]] + 1.0;
          queue.push_back(v);
        }
    return steps;
  }

  // From `start` on, always the city of the frontier that brings fewest new ones, of those that lie far back.
  std::vector<int> along(const std::vector<double> &position, int start, double weight) const {
    std::vector<char> met(n_, 0), done(n_, 0);
    std::vector<int> order, frontier{start};
    met[start] = 1;
    while (order.size() < vertices_.size()) {
      if (frontier.empty()) {
        int next = -1;
        for (const int v : vertices_)
          if (done[v] == 0 && (next < 0 || position[v] < position[next])) next = v;
        met[next] = 1;
        frontier.push_back(next);
      }
      double least = std::numeric_limits<double>::infinity();
      size_t chosen = 0;
      for (size_t i = 0; i < frontier.size(); ++i) {
        double score = weight * position[frontier[i]];
        for (const int e : incident_[frontier[i]])
          if (met[other_end(e, frontier[i])] == 0) score += 1.0;
        if (score < least) {
          least = score;
          chosen = i;
        }
      }
      const int v = frontier[chosen];
      frontier.erase(frontier.begin() + (std::ptrdiff_t)chosen);
      done[v] = 1;
      order.push_back(v);
      for (const int e : incident_[v])
        if (const int w = other_end(e, v); met[w] == 0) {
          met[w] = 1;
          frontier.push_back(w);
        }
    }
    return order;
  }

  // Doubles with each city of the frontier.
  double width(const std::vector<int> &order) const {
    std::vector<char> met(n_, 0);
    int frontier = 0;
    double sum = 0.0;
    for (const int v : order) {
      const auto meet = [&](int w) {
        if (met[w] == 0) ++frontier;
        met[w] = 1;
      };
      meet(v);
      for (const int e : incident_[v]) meet(other_end(e, v));
      sum += std::ldexp(1.0, --frontier);
    }
    return sum;
  }

  std::vector<int> best_order(const StopToken &token) const {
    constexpr int starts = 8;
    constexpr size_t most_cities = 200'000;  // of all orders that are tried: a few tenths of a second
    size_t tried = 0;
    std::vector<double> farthest(n_, std::numeric_limits<double>::infinity());
    std::vector<std::vector<double>> steps;
    std::vector<int> start;
    const auto last_of = [&](const std::vector<double> &of) {
      return *std::max_element(vertices_.begin(), vertices_.end(), [&](int a, int b) { return of[a] < of[b]; });
    };
    int next = last_of(steps_from(vertices_[0]));
    for (int k = 0; k < starts; ++k) {
      start.push_back(next);
      steps.push_back(steps_from(next));
      for (const int v : vertices_) farthest[v] = std::min(farthest[v], steps.back()[v]);
      next = last_of(farthest);
    }
    double narrowest = std::numeric_limits<double>::infinity();
    std::vector<int> best;
    for (int i = 0; i < starts; ++i)
      for (int j = 0; j < starts; ++j) {
        std::vector<double> position = steps[i];
        if (j != i)
          for (const int v : vertices_) position[v] = (position[v] - steps[j][v]) / 2.0;
        for (const double weight : {0.3, 1.0, 3.0}) {
          tried += vertices_.size();
          if (!best.empty() && (tried > most_cities || token.stopped())) return best;
          std::vector<int> order = along(position, start[i], weight);
          if (const double sum = width(order); sum < narrowest) {
            narrowest = sum;
            best = std::move(order);
          }
        }
      }
    return best;
  }

  // The inner cities of a path follow the end that is left first.
  std::vector<int> order_of_cities(const std::vector<int> &of_vertices) const {
    std::vector<int> order;
    std::vector<char> there(n_, 0);
    const auto add = [&](int v) {
      if (there[v] == 0) order.push_back(v);
      there[v] = 1;
    };
    for (const int v : of_vertices) {
      add(v);
      for (const int inner : path_of_[v]) add(inner);
    }
    for (int v = 0; v < n_; ++v) add(v);
    return order;
  }

  // The sweep --------------------------------------------------------------------------------------------------------

  // Gives each city of the frontier a slot, and each row that has begun. False if there are too many.
  bool lay_out(const std::vector<int> &order) {
    const int m = (int)edges_.size();
    std::vector<int> position(n_, 0), sequence(m);
    for (size_t i = 0; i < order.size(); ++i) position[order[i]] = (int)i;
    std::iota(sequence.begin(), sequence.end(), 0);
    const auto when = [&](int e) { return std::minmax({position[edges_[e].u], position[edges_[e].v]}); };
    std::sort(sequence.begin(), sequence.end(), [&](int a, int b) { return when(a) < when(b); });
    first_.assign(n_, -1);
    last_.assign(n_, -1);
    when_.assign(m, 0);
    first_of_row_.assign(rows_.size(), -1);
    std::vector<int> last_of_row(rows_.size(), -1);
    for (int t = 0; t < m; ++t) {
      when_[sequence[t]] = t;
      const Edge &edge = edges_[sequence[t]];
      for (const int v : {edge.u, edge.v}) {
        if (first_[v] < 0) first_[v] = last_met_ = t;
        last_[v] = t;
      }
      for (const auto &[r, coefficient] : edge.rows) {
        if (first_of_row_[r] < 0) first_of_row_[r] = t;
        last_of_row[r] = t;
      }
    }
    Slots cities, limited, others;
    slot_of_.assign(n_, -1);
    slot_of_row_.assign(rows_.size(), -1);
    for (int t = 0; t < m; ++t) {
      const Edge &edge = edges_[sequence[t]];
      for (const int v : {edge.u, edge.v})
        if (first_[v] == t) slot_of_[v] = cities.take();
      for (const auto &[r, coefficient] : edge.rows)
        if (first_of_row_[r] == t) slot_of_row_[r] = (rows_[r].is_limited ? limited : others).take();
      for (const int v : {edge.u, edge.v})
        if (last_[v] == t) cities.give_back(slot_of_[v]);
      for (const auto &[r, coefficient] : edge.rows)
        if (last_of_row[r] == t) (rows_[r].is_limited ? limited : others).give_back(slot_of_row_[r]);
    }
    slots_ = cities.count;
    key_ = (size_t)(cities.count + limited.count + 7) / 8 * 8;
    width_ = (key_ + (size_t)others.count + 7) / 8 * 8;
    for (size_t r = 0; r < rows_.size(); ++r)
      if (slot_of_row_[r] >= 0) slot_of_row_[r] += rows_[r].is_limited ? slots_ : (int)key_;
    steps_ = steps_along(sequence);
    return cities.count <= most_slots;
  }

  struct Slots {
    std::vector<int> free;
    int count = 0;

    int take() {
      if (free.empty()) return count++;
      const int slot = free.back();
      free.pop_back();
      return slot;
    }
    void give_back(int slot) { free.push_back(slot); }
  };

  std::vector<Step> steps_along(const std::vector<int> &sequence) const {
    std::vector<int> left(n_, 0), met(n_, 0);
    std::vector<int64_t> remaining(rows_.size(), 0);
    std::vector<char> begun(rows_.size(), 0);
    for (const Edge &edge : edges_) {
      ++left[edge.u];
      ++left[edge.v];
      for (const auto &[r, coefficient] : edge.rows) remaining[r] += coefficient;
    }
    std::vector<Step> steps;
    for (const int e : sequence) {
      const Edge &edge = edges_[e];
      Step step{
          e, slot_of_[edge.u], slot_of_[edge.v], --left[edge.u], --left[edge.v], met[edge.u]++ == 0, met[edge.v]++ == 0,
          {}};
      for (const auto &[r, coefficient] : edge.rows) {
        remaining[r] -= coefficient;
        step.uses.push_back({r, slot_of_row_[r], coefficient, begun[r] == 0, remaining[r]});
        begun[r] = 1;
      }
      steps.push_back(std::move(step));
    }
    return steps;
  }

  uint64_t hash_of(const uint8_t *key) const {
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < key_; i += 8) {
      uint64_t word;
      std::memcpy(&word, key + i, 8);
      hash = mix64(hash ^ word);
    }
    return hash;
  }

  // Decides the edge of a step in all states. False where that is too much.
  bool advance(const Step &step, const Layer &from, Layer &to, const StopToken &token) {
    const Edge &edge = edges_[step.edge];
    std::vector<uint32_t> parents;
    to.bytes.clear();
    to.length.clear();
    to.paid.clear();
    size_t room = 64;
    while (room < 4 * from.size()) room *= 2;  // twice what there can be
    table_.assign(room, -1);
    std::vector<uint8_t> base(width_), now(width_);
    const auto put = [&](int64_t length, int64_t paid, uint32_t parent) {
      size_t place = hash_of(now.data()) & (room - 1);
      for (; table_[place] >= 0; place = (place + 1) & (room - 1)) {
        const size_t other = (size_t)table_[place];
        if (std::memcmp(to.bytes.data() + other * width_, now.data(), key_) != 0) continue;
        if (length < to.length[other]) {
          to.length[other] = length;
          to.paid[other] = paid;
          parents[other] = parent;
          std::memcpy(to.bytes.data() + other * width_, now.data(), width_);
        }
        return;
      }
      table_[place] = (int)to.size();
      to.bytes.insert(to.bytes.end(), now.begin(), now.end());
      to.length.push_back(length);
      to.paid.push_back(paid);
      parents.push_back(parent);
    };
    for (size_t k = 0; k < from.size(); ++k) {
      if (k % 4096 == 0 && token.stopped()) return false;
      std::memcpy(base.data(), from.bytes.data() + k * width_, width_);
      if (step.new_u) base[step.slot_u] = (uint8_t)step.slot_u;
      if (step.new_v) base[step.slot_v] = (uint8_t)step.slot_v;
      for (const Use &use : step.uses)
        if (use.is_first) base[use.slot] = 0;
      for (const bool is_taken : {false, true}) {
        if (edge.is_forced && !is_taken) continue;
        int64_t paid = from.paid[k] + (edge.is_forced ? 0 : is_taken ? edge.taken : edge.left);
        if (paid > slack_) continue;
        now = base;
        if (is_taken) {
          const uint8_t u = now[step.slot_u], v = now[step.slot_v];
          if (u == full || v == full) continue;
          if (u == step.slot_v) {
            close(step, k, from.length[k] + edge.length, now);
            continue;
          }
          if (u != step.slot_u) now[step.slot_u] = full;
          if (v != step.slot_v) now[step.slot_v] = full;
          now[u] = v;
          now[v] = u;
        }
        if (!count(step, is_taken, now, paid) || paid > slack_) continue;
        if (wants(now, step.slot_u) > step.left_u || wants(now, step.slot_v) > step.left_v) continue;
        if (step.left_u == 0) now[step.slot_u] = nothing;
        if (step.left_v == 0) now[step.slot_v] = nothing;
        if (will_pay(now, slack_ - paid) > slack_ - paid) continue;
        put(from.length[k] + (is_taken ? edge.length : 0), paid, (uint32_t)(2 * k + is_taken));
      }
      if (to.size() > most_of_layer || to.size() * width_ > most_bytes) return false;
    }
    states_ += (int64_t)to.size();
    parents_.push_back(std::move(parents));
    return states_ <= most_states_;
  }

  static int wants(const std::vector<uint8_t> &state, int slot) {
    return state[slot] == full ? 0 : state[slot] == slot ? 2 : 1;
  }

  // Counts an edge in its rows; false where no tour can come of that.
  bool count(const Step &step, bool is_taken, std::vector<uint8_t> &now, int64_t &paid) const {
    for (const Use &use : step.uses) {
      const SweptRow &row = rows_[use.row];
      if (is_taken) {
        const int before = now[use.slot], after = before + use.coefficient;
        if (row.upper != SweptRow::no_limit) {
          if (counted_[use.row] + after > row.upper) return false;
        } else if (row.price > 0) {
          paid += pays(use.row, after) - pays(use.row, before);
        }
        now[use.slot] = (uint8_t)saturated(use.row, after);
      }
      if (now[use.slot] + use.remaining < need_[use.row]) return false;
      if (use.remaining == 0) now[use.slot] = nothing;
    }
    return true;
  }

  // Gathers what is to come after a step, where a city leaves the frontier: looking at all steps, there are a quarter fewer
  // states, in twice the time; of rows what is a fourteenth of the slack, or more: half of them (EXP-540).
  void look_ahead(int t) {
    constexpr int64_t least_share = 14;
    ahead_.clear();
    coming_.clear();
    dues_.clear();
    are_all_met_ = t >= last_met_;
    if (steps_[t].left_u > 0 && steps_[t].left_v > 0) return;
    for (const int v : vertices_) {
      if (first_[v] > t || last_[v] <= t) continue;
      for (const int e : incident_[v]) {
        if (when_[e] <= t) continue;
        const Edge &edge = edges_[e];
        const int w = other_end(e, v);
        const bool is_met = first_[w] <= t;
        Coming coming{is_met ? slot_of_[w] : -1, edge.taken >> is_met, edge.left >> is_met, 0};
        if (edge.is_forced) coming.left = slack_ + 1;
        for (const auto &[r, coefficient] : edge.rows) {
          const SweptRow &row = rows_[r];
          const int64_t price = std::min(row.price * coefficient, slack_ + 1);
          if (row.upper != SweptRow::no_limit || price <= slack_ / least_share) continue;
          if (first_of_row_[r] <= t)
            dues_.push_back({slot_of_row_[r], need_[r], price >> is_met});
          else if (need_[r] == 0)
            coming.taken += price >> is_met;
        }
        coming.end_of_dues = dues_.size();
        coming_.push_back(coming);
      }
      ahead_.push_back({slot_of_[v], coming_.size()});
    }
  }

  // What the rest of a tour pays at least, or more than `most`: for each city of the frontier, what the cheapest edges cost
  // that it wants, and leaving out the others; where both ends are in the frontier, each has half. A row that needs no
  // more is paid for each edge; that an odd count of an even row has paid for the next one, too, is not.
  int64_t will_pay(const std::vector<uint8_t> &state, int64_t most) const {
    int64_t sum = 0;
    size_t e = 0, d = 0;
    for (const Ahead &city : ahead_) {
      const int wanted = wants(state, city.slot);
      int64_t least = slack_ + 1, second = slack_ + 1;
      for (; e < city.end_of_edges; d = coming_[e++].end_of_dues) {
        const Coming &edge = coming_[e];
        sum += edge.left;
        if (wanted == 0 || (edge.other >= 0 && state[edge.other] == full)) continue;
        if (state[city.slot] == edge.other && !are_all_met_) continue;  // closes a path
        int64_t more = edge.taken - edge.left;
        for (; d < edge.end_of_dues; ++d) more += state[dues_[d].slot] == dues_[d].need ? dues_[d].price : 0;
        second = std::min(second, std::max(least, more));
        least = std::min(least, more);
      }
      sum += (wanted >= 1 ? least : 0) + (wanted == 2 ? second : 0);
      if (sum > most) break;
    }
    return sum;
  }

  // Whether a sweep is likely to end: states of those with a quarter and half of the slack tell those of all of it. Where
  // twice the slack has g times the states, twice that has g^1.4 times as many (1.3 to 1.8, EXP-541).
  bool will_end(int64_t most_states, const StopToken &token) {
    constexpr double more = 1.4;
    if (!tries(4, most_states / 16, token)) return false;
    const double quarter = (double)std::max<int64_t>(states_, 1);
    if (!tries(2, most_states / 4, token)) return false;
    const double half = (double)states_;
    return half * std::pow(half / quarter, more) <= (double)most_states;
  }

  // Whether a sweep with a part of the slack ends. A tour that is found is one.
  bool tries(int share, int64_t most_states, const StopToken &token) {
    const int64_t slack = slack_, target = target_;
    slack_ /= share;
    const bool has_ended = sweep(most_states, token);
    slack_ = slack - (target - target_);
    return has_ended;
  }

  // False if it was too much.
  bool sweep(int64_t most_states, const StopToken &token) {
    most_states_ = most_states;
    states_ = 0;
    parents_.clear();
    Layer layer, next;
    layer.bytes.assign(width_, nothing);
    layer.length = layer.paid = {0};
    for (size_t t = 0; t < steps_.size() && layer.size() > 0; ++t) {
      look_ahead((int)t);
      if (!advance(steps_[t], layer, next, token)) return false;
      std::swap(layer, next);
    }
    return true;
  }

  // The edges that were taken on the way to a state of the last layer.
  std::vector<int> trace(uint32_t state) const {
    std::vector<int> edges;
    for (size_t t = parents_.size(); t-- > 0;) {
      const uint32_t parent = parents_[t][state];
      if (parent % 2 == 1) edges.push_back(steps_[t].edge);
      state = parent / 2;
    }
    return edges;
  }

  // An edge that closes a path is the last one of a tour, or of none.
  void close(const Step &step, size_t state, int64_t length, const std::vector<uint8_t> &now) {
    if (length > target_) return;
    for (int i = 0; i < slots_; ++i)
      if (now[i] != nothing && now[i] != full && i != step.slot_u && i != step.slot_v) return;
    std::vector<int> edges = trace((uint32_t)state);
    edges.push_back(step.edge);
    take(edges);
  }

  // Takes a tour, if these edges and those that are forced are one, that is short enough; no other is sought that is not
  // shorter.
  void take(const std::vector<int> &edges) {
    std::vector<std::array<int, 2>> beside(n_, {-1, -1});
    int64_t length = 0;
    const auto add = [&](const SweptEdge &edge) {
      length += edge.length;
      for (const int v : {edge.u, edge.v}) {
        if (beside[v][1] >= 0) return false;
        beside[v][beside[v][0] < 0 ? 0 : 1] = edge.u ^ edge.v ^ v;
      }
      return true;
    };
    for (const int e : edges)
      if (edges_[e].origin >= 0 && !add(all_[edges_[e].origin])) return;
    for (size_t e = 0; e < all_.size(); ++e)
      if (alive_[e] != 0 && all_[e].is_forced && !add(all_[e])) return;
    if (length > target_) return;
    std::vector<int> tour;
    for (int before = -1, city = 0; tour.empty() || city != 0;) {
      if (beside[city][1] < 0) return;
      tour.push_back(city);
      const int next = beside[city][0] != before ? beside[city][0] : beside[city][1];
      before = city;
      city = next;
    }
    if ((int)tour.size() < n_) return;
    best_ = std::move(tour);
    slack_ -= target_ - (length - step_);
    target_ = length - step_;
  }

  int n_;
  std::vector<SweptEdge> all_;
  std::vector<SweptRow> rows_;
  int64_t slack_, target_, step_, most_states_ = 0, states_ = 0;
  std::vector<char> alive_;
  std::vector<int> counted_, need_;  // of each row: coefficients of forced edges, and what others are still to bring

  std::vector<Edge> edges_;  // where paths of forced ones are one
  std::vector<std::vector<int>> path_of_, incident_;
  std::vector<int> vertices_;  // cities that have such edges

  // At which step a city is met first, and last, an edge is decided, a row begins.
  std::vector<int> first_, last_, when_, first_of_row_;
  std::vector<int> slot_of_, slot_of_row_;
  int last_met_ = 0, slots_ = 0;
  size_t key_ = 0, width_ = 0;  // bytes of a state that make it the same as another, and of all
  std::vector<Step> steps_;
  std::vector<Ahead> ahead_;
  std::vector<Coming> coming_;
  std::vector<Due> dues_;
  bool are_all_met_ = false;
  std::vector<std::vector<uint32_t>>
      parents_;  // of states: twice the number of the one before, 1 more if it took the edge
  std::vector<int> table_;
  std::vector<int> best_;
};

}  // namespace warptsp::proof
