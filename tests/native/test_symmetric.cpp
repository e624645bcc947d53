#include "papers/symmetric/symmetric.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "check.h"
#include "papers/symmetric/triples.h"

using namespace warptsp;
using namespace warptsp::symmetric;

TEST(logarithm_of_a_random_number) {
  double worst = 0;
  for (unsigned u = 1; u <= 1u << 24; u += u < 10000 ? 1 : 977) {
    const double error = std::abs((double)minus_log(u) + std::log(u / 16777216.0));
    if (error > worst) worst = error;
  }
  CHECK(worst < 2e-6);
  CHECK(minus_log(1u << 24) > 0.0f);
  CHECK(minus_log(1) < largest_draw);
}

TEST(losses_are_accepted_as_often_as_metropolis_says) {
  SymmetricInstance instance{};
  instance.tolerance = 0.5;
  for (const double temperature : {4.0, 10.0, 20.0}) {
    const Acceptance acceptance{temperature, 1, 0};
    int accepted = 0;
    for (int step = 0; step < 100000; step++)
      accepted += 10.0 < acceptance.threshold(instance, acceptance.draw(acceptance.key(step), 1));
    CHECK(std::abs(accepted / 1e5 - std::exp(-10 / temperature)) < 0.006);
  }
  const Acceptance cold{0.0, 1, 0};
  CHECK(cold.threshold(instance, cold.draw(cold.key(0), 1)) == -0.5);
}

TEST(axes_hold_every_pair_of_edges_once_a_turn) {
  for (int n = 5; n < 40; n += 2) {
    SymmetricInstance instance{};
    instance.size = n;
    std::vector<int> seen(n * n);
    for (int step = 0; step < axes_of(instance); step++) {
      const Axis axis = axis_at(instance, step);
      for (int k = 1; k <= axis.rungs; k++) seen[left_of(axis, k + 1, n) * n + right_of(axis, k, n)]++;
    }
    for (int a = 0; a < n; a++)
      for (int b = 0; b < a; b++) {
        const bool neighbours = a - b == 1 || a - b == n - 1;
        CHECK(seen[a * n + b] + seen[b * n + a] == (neighbours ? 0 : 1));
      }
  }
}

TEST(axes_of_the_hardware_hold_every_pair_of_edges) {
  for (int n = 5; n < 40; n++)
    for (int elements = 1; elements <= n / 4; elements++) {
      SymmetricInstance instance{};
      instance.size = n;
      instance.elements = elements;
      std::vector<int> seen(n * n), before(n * n);
      for (int step = 0; step < axes_of(instance); step++) {
        const Axis axis = axis_at(instance, step);
        CHECK(axis.rungs - axis.first < elements);
        for (int k = axis.first; k <= axis.rungs; k++) seen[left_of(axis, k + 1, n) * n + right_of(axis, k, n)]++;
      }
      instance.elements = n / 4;  // figure 4 is figure 5 with enough of them: the same segments, as often
      for (int step = 0; step < axes_of(instance); step++) {
        const Axis axis = axis_at(instance, step);
        for (int k = axis.first; k <= axis.rungs; k++) before[left_of(axis, k + 1, n) * n + right_of(axis, k, n)]++;
      }
      CHECK(seen == before);
      for (int a = 0; a < n; a++)
        for (int b = 0; b < a; b++)
          if (a - b > 1 && a - b < n - 1) CHECK(seen[a * n + b] + seen[b * n + a] >= 1);
    }
}

TEST(random_segments_are_each_as_likely) {
  for (const int n : {4, 5, 6, 9, 12}) {
    SymmetricInstance instance{};
    instance.size = n;
    instance.random = 1;
    const int pairs = n * (n - 3) / 2, draws = 4000 * pairs;
    std::vector<int> seen(n * n);
    for (int step = 0; step < draws; step++) {
      const Axis axis = random_axis(instance, 7, 1, step);
      CHECK(axis.rungs == axis.first && axis.rungs >= 1 && axis.rungs <= n / 4);
      CHECK(axis.left >= 0 && axis.left < n && axis.right >= 0 && axis.right < n);
      const int a = left_of(axis, axis.rungs + 1, n), b = right_of(axis, axis.rungs, n);
      seen[a < b ? a * n + b : b * n + a]++;
    }
    for (int a = 0; a < n; a++)
      for (int b = a + 1; b < n; b++) {
        const bool neighbours = b - a == 1 || b - a == n - 1;
        CHECK(neighbours ? seen[a * n + b] == 0 : std::abs(seen[a * n + b] - 4000) < 400);
      }
  }
}

