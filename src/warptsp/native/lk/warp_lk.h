// Iterated Lin-Kernighan by a warp on one small sub-problem, all of whose state lies in shared memory.
//
// The moves are those of lk.h: with the edge (t1, t2) out, the tour is a path from t2 to t1; a step adds (e, t3) at
// the path's first city e and takes out (t3, t4), where t4 comes before t3 on the path, which turns everything up to
// t4 around. What differs is who looks for them. One lane alone needs 10 000 cycles for a step of a search; here the
// alternatives of many searches are spread over the lanes:
//   roots     both edges of up to 16 queued cities at once, a lane each: the best `first_breadth` steps of each;
//   branches  those steps, packed, a lane each: the best `second_breadth` second steps of each;
//   chains    those, packed, a lane each: from here on the best step only, until the tour closes shorter.
// A chain's tentative path is a list of intervals of the array, one column of shared memory a lane. The best closing
// of a phase is written by all lanes together.
//
// The array is a closed tour of the sub-problem's cities. Where the real tour leaves the sub-problem and comes back, a
// edge stands for what lies outside; it is never taken out, but may be turned around with its surroundings.
#pragma once
#include "lk/warp_paths.h"

namespace warptsp::lk {

template <class Lanes, class Metric, int K>
class WarpLk : public WarpPaths<Lanes, Metric, K> {
  typedef WarpPaths<Lanes, Metric, K> Paths;
  template <class T>
  using Var = typename Lanes::template Var<T>;

 public:
  using Paths::counters;
  using typename Paths::Arrays;

  WARPTSP_FN WarpLk(const Arrays &arrays, const Metric &metric, const WarpLkParams &params)
      : Paths(arrays, metric, params) {}

  enum class From { every_city, longest_edge, kick };

  // Local search from there; after a kick the tour is kept if it is longer by no more than `allowance`. Returns the
  // gain; negative for a loss that was kept. All of it is here, so that kernels have one copy of the search: with one
  // for each kind of start their code took 240 kB, and warps waited for instructions a third of the time.
  WARPTSP_FN double search(From from, Random &random, float allowance) {
    logging_ = false;
    float change = 0;
    if (from == From::every_city) {
      queue_all();
    } else if (from == From::longest_edge) {
      queue_longest();
    } else if (!kick(random, change)) {
      counters.refused++;
      return 0;
    }
    const double loss = change - drain(from == From::every_city ? 1000 + 20 * a_.size : warp_lk_passes);
    if (from != From::kick) return -loss;
    if (hash_ == 0) {  // local search took the kick back, edge for edge
      counters.restored++;
      return 0;
    }
    if (loss > allowance) {
      undo();
      return 0;
    }
    counters.accepted++;
    if (loss < 0) counters.improved++;
    return -loss;
  }

 private:
  // The move that each lane has found: its gain or 0, the intervals of its tentative path, and the lane of its root.
  struct Closings {
    Var<float> gain;
    Var<int> count, root;
  };

  using Paths::a_;
  using Paths::at_offset;
  using Paths::bridge;
  using Paths::distance;
  using Paths::entry;
  using Paths::expand;
  using Paths::first_turn;
  using Paths::hash_;
  using Paths::logging_;
  using Paths::make;
  using Paths::p_;
  using Paths::push;
  using Paths::root_of;
  using Paths::turn;
  using Paths::undo;
  using Paths::w_;
  using Paths::wrap;

