#include "directed/search.h"

#include <algorithm>
#include <set>

#include "tours.h"

using namespace warptsp;
using namespace warptsp::directed;

namespace {

typedef std::vector<int> Entries;

Entries random_matrix(int n, int bound, check::Random &random) {
  Entries entries((size_t)n * n);
  for (int &entry : entries) entry = random.below(bound);
  return entries;
}

// Points of a plane where up is twice as far: the assignment is no tour by far, and kicks find much.
Entries hill(int n, check::Random &random) {
  Entries x(n), y(n), entries((size_t)n * n);
  for (int i = 0; i < n; i++) {
    x[i] = random.below(10000);
    y[i] = random.below(10000);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      entries[(size_t)i * n + j] = std::abs(x[i] - x[j]) + (y[j] > y[i] ? 2 * (y[j] - y[i]) : y[i] - y[j]);
  return entries;
}

Cost length_of(const Entries &entries, const std::vector<int> &tour) {
  const size_t n = tour.size();
  Cost sum = 0;
  for (size_t p = 0; p < n; p++) sum += entries[tour[p] * n + tour[p + 1 == n ? 0 : p + 1]];
  return sum;
}

// The least sum over all permutations that leave no city where it is.
Cost least_assignment(const Entries &entries, int n) {
  std::vector<int> order = in_order(n);
  Cost least = no_cost;
  do {
    Cost sum = 0;
    bool stays = false;
    for (int i = 0; i < n; i++) {
      stays |= order[i] == i;
      sum += entries[(size_t)i * n + order[i]];
    }
    if (!stays) least = std::min(least, sum);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

// What a local search of a matrix needs, and the search.
struct Prepared {
  ReducedCosts<int> costs;
  Candidates candidates;
  LocalSearch<int> search;

  Prepared(const Entries &entries, int n)
      : costs(directed::Matrix<int>(entries.data(), n, 1.0)), candidates(lists(costs)), search(costs, candidates) {}
  void descend(const std::vector<int> &tour) {
    search.set(tour);
    search.enqueue_all();
    CHECK(search.run(StopToken()));
  }

 private:
  static Candidates lists(const ReducedCosts<int> &costs) {
    Candidates found;
    CHECK(find_candidates(costs, 1, StopToken(), found));
    return found;
  }
};

}  // namespace

TEST(assignments_are_optimal_and_their_potentials_feasible) {
  check::Random random(1);
  const StopToken token;
  for (int trial = 0; trial < 300; trial++) {
    const int n = 3 + random.below(5), bound = trial % 3 == 0 ? 3 : trial % 3 == 1 ? 100 : 1 << 30;
    const Entries entries = random_matrix(n, bound, random);
    Assignment<int> assignment(directed::Matrix<int>(entries.data(), n, 1.0));
    CHECK(assignment.solve(token));
    Cost cost = 0, sum = 0;
    for (int i = 0; i < n; i++) {
      cost += entries[(size_t)i * n + assignment.heads()[i]];
      sum += assignment.leaving()[i] + assignment.entering()[i];
      for (int j = 0; j < n; j++)
        if (i != j) CHECK(entries[(size_t)i * n + j] >= assignment.leaving()[i] + assignment.entering()[j]);
    }
    CHECK(cost == least_assignment(entries, n) && sum == cost);
  }
}

TEST(rows_with_the_same_cheap_heads_are_assigned_by_an_auction) {
  check::Random random(2);
  const int n = 200;
  Entries entries((size_t)n * n);
  std::vector<int> early(n), late(n);
  for (int i = 0; i < n; i++) {
    early[i] = random.below(100000);
    late[i] = random.below(100000);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) entries[(size_t)i * n + j] = early[i] + late[j] + random.below(20);
  Assignment<int> assignment(directed::Matrix<int>(entries.data(), n, 1.0));
  const StopToken token;
  CHECK(assignment.solve(token));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (i != j) CHECK(entries[(size_t)i * n + j] >= assignment.leaving()[i] + assignment.entering()[j]);
}

TEST(exchanges_make_tours_of_the_length_they_say_and_are_undone) {
  check::Random random(3);
  const StopToken token;
  for (int trial = 0; trial < 30; trial++) {
    const int n = 8 + random.below(60);
    const Entries entries = random_matrix(n, 1000, random);
    Prepared prepared(entries, n);
    LocalSearch<int> &search = prepared.search;
    prepared.descend(in_order(n));
    const std::vector<int> optimum = search.tour().cities();
    CHECK(search.tour().length() == length_of(entries, optimum));
    search.tour().forget();
    warptsp::Random numbers(1, 2, (unsigned long long)trial);
    for (int k = 0; k < 20; k++) {
      CHECK(search.kick(numbers.below(n), numbers, 5));
      CHECK(search.run(token));
      CHECK(search.tour().length() == length_of(entries, search.tour().cities()));
      CHECK(is_tour(search.tour().cities(), n));
    }
    search.tour().undo(0);
    CHECK(search.tour().cities() == optimum);
    CHECK(search.tour().length() == length_of(entries, optimum));
  }
}

TEST(kicks_side_by_side_shorten_a_tour_and_repeat) {
  check::Random random(6);
  const StopToken token;
  const int n = 1600;
  const Entries entries = hill(n, random);
  std::vector<std::vector<int>> tours;
  for (const int threads : {1, 3, 3}) {
    SearchOf<int> search(directed::Matrix<int>(entries.data(), n, 1.0), 1, threads);
    search.assign(1e9, token);
    search.prepare(token);
    search.set_tour(search.patch());
    CHECK(search.optimize(1e9, token));
    const Cost before = search.best_length();
    search.kicks(301, token);
    search.kicks(1000, token);
    CHECK(search.counters().kicks == 1301);
    CHECK(search.best_length() == length_of(entries, search.best()));
    CHECK(search.best_length() == search.length());
    CHECK(search.best_length() < before - before / 200);
    tours.push_back(search.best());
  }
  CHECK(tours[1] == tours[2]);
}

// A search that goes on from a tour of the old length looks at every city that is left in the queue.
TEST(local_search_after_a_kick_ends_at_the_tour_before_it) {
  check::Random random(9);
  const StopToken token;
  const int n = 300;
  const Entries entries = hill(n, random);
  Prepared prepared(entries, n);
  LocalSearch<int> &search = prepared.search;
  prepared.descend(in_order(n));
  const Tour optimum = search.tour();
  int ended = 0;
  for (int k = 0; k < 200; k++) {
    long long evaluations[2];
    for (const int early : {0, 1}) {
      search.set(optimum);
      warptsp::Random numbers(3, 0, (unsigned long long)k);
      CHECK(search.kick(numbers.below(n), numbers, 10));
      const long long before = search.counters().evaluations;
      CHECK(search.run(token, early != 0 ? optimum.length() : -1));
      evaluations[early] = search.counters().evaluations - before;
    }
    CHECK(evaluations[1] <= evaluations[0]);
    if (evaluations[1] == evaluations[0]) continue;
    CHECK(search.tour().length() == optimum.length());
    ended++;
    const long long before = search.counters().evaluations;  // nothing is left in the queue
    CHECK(search.run(token));
    CHECK(search.counters().evaluations == before);
    search.enqueue_all();
    search.clear();
  }
  CHECK(ended >= 50);
}

// The cycle of four arcs by following it, city by city.
TEST(the_table_of_cycles_says_which_fifth_arcs_leave_one_tour) {
  const int n = 10;
  for (int code = 0; code < n * n * n * n; code++) {
    const int place[4] = {code % n, code / n % n, code / n / n % n, code / n / n / n};
    if (std::set<int>(place, place + 4).size() < 4) continue;
    for (int p = 0; p < n; p++) {
      if (std::find(place, place + 4, p) != place + 4) continue;
      std::vector<int> next(n);
      for (int c = 0; c < n; c++) next[c] = (c + 1) % n;
      const int tails[5] = {place[0], place[1], place[2], place[3], p};
      for (int a = 0; a < 5; a++) next[tails[a]] = (tails[(a + 1) % 5] + 1) % n;
      int count = 0;
      for (int city = 0; count == 0 || city != 0; city = next[city]) count++;
      const unsigned on_cycle = cycle_table[CycleTable::key(place)];
      CHECK((count == n) == ((on_cycle >> CycleTable::segment(place, p) & 1) != 0));
    }
  }
}

// The best child of two tours is a tour of the length it says, not longer, and `changes` are its arcs.
TEST(children_are_searched_from_where_they_differ) {
  check::Random random(10);
  const StopToken token;
  int shorter = 0;
  for (int trial = 0; trial < 30; trial++) {
    const int n = 200;
    const Entries entries = hill(n, random);
    Prepared prepared(entries, n);
    std::vector<Member> members;
    for (int m = 0; m < 2; m++) {
      prepared.descend(shuffled(n, random));
      members.emplace_back(prepared.search.tour());
    }
    const ArcCounts counts(members);
    Crossover<int> crossover(prepared.costs, prepared.candidates);
    const Member parent = members[0];
    const auto best = [&](int first, int last) {
      return crossover.best_child(parent, members[1], first, last, trial % 2 == 1, counts, 2, 4000 + trial, token);
    };
    const directed::Child found = best(0, 30);
    // The same however the children are shared out.
    directed::Child shared;
    for (int first = 0; first < 30; first += 7)
      if (directed::Child part = best(first, std::min(30, first + 7)); part.value > shared.value) shared = part;
    CHECK(shared.value == found.value && shared.gain == found.gain);
    CHECK(shared.changes.size() == found.changes.size());
    if (found.value > 0) members[0].change(found.changes, found.gain, prepared.costs);
    const Member &child = members[0];
    CHECK((int)child.tour().size() == n);
    CHECK(child.length == length_of(entries, child.tour()));
    CHECK(child.length <= parent.length);
    shorter += child.length < parent.length;
    for (size_t k = 0; k < found.changes.size(); k++) {
      CHECK(found.changes[k].old_head == parent.next[found.changes[k].tail]);
      CHECK(found.changes[k].new_head == shared.changes[k].new_head);
    }
    for (int city = 0; city < n; city++) {
      CHECK(child.before[child.next[city]] == city);
      CHECK(child.out[city] == entries[(size_t)city * n + child.next[city]]);
    }
    // What failed leaves no trace in the parent that gives arcs.
    CHECK((int)members[1].tour().size() == n && members[1].length == length_of(entries, members[1].tour()));
  }
  CHECK(shorter >= 25);
}

TEST(what_two_copies_of_a_tour_gained_comes_together) {
  check::Random random(8);
  const StopToken token;
  int together = 0;
  for (int trial = 0; trial < 20; trial++) {
    const int n = 300;
    const Entries entries = hill(n, random);
    Prepared prepared(entries, n);
    LocalSearch<int> &search = prepared.search;
    prepared.descend(in_order(n));
    const Tour common = search.tour();
    const std::vector<int> &cities = common.cities();
    std::vector<Member> found;
    for (int half = 0; half < 2; half++) {
      search.set(common);
      warptsp::Random numbers(1, (unsigned long long)trial, (unsigned long long)half);
      kick_tour(search, 40, &cities[(size_t)half * n / 2], n / 2, numbers, token);
      found.emplace_back(search.tour());
    }
    if (found[1].length < found[0].length) std::swap(found[0], found[1]);
    const Cost shorter = found[0].length;
    warptsp::Random numbers(2, (unsigned long long)trial, 0);
    Crossover<int> crossover(prepared.costs, prepared.candidates);
    crossover.adopt(found[0], found[1], numbers);
    const std::vector<int> both = found[0].tour();
    CHECK((int)both.size() == n);
    CHECK(found[0].length == length_of(entries, both));
    CHECK(found[0].length <= shorter);
    together += found[0].length < shorter;
  }
  CHECK(together >= 15);
}

TEST(rows_on_threads_are_the_same_as_on_one) {
  check::Random random(7);
  const StopToken token;
  const int n = 400;
  for (const int bound : {10, 1000000}) {  // with ties, and hardly any
    const Entries entries = random_matrix(n, bound, random);
    std::vector<std::vector<int>> heads, lists;
    std::vector<std::vector<Cost>> leaving;
    for (const int threads : {1, 2, 5}) {
      const directed::Matrix<int> matrix(entries.data(), n, 1.0);
      Assignment<int> assignment(matrix, threads);
      CHECK(assignment.solve(token));
      heads.push_back(assignment.heads());
      leaving.push_back(assignment.leaving());
      ReducedCosts<int> costs(matrix);
      costs.leaving = assignment.leaving();
      costs.entering = assignment.entering();
      Candidates candidates;
      CHECK(find_candidates(costs, threads, token, candidates));
      lists.push_back(candidates.head);
    }
    for (int t = 1; t < 3; t++) {
      CHECK(heads[0] == heads[t]);
      CHECK(leaving[0] == leaving[t]);
      CHECK(lists[0] == lists[t]);
    }
  }
}