TEST(rows_hold_every_triple_of_edges_in_all_four_ways) {
  for (const int n : {4, 5, 6, 9, 33, 40}) {
    std::vector<int> straight(n * n * n), turned(n * n * n);  // by the edges of A, B and C
    for (long long r = 0; r < rows_of(n); r++) {
      const TripleRow row = triple_row(n, r);
      for (int group = 1; group <= groups_of(row); group++)
        for (int rung = 0; rung < levels; rung++) {
          if (!is_triple(row, n, group, rung)) continue;
          const Triple t = triple_at(row, n, group, rung);
          const int i = t.a, j = row.turned ? t.d : t.c, k = t.e;
          CHECK(t.b == (t.a + 1) % n && t.f == (t.e + 1) % n);
          CHECK(row.turned ? t.c == (t.d + 1) % n : t.d == (t.c + 1) % n);
          (row.turned ? turned : straight)[(i * n + j) * n + k]++;
        }
    }
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) {
          const bool in_turn = (j - i + n) % n > 0 && (k - i + n) % n > (j - i + n) % n;
          CHECK(straight[(i * n + j) * n + k] == (i < j && j < k));
          CHECK(turned[(i * n + j) * n + k] == in_turn);
        }
  }
}

TEST(any_accepted_rungs_of_a_group_make_one_tour_of_the_edges_they_name) {
  using Edges = std::multiset<std::pair<int, int>>;
  const auto edge = [](int a, int b) { return std::pair<int, int>(std::min(a, b), std::max(a, b)); };
  Random random(1, 0, 0);
  for (const int n : {4, 5, 7, 12, 31, 64, 97, 200})
    for (int trial = 0; trial < 5000; trial++) {
      const TripleRow row = triple_row(n, random.below((int)rows_of(n)));
      const int group = 1 + random.below(groups_of(row));
      unsigned accepted = (unsigned)random.next();
      if (trial % 2) accepted &= (unsigned)random.next() & (unsigned)random.next();
      int low = -1;
      for (int rung = levels - 1; rung >= 0; rung--) {
        if (!is_triple(row, n, group, rung)) accepted &= ~(1u << rung);
        if (accepted >> rung & 1) low = rung;
      }
      if (low < 0) continue;
      const Exchange exchange = exchange_of(row, n, group, accepted);
      CHECK(exchange.applied & 1);
      Edges edges, found;
      for (int p = 0; p < n; p++) edges.insert(edge(p, (p + 1) % n));
      for (int rung = low; rung < levels; rung++) {
        if (!(exchange.applied >> (rung - low) & 1)) continue;
        CHECK(accepted >> rung & 1);
        const Triple t = triple_at(row, n, group, rung);
        for (const auto &gone : {edge(t.a, t.b), edge(t.c, t.d), edge(t.e, t.f)}) {
          CHECK(edges.count(gone) > 0);
          edges.erase(edges.find(gone));
        }
        for (const auto &come : {edge(t.a, t.d), edge(t.c, t.f), edge(t.e, t.b)}) edges.insert(come);
      }
      std::vector<int> tour(n), seen(n);
      for (int place = 0; place < n; place++)
        tour[(exchange.first + place) % n] = (exchange.first + exchange.source(place)) % n;
      for (int p = 0; p < n; p++) {
        found.insert(edge(tour[p], tour[(p + 1) % n]));
        seen[tour[p]]++;
      }
      CHECK(*std::min_element(seen.begin(), seen.end()) == 1);
      CHECK(found == edges);
    }
}
