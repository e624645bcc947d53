// Branch and bound on the assignment problem, which may end before it has proved anything.
//
// G. Carpaneto, M. Dell'Amico and P. Toth, "Exact solution of large-scale, asymmetric traveling salesman problems", ACM
// Transactions on Mathematical Software 21 (1995) 394-409. A solution that falls into cycles is branched on its shortest
// one: child k keeps the first k - 1 of its free arcs, and loses the k-th. Each costs one augmenting path. Only arcs whose
// reduced cost is less than the gap can be in a better tour. Solutions on the way are patched to tours, and improved.
#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "common/stop_token.h"
#include "directed/costs.h"
#include "directed/shortest_paths.h"

namespace warptsp::directed {

template <class Entry>
class BranchAndBound {
 public:
  // Is given the heads of a solution and whether they are one tour; returns the length of the best tour there is.
  typedef std::function<Cost(const std::vector<int> &, bool)> Use;

  BranchAndBound(const ReducedCosts<Entry> &costs, const std::vector<int> &heads, Cost best)
      : costs_(costs), n_(costs.size()), best_(best), paths_(n_), excluded_(n_), fixed_(n_, 0) {
    auto root = std::make_shared<State>(State{Counted(states_), {}, {}, {}, {}, {}, {}, 0});
    root->head = heads;
    root->tail.resize(n_);
    for (int i = 0; i < n_; i++) root->tail[heads[i]] = i;
    root->leaving.assign(n_, 0);
    root->entering.assign(n_, 0);
    state_ = std::move(root);
  }

  // The arcs of reduced cost up to `limit`, at most `most` out of a city, 0 for all. False if the token stopped it.
  bool take_arcs(Cost limit, int most, int threads, const StopToken &token) {
    complete_ = most == 0;
    std::vector<std::vector<Arc>> rows(n_);
    const bool taken = for_each_row(n_, threads, token, [&](int i, int) {
      std::vector<Arc> &row = rows[i];
      const Entry *const entries = costs_.matrix.row(i);
      for (int j = 0; j < n_; j++) {
        const Cost r = costs_.matrix.cost(entries[j]) - costs_.leaving[i] - costs_.entering[j];
        if (r <= limit && j != i) row.push_back({r, j});
      }
      std::sort(row.begin(), row.end());
      if (most > 0 && (int)row.size() > most) row.resize((size_t)most);
    });
    begin_.assign(1, 0);
    arcs_.clear();
    for (const std::vector<Arc> &row : rows) {
      arcs_.insert(arcs_.end(), row.begin(), row.end());
      begin_.push_back((int)arcs_.size());
    }
    return taken;
  }

  // Expands nodes until it is done, or one of the limits is reached. True if it is done.
  bool run(long long nodes, int leaves, const StopToken &token, const Use &use) {
    while (!done_ && nodes-- > 0 && leaves_ < leaves && !token.stopped()) {
      expand(use);
      full_ = states_ > most_states();
      if (full_) return false;
    }
    return done_;
  }

  // Whether no tour is shorter than the best one.
  bool proved() const { return done_ && complete_; }
  bool full() const { return full_; }
  // No tour that is shorter than the best one has a smaller reduced length.
  Cost bound() const {
    if (!complete_) return 0;
    if (done_) return best_;
    Cost low = state_ ? state_->cost : best_;
    if (!open_.empty()) low = std::min(low, open_.top().cost);
    return std::min(low, best_);
  }
  long long nodes() const { return nodes_; }
  int leaves() const { return leaves_; }

 private:
  typedef std::pair<int, int> Pair;  // tail, head
  // Counts those that there are: each takes 24 bytes a city.
  class Counted {
   public:
    explicit Counted(size_t &count) : count_(&count) { ++*count_; }
    Counted(const Counted &other) : count_(other.count_) { ++*count_; }
    Counted &operator=(const Counted &) = delete;
    ~Counted() { --*count_; }

   private:
    size_t *count_;
  };
  struct State {
    Counted counted;
    std::vector<int> head, tail;
    std::vector<Cost> leaving, entering;
    std::vector<Pair> included, excluded;
    Cost cost = 0;
  };
  // A child that is made from its parent when its turn comes.
  struct Node {
    Cost cost = no_cost;
    std::shared_ptr<const State> parent;
    std::shared_ptr<const std::vector<Pair>> arcs;  // of the cycle
    int kept = 0;                                   // the first of them that are kept; the next one is lost
    long long number = 0;
    bool operator<(const Node &other) const {
      return cost > other.cost || (cost == other.cost && number > other.number);
    }
  };

