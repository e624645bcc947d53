// Iterated Lin-Kernighan by a warp on one small sub-problem, all of whose state lies in shared memory.
//
// The moves are those of lk.h: with the link (t1, t2) out, the tour is a path from t2 to t1; a step adds (e, t3) at
// the path's first city e and takes out (t3, t4), where t4 comes before t3 on the path, which turns everything up to
// t4 around. What differs is who looks for them. One lane alone needs 10 000 cycles for a step of a search; here the
// alternatives of many searches are spread over the lanes:
//   roots     both links of up to 16 queued cities at once, a lane each: the best `first_breadth` steps of each;
//   branches  those steps, packed, a lane each: the best `second_breadth` second steps of each;
//   chains    those, packed, a lane each: from here on the best step only, until the tour closes shorter.
// A chain's tentative path is a list of intervals of the array, one column of shared memory a lane. The best closing
// of a phase is written by all lanes together.
//
// The array is a closed tour of the sub-problem's cities. Where the real tour leaves the sub-problem and comes back, a
// link stands for what lies outside; it is never taken out, but may be turned around with its surroundings.
#pragma once
#include "common/lanes.h"
#include "common/random.h"
#include "lk/warp_metric.h"

namespace warptsp {

#if defined(__CUDACC__)
#define WARPTSP_UNROLL _Pragma("unroll")
#define WARPTSP_LOOP _Pragma("unroll 1")
#else
#define WARPTSP_UNROLL
#define WARPTSP_LOOP
#endif

typedef unsigned short u16;
typedef unsigned int u32;

constexpr int warp_lk_cities = 1024;     // at most: the queue is one bit a city, a word a lane
constexpr int warp_lk_least = 8;
constexpr int warp_lk_depth = 16;        // exchange steps, at most 30; with 24 tours were no shorter
constexpr int warp_lk_roots = 16;
constexpr int warp_lk_passes = 500;      // of a kick; some have a hundred
// Alternatives at the first two steps: 5 and 3, as in lk.h, reach 0.1 point less after as many kicks, at 2.5 times the
// work.
constexpr int first_breadth = 3, second_breadth = 2;
constexpr float warp_lk_unbreakable = -1e30f;
constexpr u16 no_city = 0xffff;

// Candidates that a lane looks at side by side, to hide the latency of shared memory: the larger this is, the more are
// looked at in vain, since most lists end early. They are read as one word.
constexpr int warp_lk_chunk = 4;

struct WarpLkParams {
  int segment;         // longest segment of a double bridge
  int walk;            // steps of a random walk to each of a bridge's links
  float walks;         // share of the kicks that are walks
  float long_links;    // share of the kicks that cut long links
  float tolerance;     // a gain must exceed it
};

struct WarpLkCounters {
  u32 kicks = 0, refused = 0, restored = 0, accepted = 0, improved = 0;
  u32 passes = 0, branches = 0, chains = 0, steps = 0, moves = 0, cells = 0;
  // About what was done costs, the same on every run.
  WARPTSP_FN u32 work() const { return 2 * passes + steps; }
};

struct WarpLkWork {
  u32 lists[(warp_lk_depth + 3) * 32];   // [interval, lane]: low << 16 | rank << 8 | turned
  float gain_1[32 * first_breadth];
  u32 step_1[32 * first_breadth];        // o3 << 16 | lane of its root
  float gain_2[32 * second_breadth];
  u32 step_2[32 * second_breadth];       // o3 of the first step << 16 | o3 of the second
  u16 root_2[32 * second_breadth];
  u32 queued[32];
  u16 roots[warp_lk_roots];
  u16 start[32], length[32], turned[32], tail[32];
};

// The arrays of a sub-problem; positions and cities from 0.
template <int K, class Place>
struct WarpLkArrays {
  int size;
  u16 *order;          // [size] city at a position
  u16 *position;       // [size]
  u16 *follower;       // [size] the city behind an unbreakable link that leaves from here, else no_city
  Place *place;        // [size] for distances
  float *link;         // [size] length of the link from a position to the next, or unbreakable
  WarpLkWork *work;
  // What is rarely needed, or always in rows, may lie in slower memory: the less shared memory a warp takes, the more
  // warps there are to hide every latency.
  u64 *candidates;     // [size, K / 4] four in a word, nearest first, the city itself behind the last
  u16 *kept;           // [size] order before the kick, where it has changed since

