// Star inequalities of instances with rows: nested handles across teeth that are parts of rows. Host code only.
//
// Fleischmann, "A new class of cutting planes for the symmetric travelling salesman problem" (1988). Where t teeth that
// share no city cross each of h nested handles, a tooth with only two edges that leave it is crossed by a path, and each
// handle is left t times at least, and by parity once more if t is odd. A tooth that 2 + 2 s edges leave may miss
// handles between which it has no city, at s places. So with the most handles of such a place, b, for each tooth,
//   sum over handles x(leaving) + sum over teeth b x(leaving) >= h (t + t mod 2) + 2 sum b.
// A handle ends at one place of each row: cities have levels, which rise along their row, and a handle is all cities
// below one. What leaves handles least is found row by row, by dynamic programming.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "common/stop_token.h"
#include "proof/found_cuts.h"

namespace warptsp::proof {

// Cities with one coordinate in common, in the order of the other one.
struct Rows {
  std::vector<std::vector<int>> rows;
  std::vector<int> row_of;    // of each city, or -1
  std::vector<int> place;     // in its row
  std::vector<double> along;  // from 0 to 1

  // Of coordinates [n, 2], along the axis 0 or 1.
  static Rows of(int n, const double *coordinates, int axis) {
    constexpr size_t fewest_cities = 4;
    std::map<double, std::vector<int>> at;
    for (int v = 0; v < n; ++v) at[coordinates[2 * v + 1 - axis]].push_back(v);
    Rows found;
    found.row_of.assign(n, -1);
    found.place.assign(n, 0);
    double first = std::numeric_limits<double>::max(), last = std::numeric_limits<double>::lowest();
    for (int v = 0; v < n; ++v) {
      first = std::min(first, coordinates[2 * v + axis]);
      last = std::max(last, coordinates[2 * v + axis]);
    }
    for (int v = 0; v < n; ++v)
      found.along.push_back((coordinates[2 * v + axis] - first) / std::max(1e-9, last - first));
    for (auto &[other, row] : at) {
      if (row.size() < fewest_cities) continue;
      std::sort(row.begin(), row.end(), [&](int a, int b) {
        return std::make_pair(coordinates[2 * a + axis], a) < std::make_pair(coordinates[2 * b + axis], b);
      });
      for (size_t k = 0; k < row.size(); ++k) {
        found.row_of[row[k]] = (int)found.rows.size();
        found.place[row[k]] = (int)k;
      }
      found.rows.push_back(std::move(row));
    }
    return found;
  }
};

class Stars {
 public:
  explicit Stars(FoundCuts &found) : found_(found), support_(found.support()) {}

  void find(const Rows &rows, const StopToken &token) {
    rows_ = &rows;
    const int count = (int)rows.rows.size();
    if (count < 3 || count > max_classes / 3) return;
    size_t cities = 0, longest = 0;
    for (const auto &row : rows.rows) {
      cities += row.size();
      longest = std::max(longest, row.size());
    }
    if (longest > longest_row) return;
    levels_ = std::clamp((int)cities / count, 3, most_levels);
    set_levels(token);
    measure();
    choose();
  }

 private:
  static constexpr int most_rise = 2;  // of the level from one city of a row to the next
  static constexpr int most_levels = 120;
  static constexpr size_t longest_row = 400;  // cities: time and memory grow with the square

  struct Tooth {
    double cost = std::numeric_limits<double>::infinity();
    int first = 0, last = 0;  // places in the row
  };
  struct Window {
    double violation;
    int first, last;  // lines; line j is between the levels j - 1 and j
  };

  void set_levels(const StopToken &token) {
    constexpr int sweeps = 5;
    const int n = support_.size();
    level_.resize(n);
    for (int v = 0; v < n; ++v) level_[v] = std::min(levels_ - 1, (int)(rows_->along[v] * levels_));
    for (int sweep = 0; sweep < sweeps && !token.stopped(); ++sweep) {
      bool changed = false;
      for (const std::vector<int> &row : rows_->rows) changed = set_row(row) || changed;
      for (int v = 0; v < n; ++v)
        if (rows_->row_of[v] < 0) changed = set_alone(v) || changed;
      if (!changed) return;
    }
  }

  // The weighted median of its neighbours.
  bool set_alone(int v) {
    std::vector<std::pair<int, double>> around;
    double sum = 0.0;
    for (const Support::Edge &edge : support_.around(v)) {
      around.emplace_back(level_[edge.to], edge.value);
      sum += edge.value;
    }
    std::sort(around.begin(), around.end());
    double below = 0.0;
    for (const auto &[level, value] : around) {
      below += value;
      if (below < 0.5 * sum) continue;
      const bool changed = level_[v] != level;
      level_[v] = level;
      return changed;
    }
    return false;
  }