  WARPTSP_FN void queue_all() {
    Lanes::each([&](int lane) {
      const int left = a_.size - 32 * lane;
      w_.queued[lane] = left >= 32 ? 0xffffffffu : left > 0 ? (1u << left) - 1 : 0;
    });
  }
  // One that greedy was left with, as long as hundreds of others, gets shorter by some cities in every part that it
  // lies in; waiting for a kick at its ends costs a hundred rounds.
  WARPTSP_FN void queue_longest() {
    Var<float> length;
    Var<int> at;
    Lanes::each([&](int lane) {
      length[lane] = 0;
      at[lane] = 0;
      for (int p = lane; p < a_.size; p += 32)
        if (a_.edge[p] > length[lane]) length[lane] = a_.edge[p], at[lane] = p;
    });
    const int longest = Lanes::get(at, Lanes::argmax(length));
    Lanes::each([&](int lane) {
      if (lane < 2) push(a_.order[wrap(longest + lane)]);
    });
  }
  // A double bridge; `change` is by how much the tour gets longer. False if there is none at the edges drawn.
  WARPTSP_FN bool kick(Random &random, float &change) {
    int at, a, b, c;
    const float kind = random.unit();
    if (kind <= p_.kicks.long_links + p_.kicks.walks) {
      if (kind <= p_.kicks.long_links)
        draw_long_edges(random);
      else
        draw_walks(random);
      cuts(at, a, b, c);
    } else {
      a = 1 + random.below(p_.kicks.segment), b = 1 + random.below(p_.kicks.segment),
      c = 1 + random.below(p_.kicks.segment);
      while (a + b + c > 3 && a + b + c + 2 > a_.size) a = (a + 1) / 2, b = (b + 1) / 2, c = (c + 1) / 2;
      at = random.below(p_.fitting ? a_.size - 1 - (a + b + c) : a_.size);
    }
    if (a == 0 || b == 0 || c == 0 || at + a + b + c + 1 >= a_.size) return false;
    change = bridge(at, a, b, c);
    if (change < -1e29f) return false;
    counters.kicks++;
    return true;
  }
  // The kinds of kicks are those of lk.h: here each edge is the longest of those that the lanes draw from the stretch
  // behind the one before, ...
  WARPTSP_FN void draw_long_edges(Random &random) {
    constexpr int stretch = 300;
    const int reach = 5 * stretch < a_.size ? stretch : a_.size / 5, from = random.below(a_.size - 4 * reach);
    const u64 stream = random.next();
    int end = from - 1;
    WARPTSP_LOOP
    for (int q = 0; q < 4; q++) {
      Var<float> length;
      Var<int> drawn;
      Lanes::each([&](int lane) {
        Random own(stream, q, lane);
        drawn[lane] = 1 + own.below(reach);
        length[lane] = a_.edge[end + drawn[lane]];
      });
      end += Lanes::get(drawn, Lanes::argmax(length));
      Lanes::each([&](int lane) {
        if (lane == q) w_.start[lane] = (u16)end;
      });
    }
  }
  // ... and here three of them lie where random walks from the first one end.
  WARPTSP_FN void draw_walks(Random &random) {
    const int city = random.below(a_.size);
    const u64 stream = random.next();
    Lanes::each([&](int lane) {
      if (lane >= 4) return;
      Random steps(stream, lane, 0);
      int to = city;
      for (int k = 0; k < p_.kicks.walk * (lane > 0); k++) to = a_.candidate(to, steps.below(K));
      w_.start[lane] = a_.position[to];
    });
  }
  // Four positions, in any order, as the first edge and three segments.
  WARPTSP_FN void cuts(int &at, int &a, int &b, int &c) const {
    int cut[4] = {w_.start[0], w_.start[1], w_.start[2], w_.start[3]};
    sort(cut[0], cut[1]), sort(cut[2], cut[3]), sort(cut[0], cut[2]), sort(cut[1], cut[3]), sort(cut[1], cut[2]);
    at = cut[0], a = cut[1] - cut[0], b = cut[2] - cut[1], c = cut[3] - cut[2];
  }
  WARPTSP_FN static void sort(int &a, int &b) {
    if (a > b) {
      const int t = a;
      a = b, b = t;
    }
  }