  static_assert(K % warp_lk_chunk == 0, "lists are read in words");
  static constexpr int bytes_a_city = 2 * 3 + (int)sizeof(Place) + 4;
  // Lays the other arrays out in one block of memory aligned to 16 bytes; `size` rounded up to a multiple of 8.
  WARPTSP_FN static WarpLkArrays in(unsigned char *memory, int size, u64 *candidates, u16 *kept) {
    const int room = (size + 7) & ~7;
    WarpLkArrays a;
    a.size = size;
    a.work = (WarpLkWork *)memory;
    memory += (sizeof(WarpLkWork) + 15) & ~15;
    a.candidates = candidates;
    a.kept = kept;
    a.place = (Place *)memory;
    memory += (int)sizeof(Place) * room;
    a.link = (float *)memory;
    memory += 4 * room;
    u16 *next = (u16 *)memory;
    a.order = next;
    a.position = next + room;
    a.follower = next + 2 * room;
    return a;
  }
  WARPTSP_FN u64 &four_candidates(int city, int chunk) const {
    return candidates[(long long)city * (K / warp_lk_chunk) + chunk];
  }
  WARPTSP_FN int candidate(int city, int k) const {
    return (int)(four_candidates(city, k / warp_lk_chunk) >> 16 * (k % warp_lk_chunk) & 0xffff);
  }
  WARPTSP_FN static int bytes(int size) {
    return (int)((sizeof(WarpLkWork) + 15) & ~15) + bytes_a_city * ((size + 7) & ~7);
  }
};

template <class Lanes, class Metric, int K>
class WarpLk {
  template <class T>
  using Var = typename Lanes::template Var<T>;

 public:
  typedef typename Metric::Place Place;
  typedef WarpLkArrays<K, Place> Arrays;

  WARPTSP_FN WarpLk(const Arrays &arrays, const Metric &metric, const WarpLkParams &params)
      : a_(arrays), p_(params), w_(*arrays.work), metric_(metric) {}

  WarpLkCounters counters;

  // Fills position and link from order, follower and place; empties the queue.
  WARPTSP_FN void begin() {
    Lanes::each([&](int lane) {
      w_.queued[lane] = 0;
      for (int p = lane; p < a_.size; p += 32) a_.position[a_.order[p]] = (u16)p;
    });
    measure(0, a_.size);
  }

  enum class From { every_city, longest_link, kick };