  bool set_row(const std::vector<int> &row) {
    const int k = (int)row.size(), m = levels_, number = rows_->row_of[row[0]];
    crossing_.assign(k + 1, 0.0);  // before each place
    cost_.assign((size_t)k * m, 0.0);
    for (int i = 0; i < k; ++i)
      for (const Support::Edge &edge : support_.around(row[i])) {
        if (rows_->row_of[edge.to] == number) {
          for (int j = i + 1; j <= rows_->place[edge.to]; ++j) crossing_[j] += edge.value;
          continue;
        }
        for (int l = 0; l < m; ++l) cost_[(size_t)i * m + l] += edge.value * std::abs(l - level_[edge.to]);
      }
    rise_.assign((size_t)k * m, 0);
    for (int i = 1; i < k; ++i)
      for (int l = 0; l < m; ++l) {
        double least = cost_[(size_t)(i - 1) * m + l];
        for (int r = 1; r <= most_rise && r <= l; ++r) {
          const double cost = cost_[(size_t)(i - 1) * m + l - r] + r * crossing_[i];
          if (cost >= least) continue;
          least = cost;
          rise_[(size_t)i * m + l] = (char)r;
        }
        cost_[(size_t)i * m + l] += least;
      }
    // Ends where the row ends, or a row would have one level.
    int level = std::min(m - 1, (int)(rows_->along[row[k - 1]] * m));
    bool changed = false;
    for (int i = k - 1; i >= 0; --i) {
      changed = changed || level_[row[i]] != level;
      level_[row[i]] = level;
      level -= rise_[(size_t)i * m + level];
    }
    return changed;
  }

  // What leaves the handles, and the best teeth from each level on and up to each.
  void measure() {
    const int n = support_.size(), m = levels_;
    leaving_.assign(m + 1, 0.0);
    for (int u = 0; u < n; ++u)
      for (const Support::Edge &edge : support_.around(u))
        if (level_[u] < level_[edge.to]) {
          leaving_[level_[u] + 1] += edge.value;
          leaving_[level_[edge.to] + 1] -= edge.value;
        }
    for (int j = 1; j <= m; ++j) leaving_[j] += leaving_[j - 1];
    teeth_.assign(rows_->rows.size(), {});
    for (size_t i = 0; i < rows_->rows.size(); ++i) teeth_[i] = best_teeth(rows_->rows[i]);
  }

  // [m, m]: of the lines a to b, at a * m + b; from the last city below a or one before it to the first one at b or after.
  std::vector<Tooth> best_teeth(const std::vector<int> &row) const {
    const int k = (int)row.size(), m = levels_, number = rows_->row_of[row[0]];
    // Of the cities p to q: 2 for each city less what joins two of them twice.
    std::vector<Tooth> least((size_t)k * k);
    for (int p = 0; p < k; ++p) {
      double leaving = 0.0;
      for (int q = p; q < k; ++q) {
        leaving += 2.0;
        for (const Support::Edge &edge : support_.around(row[q]))
          if (rows_->row_of[edge.to] == number && rows_->place[edge.to] >= p && rows_->place[edge.to] < q)
            leaving -= 2.0 * edge.value;
        least[(size_t)p * k + q] = {leaving - 2.0, p, q};
      }
    }
    for (int p = 0; p < k; ++p)
      for (int q = k - 1; q >= p; --q) {
        Tooth &here = least[(size_t)p * k + q];
        if (q + 1 < k && least[(size_t)p * k + q + 1].cost < here.cost - 1e-9) here = least[(size_t)p * k + q + 1];
        if (p > 0 && least[(size_t)(p - 1) * k + q].cost < here.cost - 1e-9) here = least[(size_t)(p - 1) * k + q];
      }
    std::vector<Tooth> teeth((size_t)m * m);
    for (int a = 1; a < m; ++a) {
      int p = -1;
      while (p + 1 < k && level_[row[p + 1]] < a) ++p;
      if (p < 0) continue;
      int q = p, widest = 1;
      for (int b = a; b < m; ++b) {
        while (q < k && level_[row[q]] < b) ++q;
        if (q == k) break;
        if (q > p) widest = std::max(widest, std::min(level_[row[q]], b) - std::max(level_[row[q - 1]], a - 1));
        Tooth tooth = least[(size_t)p * k + q];
        tooth.cost *= widest;
        teeth[(size_t)a * m + b] = tooth;
      }
    }
    return teeth;
  }

