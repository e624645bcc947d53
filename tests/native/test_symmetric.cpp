#include "symmetric/symmetric.h"

#include <cmath>

#include "check.h"

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