  // Local search from there; after a kick the tour is kept if it is longer by no more than `allowance`. Returns the
  // gain; negative for a loss that was kept. All of it is here, so that kernels have one copy of the search: with one
  // for each kind of start their code took 240 kB, and warps waited for instructions a third of the time.
  WARPTSP_FN double search(From from, Random &random, float allowance) {
    logging_ = false;
    float change = 0;
    if (from == From::every_city) {
      queue_all();
    } else if (from == From::longest_link) {
      queue_longest();
    } else if (!kick(random, change)) {
      counters.refused++;
      return 0;
    }
    const double loss = change - drain(from == From::every_city ? 1000 + 20 * a_.size : warp_lk_passes);
    if (from != From::kick) return -loss;
    if (hash_ == 0) {  // local search took the kick back, link for link
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
  struct Root {
    int t1, base, dir;  // the path starts at array position base and runs in dir (0 up, -1 down: a mask)
  };
  template <int Want>
  struct Steps {
    float gain[Want];
    int o3[Want];
  };
  // The move that each lane has found: its gain or 0, the intervals of its tentative path, and the lane of its root.
  struct Closings {
    Var<float> gain;
    Var<int> count, root;
  };

  Arrays a_;
  WarpLkParams p_;
  WarpLkWork &w_;
  Metric metric_;
  bool logging_ = false;
  int kept_low_ = 0, kept_high_ = 0;
  u32 hash_ = 0;  // of the links that changed since the kick: 0 when none remains

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
        if (a_.link[p] > length[lane]) length[lane] = a_.link[p], at[lane] = p;
    });
    const int longest = Lanes::get(at, Lanes::argmax(length));
    Lanes::each([&](int lane) {
      if (lane < 2) push(a_.order[wrap(longest + lane)]);
    });
  }
  // A double bridge; `change` is by how much the tour gets longer. False if there is none at the links drawn.
  WARPTSP_FN bool kick(Random &random, float &change) {
    int at, a, b, c;
    const float kind = random.unit();
    if (kind <= p_.long_links + p_.walks) {
      if (kind <= p_.long_links)
        draw_long_links(random);
      else
        draw_walks(random);
      cuts(at, a, b, c);
    } else {
      a = 1 + random.below(p_.segment), b = 1 + random.below(p_.segment), c = 1 + random.below(p_.segment);
      at = random.below(a_.size);
      while (a + b + c > 3 && a + b + c + 2 > a_.size) a = (a + 1) / 2, b = (b + 1) / 2, c = (c + 1) / 2;
    }
    if (a == 0 || b == 0 || c == 0 || at + a + b + c + 1 >= a_.size) return false;
    change = bridge(at, a, b, c);
    if (change < -1e29f) return false;
    counters.kicks++;
    return true;
  }
  // The kinds of kicks are those of lk.h: here each link is the longest of those that the lanes draw from the stretch
  // behind the one before, ...
  WARPTSP_FN void draw_long_links(Random &random) {
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
        length[lane] = a_.link[end + drawn[lane]];
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
      for (int k = 0; k < p_.walk * (lane > 0); k++) to = a_.candidate(to, steps.below(K));
      w_.start[lane] = a_.position[to];
    });
  }
  // Four positions, in any order, as the first link and three segments.
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
  WARPTSP_FN int wrap(int p) const { return p >= a_.size ? p - a_.size : p < 0 ? p + a_.size : p; }
  WARPTSP_FN int offset(const Root &r, int position) const {
    const int o = ((position - r.base) ^ r.dir) - r.dir;
    return o < 0 ? o + a_.size : o;
  }
  WARPTSP_FN int at_offset(const Root &r, int o) const { return wrap(r.base + ((o ^ r.dir) - r.dir)); }
  WARPTSP_FN float distance(int a, int b) const { return metric_(a_.place[a], a_.place[b]); }
  WARPTSP_FN static u32 edge(int a, int b) {
    u32 h = ((u32)(a < b ? a : b) << 16 | (u32)(a < b ? b : a)) + 0x9e3779b9u;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
  }
  WARPTSP_FN void push(int c) { Lanes::set_bits(&w_.queued[c >> 5], 1u << (c & 31)); }
  WARPTSP_FN Root root_of(int lane) const {
    Root r;
    r.t1 = w_.roots[lane >> 1];
    r.dir = -(lane & 1);
    r.base = wrap(a_.position[r.t1] + 1 + 2 * r.dir);
    return r;
  }

  // Lengths of the links behind positions [low, high); low may be -1.
  WARPTSP_FN void measure(int low, int high) {
    Lanes::each([&](int lane) {
WARPTSP_LOOP
      for (int k = low + lane; k < high; k += 32) {
        const int p = wrap(k), a = a_.order[p], b = a_.order[wrap(p + 1)];
        a_.link[p] = a_.follower[a] == b || a_.follower[b] == a ? warp_lk_unbreakable : distance(a, b);
      }
    });
  }

  // ---- a lane's tentative path
  WARPTSP_FN u32 &entry(int r, int lane) const { return w_.lists[r * 32 + lane]; }
  WARPTSP_FN int locate(int lane, int count, int o) const {
    int r = 1;
WARPTSP_LOOP
    while (r < count && (int)(entry(r, lane) >> 16) <= o) r++;
    return r - 1;
  }
  // The best `Want` steps from the path's first city e at offset `first`, best first; returns how many.
  template <int Want>
  WARPTSP_FN int expand(int lane, const Root &root, int count, int e, int first, float g, Steps<Want> &best) const {
    constexpr int chunk = warp_lk_chunk, chunks = K / chunk;
    const Place from = a_.place[e];
    u64 next = a_.four_candidates(e, 0);
    int n = 0;
WARPTSP_UNROLL
    for (int j = 0; j < Want; j++) best.gain[j] = p_.tolerance;
WARPTSP_LOOP
    for (int at = 0; at < chunks; at++) {
      const u64 four = next;
      next = a_.four_candidates(e, at + 1 < chunks ? at + 1 : at);  // ahead of its use
      float g1[chunk];
      int q[chunk], o3[chunk], interval[chunk];
WARPTSP_UNROLL
      for (int k = 0; k < chunk; k++) {
        const int c = (int)(four >> 16 * k & 0xffff);
        g1[k] = g - metric_(from, a_.place[c]);
        q[k] = a_.position[c];
        o3[k] = offset(root, q[k]);
        interval[k] = 0;
      }
      if (g1[0] <= p_.tolerance) break;
WARPTSP_LOOP
      for (int r = 1; r < count; r++) {
        const int low = (int)(entry(r, lane) >> 16);
WARPTSP_UNROLL
        for (int k = 0; k < chunk; k++) interval[k] += low <= o3[k];
      }
WARPTSP_UNROLL
      for (int k = 0; k < chunk; k++) {
        const u32 at = entry(interval[k], lane);
        const int turned = -(int)(at & 1), o4 = o3[k] - 1 - 2 * turned;
        const int bound = turned ? (int)(entry(interval[k] + 1, lane) >> 16) - 1 : (int)(at >> 16);
        float gain = g1[k] + a_.link[turned == root.dir ? wrap(q[k] - 1) : q[k]];
        int step = o3[k];
        // No link is taken out that was added, nor the one at e itself.
        if (g1[k] <= p_.tolerance || o4 == first || o3[k] == bound || gain <= best.gain[Want - 1]) continue;
        if (n < Want) n++;
WARPTSP_UNROLL
        for (int j = 0; j < Want; j++)
          if (gain > best.gain[j]) {
            const float other_gain = best.gain[j];
            const int other_step = best.o3[j];
            best.gain[j] = gain, best.o3[j] = step;
            gain = other_gain, step = other_step;
          }
      }
    }
    return n;
  }
  // Everything up to t4 turned around, in place; returns the offset of t4, the new first city.
  WARPTSP_FN int turn(int lane, int &count, int o3) const {
    const int cut = locate(lane, count, o3);
    const u32 at = entry(cut, lane);
    const int rank = (at >> 8) & 0xff;
    const bool down = at & 1;  // the path runs down: t4 lies above t3
    const int o4 = down ? o3 + 1 : o3 - 1;
    entry(count + 1, lane) = (u32)a_.size << 16;
WARPTSP_LOOP
    for (int r = count - 1; r > cut; r--) entry(r + 1, lane) = turned_around(entry(r, lane), rank);
    const u32 low = at & 0xffff0000u, above = (u32)(down ? o4 : o3) << 16;
    entry(cut, lane) = low | (u32)(down ? rank + 1 : 0) << 8 | 1;
    entry(cut + 1, lane) = above | (u32)(down ? 0 : rank + 1) << 8;
WARPTSP_LOOP
    for (int r = 0; r < cut; r++) entry(r, lane) = turned_around(entry(r, lane), rank);
    count++;
    return o4;
  }
  WARPTSP_FN static u32 turned_around(u32 interval, int rank) {
    const int q = (interval >> 8) & 0xff;
    return q < rank ? (interval & 0xffff0000u) | (u32)(rank - q) << 8 | ((interval & 1) ^ 1) : interval + 0x100u;
  }
  WARPTSP_FN void first_turn(int lane, int o3) const {
    entry(0, lane) = 1;
    entry(1, lane) = (u32)o3 << 16 | 1u << 8;
    entry(2, lane) = (u32)a_.size << 16;
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
    Var<Steps<first_breadth>> firsts;
    Lanes::each([&](int lane) {
      count[lane] = 0;
      if (lane >= 2 * roots) return;
      const Root root = root_of(lane);
      const float g0 = a_.link[root.dir ? root.base : a_.position[root.t1]];
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
    Var<Steps<second_breadth>> seconds;
    Lanes::each([&](int lane) {
      closing[lane] = 0;
      count[lane] = 0;
      root[lane] = 0;
      if (batch + lane >= branches) return;
      const u32 step = w_.step_1[batch + lane];
      const float g = w_.gain_1[batch + lane];
      root[lane] = (int)(step & 0xffff);
      const Root r = root_of(root[lane]);
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
    Var<Root> ends;
    Var<bool> alive;
    Lanes::each([&](int lane) {
      found.gain[lane] = 0;
      g[lane] = 0;
      found.count[lane] = 2;
      found.root[lane] = first[lane] = 0;
      ends[lane] = Root{0, 0, 0};
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
        const Root r = ends[lane];
        const int e = a_.order[at_offset(r, first[lane])];
        const float closed = g[lane] - distance(e, r.t1);
        if (closed > p_.tolerance) {
          found.gain[lane] = closed;
          alive[lane] = false;
          return;
        }
        Steps<1> next{};
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

  // ---- writing
  struct Piece {  // in one word, so that lanes can hand it on
    u32 word;
    WARPTSP_FN static u32 of(int source, int length, bool reversed) {
      return (u32)source | (u32)length << 11 | (u32)reversed << 31;
    }
    WARPTSP_FN int source() const { return word & 0x7ff; }  // cells behind the base of the operation
    WARPTSP_FN int length() const { return word >> 11 & 0x7ff; }
    WARPTSP_FN bool reversed() const { return word >> 31; }
  };
  // Makes the best move that a lane has found. Returns its gain.
  WARPTSP_FN float make_best(const Closings &found) {
    const int winner = Lanes::argmax(found.gain);
    make(winner, Lanes::get(found.count, winner), root_of(Lanes::get(found.root, winner)));
    return Lanes::get(found.gain, winner);
  }
  // Turns a lane's list of intervals into pieces behind the one that holds the array's end, which stays in place.
  WARPTSP_FN void make(int column, int count, const Root &root) {
    Var<bool> last;
    Lanes::each([&](int lane) {
      last[lane] = false;
      if (lane >= count) return;
      const u32 interval = entry(lane, column);
      const int low = (int)(interval >> 16), rank = (interval >> 8) & 0xff;
      const int length = (int)(entry(lane + 1, column) >> 16) - low;
      const int start = at_offset(root, root.dir ? low + length - 1 : low);
      w_.start[rank] = (u16)start;
      w_.length[rank] = (u16)length;
      w_.turned[rank] = length > 1 && -(int)(interval & 1) != root.dir;
      last[lane] = start + length > a_.size;
    });
    // The link behind the array's end is unbreakable, so one interval holds both sides of it.
    const int holder = Lanes::lowest_bit(Lanes::ballot(last)), anchor = (entry(holder, column) >> 8) & 0xff;
    const bool flip = w_.turned[anchor];
    const int base = w_.start[anchor] + w_.length[anchor] - a_.size;
    Var<u32> pieces;
    Lanes::each([&](int lane) {
      pieces[lane] = 0;
      if (lane >= count - 1) return;
      int q = flip ? anchor - 1 - lane : anchor + 1 + lane;
      q += q < 0 ? count : q >= count ? -count : 0;
      pieces[lane] = Piece::of(w_.start[q] - base, w_.length[q], w_.length[q] > 1 && (bool)w_.turned[q] != flip);
    });
    commit(base, count - 1, pieces);
  }
  // Segments of a, b and c cities behind a position change places: B C D becomes D C B. Returns by how much the tour
  // gets longer, or -1e30 if one of the links may not be taken out.
  WARPTSP_FN float bridge(int at, int a, int b, int c) {
    const u16 *o = a_.order + at;
    const int d = a + b + c;
    const float l0 = a_.link[at], l1 = a_.link[at + a], l2 = a_.link[at + a + b], l3 = a_.link[at + d];
    if (l0 < 0 || l1 < 0 || l2 < 0 || l3 < 0) return warp_lk_unbreakable;
    const float added = distance(o[0], o[a + b + 1]) + distance(o[d], o[a + 1]) + distance(o[a + b], o[1]) +
                        distance(o[a], o[d + 1]);
    Var<u32> pieces;
    Lanes::each([&](int lane) {
      pieces[lane] = lane == 0 ? Piece::of(a + b, c, false) : lane == 1 ? Piece::of(a, b, false) : Piece::of(0, a, false);
    });
    logging_ = true;
    kept_low_ = kept_high_ = 0;
    hash_ = 0;
    commit(at + 1, 3, pieces);
    return added - (l0 + l1 + l2 + l3);
  }
  // Puts `count` pieces, a lane each, one behind the other from position `base` on.
  WARPTSP_FN void commit(int base, int count, const Var<u32> &pieces) {
    const u16 *cell = a_.order + base;
    Var<int> length, to;
    Var<bool> moved;
    Lanes::each([&](int lane) { length[lane] = lane < count ? Piece{pieces[lane]}.length() : 0; });
    Lanes::scan(length, to);
    Lanes::each([&](int lane) {
      const Piece piece{pieces[lane]};
      moved[lane] = lane < count && (piece.source() != to[lane] || piece.reversed());
    });
    const u32 changed = Lanes::ballot(moved);
    const int first = Lanes::lowest_bit(changed), last = Lanes::highest_bit(changed);
    const int begin = base + Lanes::get(to, first), end = base + Lanes::get(to, last) + Lanes::get(length, last);
    counters.moves++;
    counters.cells += end - begin;
    if (logging_) keep(begin, end);

    Var<u32> hash;
    Lanes::each([&](int lane) {
      if (lane < first || lane > last) return;
      const Piece piece{pieces[lane]};
      w_.tail[lane] = cell[piece.reversed() ? piece.source() : piece.source() + piece.length() - 1];
    });
    Lanes::each([&](int lane) {
      hash[lane] = 0;
      if (lane < first || lane > last) return;
      const Piece piece{pieces[lane]};
      const int low = cell[piece.source()], head = piece.reversed() ? cell[piece.source() + piece.length() - 1] : low;
      const int previous = lane == first ? a_.order[begin - 1] : w_.tail[lane - 1], tail = w_.tail[lane];
      u32 h = edge(previous, head) ^ edge(cell[piece.source() - 1], low);
      push(head);
      push(tail);
      if (lane == first) push(previous);
      if (lane == last) {
        const int next = a_.order[end];
        h ^= edge(tail, next) ^ edge(a_.order[end - 1], next);
        push(next);
      }
      hash[lane] = h;
    });
    hash_ ^= Lanes::reduce_xor(hash);
    u32 *old = (u32 *)a_.link;  // the links of these cells are measured anew at the end
    Lanes::each([&](int lane) {
WARPTSP_LOOP
      for (int k = begin + lane; k < end; k += 32) old[k] = a_.order[k];
    });
    for (int s = first; s <= last; s++) {
      if (!(changed >> s & 1)) continue;
      const Piece piece{Lanes::get(pieces, s)};
      const int target = base + Lanes::get(to, s);
      const int source = base + piece.source() + (piece.reversed() ? piece.length() - 1 : 0), step = piece.reversed() ? -1 : 1;
      Lanes::each([&](int lane) {
WARPTSP_LOOP
        for (int k = lane; k < piece.length(); k += 32) {
          const int c = (int)old[source + step * k];
          a_.order[target + k] = (u16)c;
          a_.position[c] = (u16)(target + k);
        }
      });
    }
    measure(begin - 1, end);
  }
  // Remembers the cells [low, high), and all between them and those remembered before.
  WARPTSP_FN void keep(int low, int high) {
    const bool none = kept_low_ == kept_high_;
    const int old_low = none ? low : kept_low_, old_high = none ? low : kept_high_;
    kept_low_ = low < old_low ? low : old_low;
    kept_high_ = high > old_high ? high : old_high;
    const int below = old_low - kept_low_, cells = below + kept_high_ - old_high;
    Lanes::each([&](int lane) {
WARPTSP_LOOP
      for (int k = lane; k < cells; k += 32) {
        const int p = k < below ? kept_low_ + k : old_high + k - below;
        a_.kept[p] = a_.order[p];
      }
    });
  }
  WARPTSP_FN void undo() {
    Lanes::each([&](int lane) {
WARPTSP_LOOP
      for (int p = kept_low_ + lane; p < kept_high_; p += 32) {
        const int c = a_.kept[p];
        a_.order[p] = (u16)c;
        a_.position[c] = (u16)p;
      }
    });
    measure(kept_low_ - 1, kept_high_);
  }
};

}  // namespace warptsp