  // Fills the rows that are teeth of a window, an odd number, and tells what its cut is violated by.
  double value_of_window(int a, int b, std::vector<int> &chosen) const {
    const int m = levels_, lines = b - a + 1;
    chosen.clear();
    double cost = 0.0;
    int worst = -1, next = -1;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double worst_cost = -infinity, next_cost = infinity;  // costs are below 0 where subtours are left
    for (int i = 0; i < (int)teeth_.size(); ++i) {
      const double here = teeth_[i][(size_t)a * m + b].cost;
      if (here < lines) {
        chosen.push_back(i);
        cost += here;
        if (here > worst_cost) {
          worst_cost = here;
          worst = i;
        }
      } else if (here < next_cost) {
        next_cost = here;
        next = i;
      }
    }
    if (chosen.size() % 2 == 0 && !chosen.empty()) {
      if (next >= 0 && next_cost - lines < lines - worst_cost) {
        chosen.insert(std::upper_bound(chosen.begin(), chosen.end(), next), next);
        cost += next_cost;
      } else {
        chosen.erase(std::find(chosen.begin(), chosen.end(), worst));
        cost -= worst_cost;
      }
    }
    const int t = (int)chosen.size();
    if (t < 3) return 0.0;
    double gain = 0.0;
    for (int j = a; j <= b; ++j) gain += std::max(0.0, t + 1 - leaving_[j]);
    return gain - cost;
  }

  void choose() {
    constexpr double least_violation = 0.05;
    constexpr size_t most = 8;
    const int m = levels_;
    std::vector<Window> windows;
    std::vector<int> chosen;
    for (int a = 1; a < m; ++a)
      for (int b = a; b < m; ++b) {
        const double violation = value_of_window(a, b, chosen);
        if (violation > least_violation && (b - a + 2) * ((int)chosen.size() + 1) <= max_classes)
          windows.push_back({violation, a, b});
      }
    std::stable_sort(windows.begin(), windows.end(),
                     [](const Window &a, const Window &b) { return a.violation > b.violation; });
    std::vector<Window> taken;
    for (const Window &window : windows) {
      if (taken.size() >= most) return;
      const auto overlap = [&](const Window &other) {
        const int common = std::min(window.last, other.last) - std::max(window.first, other.first) + 1;
        return 2 * common > std::min(window.last - window.first, other.last - other.first) + 1;
      };
      if (std::any_of(taken.begin(), taken.end(), overlap)) continue;
      value_of_window(window.first, window.last, chosen);
      add(window, chosen);
      taken.push_back(window);
    }
  }

  void add(const Window &window, const std::vector<int> &chosen) {
    const int n = support_.size(), m = levels_, t = (int)chosen.size();
    std::vector<int> lines_below(m, 0);  // of those that are used, at or below each level
    int handles = 0;
    for (int l = 0; l < m; ++l) {
      if (l >= window.first && l <= window.last && t + 1 - leaving_[l] > 1e-6) ++handles;
      lines_below[l] = handles;
    }
    std::vector<int> tooth_of(n, 0);  // from 1 on
    std::vector<int> weight(t + 1, 0);
    for (int i = 0; i < t; ++i) {
      const Tooth &tooth = teeth_[chosen[i]][(size_t)window.first * m + window.last];
      int before = 0;
      for (int k = tooth.first; k <= tooth.last; ++k) {
        const int v = rows_->rows[chosen[i]][k];
        tooth_of[v] = i + 1;
        weight[i + 1] = std::max(weight[i + 1], lines_below[level_[v]] - before);
        before = lines_below[level_[v]];
      }
    }
    std::vector<int> level(n);
    for (int v = 0; v < n; ++v) level[v] = lines_below[level_[v]];
    Cut cut = star_cut(handles, tooth_of, level, weight);
    const double scale = 8.0 / cut.bound;
    if (found_.add(std::move(cut))) found_.cuts().back().violation *= scale;
  }

  FoundCuts &found_;
  const Support &support_;
  const Rows *rows_ = nullptr;
  int levels_ = 0;
  std::vector<int> level_;
  std::vector<double> crossing_, cost_, leaving_;  // leaving_[j]: all cities below the level j
  std::vector<char> rise_;
  std::vector<std::vector<Tooth>> teeth_;
};

}  // namespace warptsp::proof
