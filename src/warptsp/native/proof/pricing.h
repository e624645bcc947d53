// A bound below every tour from any prices of cities and cuts, in whole numbers, over all pairs of cities. Host code
// only.
//
// Weak duality: for any prices pi of the cities and y of the cuts, which are not negative where a cut is a lower limit
// only, a tour x costs at least
//   2 sum pi_v + sum y_c bound_c + sum over pairs of min(0, length_uv - pi_u - pi_v - sum y_c coefficient_c(u, v)).
// Prices are whole numbers of 2^-16 of the unit of length, so that this is exact. A pair's cuts are looked through only
// where length_uv < p_u + p_v, with p_u = pi_u + sum y_c length_c(class of u, 0): lengths of a cut are a metric.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "proof/cut.h"

namespace warptsp::proof {

constexpr int fraction_bits = 16;
constexpr int64_t no_bound = std::numeric_limits<int64_t>::min();

// A cut, and what its value must be in: the upper limit is `no_limit` except where a branch sets it.
struct Row {
  static constexpr int no_limit = std::numeric_limits<int>::max();
  Cut cut;
  int lower, upper;
  int64_t id;                              // of the cut, never used again
  std::vector<std::pair<int, int>> taken;  // cities, and how many times the sum of its edges is taken off the row

  bool is_limited() const { return lower != cut.bound || upper != no_limit; }
};

class Pricing {
 public:
  // `lengths` [n, n]: in units of 2^-16.
  Pricing(const int64_t *lengths, int n) : lengths_(lengths), n_(n) {}

  int64_t length(int u, int v) const { return lengths_[(size_t)u * n_ + v]; }

  // Rounds prices, first those of the cities, then those of the rows. False if they are too large for exact sums.
  bool set_prices(const double *price, const std::vector<Row> &rows) {
    constexpr double most = 0x1p58;
    rows_ = &rows;
    city_price_.resize(n_);
    row_price_.assign(rows.size(), 0);
    double largest = 0.0, sum = 0.0;
    for (int v = 0; v < n_; ++v) {
      const double scaled = std::ldexp(price[v], fraction_bits);
      if (!(std::fabs(scaled) < most)) return false;
      city_price_[v] = std::llround(scaled);
      largest = std::max(largest, std::fabs(scaled));
      sum += 2.0 * std::fabs(scaled);
    }
    for (size_t r = 0; r < rows.size(); ++r) {
      double scaled = std::ldexp(price[n_ + r], fraction_bits);
      if (scaled < 0.0 && rows[r].upper == Row::no_limit) scaled = 0.0;
      const int longest = *std::max_element(rows[r].cut.length.begin(), rows[r].cut.length.end());
      const double weight = std::fabs(scaled) * std::max(longest, std::max(rows[r].lower, 0));
      if (!(weight < most)) return false;
      row_price_[r] = std::llround(scaled);
      largest += weight;
      sum += std::fabs(scaled) * (rows[r].upper == Row::no_limit ? rows[r].lower : rows[r].upper);
    }
    if (!(largest < most && sum < most)) return false;
    gather();
    return true;
  }

  // All of the bound but the sum over pairs.
  int64_t base() const {
    int64_t sum = 0;
    for (const int64_t price : city_price_) sum += 2 * price;
    for (size_t r = 0; r < row_price_.size(); ++r)
      sum += row_price_[r] * (row_price_[r] < 0 ? (*rows_)[r].upper : (*rows_)[r].lower);
    return sum;
  }

  // At most the reduced length, and quick.
  int64_t quick(int u, int v) const { return length(u, v) - potential_[u] - potential_[v]; }

  int64_t reduced(int u, int v) const {
    int64_t reduced = length(u, v) - city_price_[u] - city_price_[v];
    size_t i = begin_[u], j = begin_[v];
    const size_t last_i = begin_[u + 1], last_j = begin_[v + 1];
    while (i < last_i || j < last_j) {
      const int a = i < last_i ? entries_[i].row : std::numeric_limits<int>::max();
      const int b = j < last_j ? entries_[j].row : std::numeric_limits<int>::max();
      const int row = a < b ? a : b;
      const int class_u = a == row ? entries_[i++].number : 0, class_v = b == row ? entries_[j++].number : 0;
      reduced -= row_price_[row] * (*rows_)[row].cut.between(class_u, class_v);
    }
    return reduced;
  }

  const std::vector<int64_t> &city_prices() const { return city_price_; }
  const std::vector<int64_t> &row_prices() const { return row_price_; }

 private:
  struct Entry {
    int row, number;  // of the class
  };

  // The priced cuts of each city, where it is not in class 0, and the potentials.
  void gather() {
    potential_ = city_price_;
    begin_.assign((size_t)n_ + 1, 0);
    for (size_t r = 0; r < row_price_.size(); ++r)
      if (row_price_[r] != 0)
        for (const int v : (*rows_)[r].cut.members) ++begin_[v + 1];
    for (int v = 0; v < n_; ++v) begin_[v + 1] += begin_[v];
    entries_.resize(begin_[n_]);
    std::vector<size_t> next(begin_.begin(), begin_.end() - 1);
    for (size_t r = 0; r < row_price_.size(); ++r) {
      if (row_price_[r] == 0) continue;
      const Cut &cut = (*rows_)[r].cut;
      for (const int v : cut.members) {
        entries_[next[v]++] = {(int)r, cut.class_of[v]};
        if (row_price_[r] > 0) potential_[v] += row_price_[r] * cut.between(cut.class_of[v], 0);
      }
    }
  }

  const int64_t *lengths_;
  int n_;
  const std::vector<Row> *rows_ = nullptr;
  std::vector<int64_t> city_price_, row_price_, potential_;
  std::vector<size_t> begin_;
  std::vector<Entry> entries_;
};

}  // namespace warptsp::proof