  const ReducedCosts<Entry> &costs_;
  int n_;
  Cost best_;
  size_t states_ = 0;  // outlives all that count it
  bool complete_ = false, done_ = false, full_ = false;
  std::vector<int> begin_;
  std::vector<Arc> arcs_;
  std::shared_ptr<const State> state_;
  std::priority_queue<Node> open_;
  long long nodes_ = 0, made_ = 0;
  int leaves_ = 0;
  ShortestPaths paths_;
  std::vector<std::vector<int>> excluded_;
  std::vector<char> fixed_;

  size_t most_states() const { return (size_t)(500'000'000 / (24LL * n_)) + 10; }  // half a gigabyte

  void expand(const Use &use) {
    nodes_++;
    load(*state_, true);
    std::vector<int> cycle_of(n_, -1);
    int cycles = 0, shortest = -1;
    long long fewest = 0;
    for (int i = 0; i < n_; i++) {
      if (cycle_of[i] >= 0) continue;
      long long free = 0;
      for (int a = i; cycle_of[a] < 0; a = state_->head[a]) {
        cycle_of[a] = cycles;
        if (fixed_[state_->head[a]] == 0) free++;
      }
      if (free > 0 && (shortest < 0 || free < fewest)) {
        fewest = free;
        shortest = i;
      }
      cycles++;
    }
    Node down;
    if (cycles == 1) {
      leaves_++;
      if (state_->cost < best_) best_ = use(state_->head, true);
    } else if (state_->cost < best_) {
      if (nodes_ % 4 == 1 || cycles < 6) best_ = use(state_->head, false);
      if (shortest >= 0) down = branch(shortest);
    }
    load(*state_, false);
    go_on(std::move(down));
  }

  // Puts the children aside but for the best one, which it returns.
  Node branch(int city) {
    auto arcs = std::make_shared<std::vector<Pair>>();
    int a = city;
    do {
      if (fixed_[state_->head[a]] == 0) arcs->push_back({a, state_->head[a]});
      a = state_->head[a];
    } while (a != city);
    Node down;
    for (int k = 0; k < (int)arcs->size(); k++) {
      const auto [tail, head] = (*arcs)[k];
      excluded_[tail].push_back(head);
      const Cost more = shortest_path(*state_, tail, best_ - state_->cost);
      excluded_[tail].pop_back();
      fixed_[head] = 1;
      if (more == no_cost) continue;
      Node child{state_->cost + more, state_, arcs, k, ++made_};
      if (child.cost < down.cost) std::swap(child, down);
      if (child.parent) open_.push(std::move(child));
    }
    for (const Pair &arc : *arcs) fixed_[arc.second] = 0;
    return down;
  }

  // Dives while there is a child; once tours are found, every second node is the best one that is open.
  void go_on(Node down) {
    const bool best_first =
        !down.parent || (leaves_ > 0 && !open_.empty() && open_.top().cost < down.cost && nodes_ % 2 == 1);
    if (best_first) {
      if (down.parent) open_.push(std::move(down));
      down = Node();
      if (!open_.empty()) {
        down = open_.top();
        open_.pop();
      }
    }
    if (!down.parent || down.cost >= best_) {  // and so are all that are open
      state_.reset();
      done_ = true;
      return;
    }
    auto state = std::make_shared<State>(*down.parent);
    for (int k = 0; k < down.kept; k++) state->included.push_back((*down.arcs)[k]);
    const Pair lost = (*down.arcs)[down.kept];
    state->excluded.push_back(lost);
    load(*state, true);
    if (const Cost more = shortest_path(*state, lost.first, no_cost); more != no_cost) {
      paths_.take(lost.first, state->head, state->tail, state->leaving, state->entering);
      state->cost += more;
    }
    load(*state, false);
    state_ = std::move(state);
  }

  void load(const State &state, bool on) {
    for (const Pair &arc : state.included) fixed_[arc.second] = on ? 1 : 0;
    for (const Pair &arc : state.excluded) {
      if (on)
        excluded_[arc.first].push_back(arc.second);
      else
        excluded_[arc.first].clear();
    }
  }

  // What it costs to give tail s another head, when it loses its own; no_cost if that is not below `limit`.
  Cost shortest_path(const State &state, int s, Cost limit) {
    paths_.begin();
    const int goal = state.head[s];
    Cost base = 0;
    for (int i = s;;) {
      const std::vector<int> &out = excluded_[i];
      for (int a = begin_[i]; a < begin_[i + 1]; a++) {
        const int j = arcs_[a].city;
        if (fixed_[j] != 0 || paths_.is_settled(j)) continue;
        if (!out.empty() && std::find(out.begin(), out.end(), j) != out.end()) continue;
        const Cost d = base + arcs_[a].cost - state.leaving[i] - state.entering[j];
        if (d < limit) paths_.offer(i, j, d);
      }
      const int nearest = paths_.settle();
      if (nearest < 0) return no_cost;
      if (nearest == goal) return paths_.distance(goal);
      i = state.tail[nearest];
      base = paths_.distance(nearest);
    }
  }
};

}  // namespace warptsp::directed