  // ---- searches
  // Searches until the queue is empty, or after so many passes: sums in float may see a gain where there is none, and
  // find it again and again.
  WARPTSP_FN double drain(int passes) {
    double gain = 0;
    for (;; passes--) {
      Var<int> waiting, before;
      Lanes::each([&](int lane) { waiting[lane] = Lanes::bits(w_.queued[lane]); });
      const int total = Lanes::scan(waiting, before);
      if (total == 0) return gain;
      Lanes::each([&](int lane) {
        u32 left = w_.queued[lane];
        for (int at = before[lane]; left && at < warp_lk_roots; at++, left &= left - 1)
          w_.roots[at] = (u16)(32 * lane + Lanes::lowest_bit(left));
      });
      Closings found;
      if (pass(total < warp_lk_roots ? total : warp_lk_roots, found)) gain += make_best(found);
      if ((logging_ && hash_ == 0) || passes == 0) {
        Lanes::each([&](int lane) { w_.queued[lane] = 0; });
        return gain;
      }
    }
  }
  // Roots [0, done) have been searched in vain.
  WARPTSP_FN void dequeue(int done) {
    Lanes::each([&](int lane) {
      if (lane < done) Lanes::clear_bits(&w_.queued[w_.roots[lane] >> 5], 1u << (w_.roots[lane] & 31));
    });
  }
  // Searches from the first `roots` roots until one of them improves the tour; false if none does.
  WARPTSP_FN bool pass(int roots, Closings &found) {
    counters.passes++;
    Var<int> count, before;
    Var<PathSteps<first_breadth>> firsts;
    Lanes::each([&](int lane) {
      count[lane] = 0;
      if (lane >= 2 * roots) return;
      const PathRoot root = root_of(lane);
      const float g0 = a_.edge[root.dir ? root.base : a_.position[root.t1]];
      if (g0 <= p_.tolerance) return;
      entry(0, lane) = 0;
      entry(1, lane) = (u32)a_.size << 16;
      count[lane] = expand(lane, root, 1, a_.order[root.base], 0, g0, firsts[lane]);
    });
    const int branches = Lanes::scan(count, before);
    Lanes::each([&](int lane) {
      WARPTSP_UNROLL
      for (int j = 0; j < first_breadth; j++)
        if (j < count[lane]) {
          w_.gain_1[before[lane] + j] = firsts[lane].gain[j];
          w_.step_1[before[lane] + j] = (u32)firsts[lane].o3[j] << 16 | (u32)lane;
        }
    });
    counters.branches += branches;
    for (int batch = 0; batch < branches; batch += 32) {
      // Roots whose branches all lie in earlier batches are done. They leave the queue now: a move queues its ends.
      dequeue((int)(w_.step_1[batch] & 0xffff) >> 1);
      if (branch(batch, branches, found)) return true;
    }
    dequeue(roots);
    return false;
  }
  // Closes and extends up to 32 first steps.
  WARPTSP_FN bool branch(int batch, int branches, Closings &found) {
    Var<float> closing;
    Var<int> count, before;
    Var<int> root;
    Var<PathSteps<second_breadth>> seconds;
    Lanes::each([&](int lane) {
      closing[lane] = 0;
      count[lane] = 0;
      root[lane] = 0;
      if (batch + lane >= branches) return;
      const u32 step = w_.step_1[batch + lane];
      const float g = w_.gain_1[batch + lane];
      root[lane] = (int)(step & 0xffff);
      const PathRoot r = root_of(root[lane]);
      const int o3 = (int)(step >> 16), e = a_.order[at_offset(r, o3 - 1)];
      first_turn(lane, o3);
      const float closed = g - distance(e, r.t1);
      if (closed > p_.tolerance) closing[lane] = closed;
      count[lane] = expand(lane, r, 2, e, o3 - 1, g, seconds[lane]);
    });
    const int chains = Lanes::scan(count, before);
    Lanes::each([&](int lane) {
      WARPTSP_UNROLL
      for (int j = 0; j < second_breadth; j++)
        if (j < count[lane]) {
          const int at = before[lane] + j;
          w_.gain_2[at] = seconds[lane].gain[j];
          w_.step_2[at] = (w_.step_1[batch + lane] & 0xffff0000u) | (u32)seconds[lane].o3[j];
          w_.root_2[at] = (u16)root[lane];
        }
    });
    counters.chains += chains;
    for (int at = 0; at < chains; at += 32)
      if (chain(at, chains, found)) return true;
    // Only now the 2-opt moves among them. Made at once they lead back to where the kick came from: on 1000 cities
    // 4 kicks a city then reach what half a kick a city reaches with longer moves first.
    Lanes::each([&](int lane) {
      found.gain[lane] = closing[lane];
      found.count[lane] = 2;
      found.root[lane] = root[lane];
      if (batch + lane < branches) first_turn(lane, (int)(w_.step_1[batch + lane] >> 16));
    });
    return any(found);
  }
  // Follows up to 32 second steps, a lane each, by the best step alone.
  WARPTSP_FN bool chain(int batch, int chains, Closings &found) {
    Var<float> g;
    Var<int> first;
    Var<PathRoot> ends;
    Var<bool> alive;
    Lanes::each([&](int lane) {
      found.gain[lane] = 0;
      g[lane] = 0;
      found.count[lane] = 2;
      found.root[lane] = first[lane] = 0;
      ends[lane] = PathRoot{0, 0, 0};
      alive[lane] = batch + lane < chains;
      if (!alive[lane]) return;
      const u32 step = w_.step_2[batch + lane];
      found.root[lane] = w_.root_2[batch + lane];
      ends[lane] = root_of(found.root[lane]);
      g[lane] = w_.gain_2[batch + lane];
      first_turn(lane, (int)(step >> 16));
      first[lane] = turn(lane, found.count[lane], (int)(step & 0xffff));
    });
    for (int depth = 2;; depth++) {
      Lanes::each([&](int lane) {
        if (!alive[lane]) return;
        const PathRoot r = ends[lane];
        const int e = a_.order[at_offset(r, first[lane])];
        const float closed = g[lane] - distance(e, r.t1);
        if (closed > p_.tolerance) {
          found.gain[lane] = closed;
          alive[lane] = false;
          return;
        }
        PathSteps<1> next{};
        alive[lane] = depth < warp_lk_depth && expand(lane, r, found.count[lane], e, first[lane], g[lane], next) > 0;
        if (!alive[lane]) return;
        g[lane] = next.gain[0];
        first[lane] = turn(lane, found.count[lane], next.o3[0]);
      });
      counters.steps++;
      if (any(found)) return true;
      if (!Lanes::ballot(alive)) return false;
    }
  }
  WARPTSP_FN static bool any(const Closings &found) {
    Var<bool> any;
    Lanes::each([&](int lane) { any[lane] = found.gain[lane] > 0; });
    return Lanes::ballot(any);
  }
  // Makes the best move that a lane has found. Returns its gain.
  WARPTSP_FN float make_best(const Closings &found) {
    const int winner = Lanes::argmax(found.gain);
    make(winner, Lanes::get(found.count, winner), root_of(Lanes::get(found.root, winner)));
    return Lanes::get(found.gain, winner);
  }
};

}  // namespace warptsp::lk
