// Iterated Lin-Kernighan inside a sub-problem: a whole tour (cyclic), or paths of a tour with fixed ends.
//
// The search of one CPU thread; warp_lk.h has that of a CUDA warp. No standard library, plain arrays.
//
// The search follows Lin and Kernighan (1973) with the array representation and kicks of Applegate, Cook and
// Rohe (2003). What differs: the tour is never touched while a move is being looked for. With the link (t1, t2)
// taken out, the tour is a path from t2 to t1; a step adds (e, t3) at the path's first city e and removes
// (t3, t4), where t4 comes just before t3 on the path, so that the piece up to t4 is turned around and t4 is the
// new first city. The tentative path is a short list of intervals of the array, and only a move that
// shortens the tour is written.
//
// A link that must stay (a fixed edge, or the link between two paths of a sub-problem, which stands for the tour
// outside) has the stored length `unbreakable`: removing it never gains anything, so the inner loop needs no test.
#pragma once
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "common/metric.h"
#include "common/random.h"

namespace warptsp {

constexpr int lk_max_depth = 30;                 // exchange steps
constexpr int lk_max_intervals = 48;             // of a tentative path: at most depth + 1, padded
constexpr int lk_max_breadth = 8;
constexpr int lk_wide_levels = 5;                // levels with a breadth above 1, at most
constexpr int lk_queue_capacity = 1024;          // a power of two
constexpr int lk_log_capacity = 4096;            // words of the undo log

// Cells that a walk's double bridge may rearrange. Search writes such a stretch a dozen times to take a kick back, so
// in long arrays it would cost more than the search itself (pla85900: 30 % of the time; at 10^4 cities nothing).
WARPTSP_FN int lk_walk_span(int size) {
  const int span = 100000000 / size;
  return span > 1000 ? span : 1000;
}

struct LkParams {
  int candidates = 8;                            // K, cities in a candidate list
  int depth = 25;
  int breadth[lk_wide_levels] = {5, 3, 1, 1, 1}; // the rest: 1
  int alternate[2] = {2, 2};                     // links that close a cycle at the first step, and that open it again
  int segment = 50;                              // longest segment of a double bridge
  float long_links = 0.1f;                       // share of the kicks that cut long links
  float walks = 0.45f;                           // share of the kicks that are random walks
  int walk = 10;                                 // steps between two of a walk's four links
};

struct LkCounters {
  long long kicks = 0, accepted = 0, improved = 0, restored = 0, refused = 0;
  long long evaluations = 0, steps = 0, moves = 0, cells = 0;

  WARPTSP_FN LkCounters &operator+=(const LkCounters &c) {
    kicks += c.kicks, accepted += c.accepted, improved += c.improved, restored += c.restored, refused += c.refused;
    evaluations += c.evaluations, steps += c.steps, moves += c.moves, cells += c.cells;
    return *this;
  }
};

// The arrays of a sub-problem of `size` cities. Cities and positions are numbered from 0.
template <class Index, class Value>
struct LkArrays {
  int size;
  Index *order;            // [size] city at a position
  Index *position;         // [size] position of a city
  Value *link;             // [size] length of the link from a position to the next, or unbreakable
  Index *path;             // [size] number of a city's path, ascending along the array; null for a whole tour
  const Index *candidates; // [size, K] nearest first
  const Value *lengths;    // [size, K] distance to each candidate; padding holds the largest Value
  Index *scratch;          // [size]
  Value *link_scratch;     // [size]
  unsigned char *queued;   // [size] zero at rest
};

template <class Value>
struct LkLimits;
template <>
struct LkLimits<int> {
  static constexpr int unbreakable = -(1 << 30), padding = 1 << 30;
};
template <>
struct LkLimits<double> {
  static constexpr double unbreakable = -1e300, padding = 1e300;
};

template <class Metric, class Index, bool Paths>
class LinKernighan {
 public:
  typedef typename Metric::Value Value;

  // `tolerance`: a gain must exceed it (0 for integers; above rounding noise for floating point).
  LinKernighan(const Metric &metric, const LkArrays<Index, Value> &arrays, const LkParams &params, Value tolerance)
      : metric_(metric), a_(arrays), p_(params), tolerance_(tolerance) {}

  LkCounters counters;

  // Local search from the cities [begin, end), by number: positions change meanwhile. Returns the gain.
  double optimize(int begin, int end) {
    double gain = 0;
    logging_ = false;
    for (int c = begin; c < end; c++) {
      push(c);
      gain += drain();
    }
    return gain;
  }

  // One kick near `city`, local search from its ends, and the result kept if it is longer by no more than
  // `allowance`, else taken back. Returns the gain (negative for a loss kept).
  //
  // A kick is a double bridge that changes four links (three would be undone at once), of one of three kinds:
  // three consecutive segments of random lengths; links met on a random walk along candidates, which leads to
  // other strands of the tour; or long links that follow each other on the tour, which reorders whole clusters.
  // docs/performance has what each is worth.
  double kick(int city, Random &random, double allowance) {
    const float kind = random.unit();
    if (kind <= p_.long_links) return kick_long_links(city, random, allowance);
    if (kind <= p_.long_links + p_.walks) return kick_walk(city, random, allowance);
    const int a = 1 + random.below(p_.segment), b = 1 + random.below(p_.segment), c = 1 + random.below(p_.segment);
    return kick_segments(a_.position[city], a, b, c, allowance);
  }

 private:
  // Each of the four links is the longest of a few drawn from the stretch behind the one before.
  double kick_long_links(int city, Random &random, double allowance) {
    constexpr int stretch = 300, draws = 20;
    const int reach = 5 * stretch < a_.size ? stretch : a_.size / 5;
    const int from = a_.position[city];
    int cut[4], end = 0;
    for (int q = 0; q < 4; q++) {
      int longest = 1;
      Value length = -1;
      for (int k = 0; k < draws; k++) {
        const int o = 1 + random.below(reach);
        const Value l = a_.link[wrap(from + end + o)];
        if (l > length) length = l, longest = o;
      }
      cut[q] = end += longest;
    }
    return kick_segments(wrap(from + cut[0]), cut[1] - cut[0], cut[2] - cut[1], cut[3] - cut[2], allowance);
  }

  double kick_walk(int city, Random &random, double allowance) {
    int cut[4];
    for (int q = 0; q < 4; q++) {
      int r = q;
      for (const int p = a_.position[city]; ; r--) {
        if (r == 0 || cut[r - 1] <= p) {
          cut[r] = p;
          break;
        }
        cut[r] = cut[r - 1];
      }
      for (int k = 0; k < p_.walk; k++) {
        const int next = a_.candidates[(long long)city * p_.candidates + random.below(p_.candidates)];
        if (next >= 0) city = next;
      }
    }
    if (cut[0] == cut[1] || cut[1] == cut[2] || cut[2] == cut[3]) {
      counters.refused++;
      return 0;
    }
    int first = 0;
    if (!Paths) {  // the longest of the four pieces stays where it is
      int longest = cut[0] + a_.size - cut[3];
      for (int q = 0; q < 3; q++)
        if (cut[q + 1] - cut[q] > longest) longest = cut[q + 1] - cut[q], first = q + 1;
    }
    int length[3];
    for (int q = 0; q < 3; q++) {
      length[q] = cut[(first + q + 1) & 3] - cut[(first + q) & 3];
      if (length[q] < 0) length[q] += a_.size;
    }
    if (length[0] + length[1] + length[2] > lk_walk_span(a_.size)) {
      counters.refused++;
      return 0;
    }
    return kick_segments(cut[first], length[0], length[1], length[2], allowance);
  }

 public:
  // Exchanges the first and the third of three segments of a, b and c cities behind position `at`.
  double kick_segments(int at, int a, int b, int c, double allowance) {
    const int n = a_.size;
    while (a + b + c + 1 >= n) {
      a = (a + 1) / 2, b = (b + 1) / 2, c = (c + 1) / 2;
      if (a + b + c == 3) break;
    }
    Value loss;
    if (a + b + c + 1 >= n || !bridge(at, a, b, c, loss)) {
      counters.refused++;
      return 0;
    }
    logging_ = true;
    log_size_ = 0;
    log_full_ = false;
    edges_ = 0;
    if (!write()) {
      counters.refused++;
      return 0;
    }
    // Adding up in floating point in one fixed order keeps the sum repeatable; integers are exact anyway.
    double change = (double)loss;
    change -= drain();
    counters.kicks++;
    if (edges_ == 0) {  // local search took the kick back, link for link
      counters.restored++;
      return 0;
    }
    if (change > allowance) {
      undo();
      return 0;
    }
    counters.accepted++;
    if (change < 0) counters.improved++;
    return -change;
  }

  WARPTSP_FN Value distance(int a, int b) const { return metric_(a, b); }

 private:
  struct Step {
    Value gain;       // of the path so far, before closing
    int o3, o4, interval;
  };
  // A tentative path: intervals of offsets in ascending order, each with its rank on the path and its direction.
  struct alignas(32) Path {
    int low[lk_max_intervals];     // interval r is [low[r], low[r + 1]); padded with size to a multiple of 8
    int rank[lk_max_intervals];    // 0: the path starts with it
    int turned[lk_max_intervals];  // 0, or -1 if the path runs through it from high to low
    int intervals;
    int first;                     // offset of the path's first city
  };
  struct Piece {
    int source, length;  // cells, relative to the base of the operation
    int reversed, path;  // path: the number its cities take over, or -1
  };

  Metric metric_;
  LkArrays<Index, Value> a_;
  LkParams p_;
  Value tolerance_;

  Path paths_[lk_wide_levels + 2];
  Step steps_[lk_wide_levels][lk_max_breadth];
  int direction_ = 0, base_ = 0;      // the path starts at array position base_ and runs in direction_ (0 or -1: a mask)
  int pieces_ = 0, piece_base_ = 0;   // the operation that write() performs
  Piece piece_[lk_max_intervals];
  Index queue_[lk_queue_capacity];
  int queue_head_ = 0, queue_size_ = 0;
  bool logging_ = false, log_full_ = false;
  int log_[lk_log_capacity], log_size_ = 0;
  u64 edges_ = 0;                     // of the links that changed since the kick: 0 when none remains

  WARPTSP_FN int wrap(int p) const { return p >= a_.size ? p - a_.size : p < 0 ? p + a_.size : p; }
  WARPTSP_FN int offset(int position) const {
    int o = ((position - base_) ^ direction_) - direction_;
    return o < 0 ? o + a_.size : o;
  }
  WARPTSP_FN int at_offset(int o) const { return wrap(base_ + ((o ^ direction_) - direction_)); }
  WARPTSP_FN int city(int o) const { return a_.order[at_offset(o)]; }

  WARPTSP_FN static u64 edge(int a, int b) {
    const u64 low = a < b ? a : b, high = a < b ? b : a;
    return mix64((low << 32 | high) + 0x9e3779b97f4a7c15ull);
  }

  // ---- the queue of cities to search from
  WARPTSP_FN void push(int c) {
    if (a_.queued[c] || queue_size_ == lk_queue_capacity) return;
    a_.queued[c] = 1;
    queue_[(queue_head_ + queue_size_++) & (lk_queue_capacity - 1)] = (Index)c;
  }
  WARPTSP_FN int pop() {
    const int c = queue_[queue_head_];
    queue_head_ = (queue_head_ + 1) & (lk_queue_capacity - 1);
    queue_size_--;
    a_.queued[c] = 0;
    return c;
  }
  // Searches until the queue is empty, the tour is what it was before the kick, or the undo log is full.
  double drain() {
    double gain = 0;
    while (queue_size_ > 0) {
      gain += (double)improve(pop());
      if (logging_ && (edges_ == 0 || log_full_))
        while (queue_size_ > 0) pop();
    }
    return gain;
  }

  // ---- the tentative path
  WARPTSP_FN void begin(Path &path) const {
    path.low[0] = 0;
    for (int r = 1; r < 8; r++) path.low[r] = a_.size;
    path.rank[0] = path.turned[0] = path.first = 0;
    path.intervals = 1;
  }
  // The interval that holds an offset.
  WARPTSP_FN static int locate(const Path &path, int o) {
#if defined(__SSE2__)
    // The bounds ascend, so the comparison is a run of ones: its length is the answer. Two instructions for four.
    const __m128i v = _mm_set1_epi32(o);
    for (int r = 0;; r += 8) {
      const __m128i low = _mm_cmpgt_epi32(_mm_load_si128((const __m128i *)(path.low + r)), v);
      const __m128i high = _mm_cmpgt_epi32(_mm_load_si128((const __m128i *)(path.low + r + 4)), v);
      const int above = _mm_movemask_ps(_mm_castsi128_ps(low)) | _mm_movemask_ps(_mm_castsi128_ps(high)) << 4;
      if (above) return r + __builtin_ctz((unsigned)above) - 1;
    }
#else
    int r = 1;
    while (r < path.intervals && path.low[r] <= o) r++;
    return r - 1;
#endif
  }
  // The path after a step: everything up to t4 turned around, so that t4 is its first city.
  WARPTSP_FN void turn(const Path &from, const Step &step, Path &to) const {
    const int cut = step.interval, rank = from.rank[cut], m = from.intervals;
    for (int r = 0; r < cut; r++) {
      const int q = from.rank[r];
      to.low[r] = from.low[r];
      to.rank[r] = q < rank ? rank - q : q + 1;
      to.turned[r] = q < rank ? ~from.turned[r] : from.turned[r];
    }
    const int down = from.turned[cut];  // the path runs down: t4 lies above t3
    to.low[cut] = from.low[cut];
    to.low[cut + 1] = down ? step.o4 : step.o3;
    to.rank[cut] = down ? rank + 1 : 0;
    to.rank[cut + 1] = down ? 0 : rank + 1;
    to.turned[cut] = -1;
    to.turned[cut + 1] = 0;
    for (int r = cut + 1; r < m; r++) {
      const int q = from.rank[r];
      to.low[r + 1] = from.low[r];
      to.rank[r + 1] = q < rank ? rank - q : q + 1;
      to.turned[r + 1] = q < rank ? ~from.turned[r] : from.turned[r];
    }
    to.intervals = m + 1;
    for (int r = m + 1; r & 7; r++) to.low[r] = a_.size;
    if (((m + 1) & 7) == 0)
      for (int r = m + 1; r < m + 9; r++) to.low[r] = a_.size;
    to.first = step.o4;
  }

  // The best `want` steps from the path's first city e, best first, into `best`; returns how many.
  WARPTSP_FN int expand(const Path &path, int e, Value g, int want, Step *best) const {
    const Index *cities = a_.candidates + (long long)e * p_.candidates;
    const Value *lengths = a_.lengths + (long long)e * p_.candidates;
    int n = 0;
    for (int k = 0; k < p_.candidates; k++) {
      const Value g1 = g - lengths[k];
      if (g1 <= tolerance_) break;
      const int q = a_.position[cities[k]];
      const Value before = a_.link[q > 0 ? q - 1 : a_.size - 1], after = a_.link[q];
      if (n == want && g1 + (before > after ? before : after) <= best[n - 1].gain) continue;
      const int o3 = offset(q), i = locate(path, o3), turned = path.turned[i];
      const int o4 = o3 - 1 - 2 * turned;  // before it on the path
      // No link is taken out that was added (t3 is the first of its interval), nor the one at e itself.
      if (o4 == path.first || (turned ? o4 == path.low[i + 1] : o3 == path.low[i])) continue;
      const Value gain = g1 + (turned == direction_ ? before : after);
      if (gain <= tolerance_) continue;  // unbreakable
      insert(Step{gain, o3, o4, i}, want, best, n);
    }
    return n;
  }

  // ---- one search: returns what the tour got shorter by, 0 for nothing
  Value improve(int t1) {
    counters.evaluations++;
    for (int side = 0; side < 2; side++) {
      direction_ = -side;
      const int p1 = a_.position[t1];
      base_ = wrap(p1 + 1 - 2 * side);
      const Value g0 = a_.link[side ? base_ : p1];
      if (g0 <= tolerance_) continue;
      const Value gain = search(t1, a_.order[base_], g0);
      if (gain > tolerance_) return gain;
    }
    return 0;
  }

  Value search(int t1, int t2, Value g0) {
    int count[lk_wide_levels], next[lk_wide_levels];
    begin(paths_[0]);
    int level = 0;
    count[0] = expand(paths_[0], t2, g0, p_.breadth[0], steps_[0]);
    next[0] = 0;
    while (level >= 0) {
      if (next[level] == count[level]) {
        level--;
        continue;
      }
      const Step step = steps_[level][next[level]++];
      counters.steps++;
      int e = city(step.o4);
      const Value closed = step.gain - metric_(e, t1);
      Path &list = paths_[level + 1];
      const bool shorter = closed > tolerance_;
      const bool deeper = step.gain - a_.lengths[(long long)e * p_.candidates] > tolerance_;
      if (!shorter && !deeper) continue;
      turn(paths_[level], step, list);
      if (shorter && arrange(list)) return write() ? closed : 0;
      if (!deeper || level + 1 >= p_.depth) continue;
      if (level + 1 < lk_wide_levels && p_.breadth[level + 1] > 1) {
        level++;
        count[level] = expand(list, e, step.gain, p_.breadth[level], steps_[level]);
        next[level] = 0;
        continue;
      }
      const Value gain = follow(t1, level + 1, e, step.gain);
      if (gain > tolerance_) return gain;
    }
    return alternate(t1, t2, g0);
  }

  // From the path paths_[level], which begins with city e, on only the best step is followed.
  Value follow(int t1, int level, int e, Value g) {
    for (int depth = level, from = level; depth < p_.depth; depth++, from ^= level ^ (level + 1)) {
      Step only{};
      if (!expand(paths_[from], e, g, 1, &only)) break;
      counters.steps++;
      e = city(only.o4);
      g = only.gain;
      Path &to = paths_[from ^ level ^ (level + 1)];
      const Value closed = g - metric_(e, t1);
      turn(paths_[from], only, to);
      if (closed > tolerance_ && arrange(to)) return write() ? closed : 0;
      if (g - a_.lengths[(long long)e * p_.candidates] <= tolerance_) break;
    }
    return 0;
  }

  // The other first step: t4 comes just after t3, so that (t2, t3) closes a cycle. A link (t5, t6) of the cycle
  // opens it again: the piece t2..t3 is then rotated, and turned around or not, before t4.
  Value alternate(int t1, int t2, Value g0) {
    Step cycles[lk_max_breadth], best[lk_max_breadth];
    const int cycle_count = close_cycle(t2, g0, p_.alternate[0], cycles);
    for (int c = 0; c < cycle_count; c++) {
      const int o3 = cycles[c].o3;
      const int count = open_cycle(cycles[c], p_.alternate[1], best);
      for (int k = 0; k < count; k++) {
        const Step &step = best[k];
        counters.steps++;
        const int e = city(step.o4);
        const Value closed = step.gain - metric_(e, t1);
        const bool shorter = closed > tolerance_;
        const bool deeper = step.gain - a_.lengths[(long long)e * p_.candidates] > tolerance_;
        if (!shorter && !deeper) continue;
        Path &path = paths_[0];
        const bool up = step.o4 > step.o3;
        path.low[0] = 0;
        path.low[1] = up ? step.o4 : step.o3;
        path.low[2] = o3 + 1;
        for (int r = 3; r < 8; r++) path.low[r] = a_.size;
        path.rank[0] = up;
        path.rank[1] = !up;
        path.rank[2] = 2;
        path.turned[0] = path.turned[1] = up ? 0 : -1;
        path.turned[2] = 0;
        path.intervals = 3;
        path.first = step.o4;
        if (shorter && arrange(path)) return write() ? closed : 0;
        if (!deeper) continue;
        const Value gain = follow(t1, 0, e, step.gain);
        if (gain > tolerance_) return gain;
      }
    }
    return 0;
  }
  // The best `want` links (t3, t4) with t4 just after t3 on the path from t2 = e, best first.
  WARPTSP_FN int close_cycle(int e, Value g, int want, Step *best) const {
    const Index *cities = a_.candidates + (long long)e * p_.candidates;
    const Value *lengths = a_.lengths + (long long)e * p_.candidates;
    int n = 0;
    for (int k = 0; k < p_.candidates; k++) {
      const Value g1 = g - lengths[k];
      if (g1 <= tolerance_) break;
      const int q = a_.position[cities[k]];
      const Value gain = g1 + a_.link[direction_ ? (q > 0 ? q - 1 : a_.size - 1) : q];
      const int o3 = offset(q);
      if (gain <= tolerance_ || o3 < 2 || o3 == a_.size - 1) continue;
      insert(Step{gain, o3, o3 + 1, 0}, want, best, n);
    }
    return n;
  }
  // The best `want` links (t5, t6) of the cycle that `cycle` closed, as o3 and o4 of a step.
  WARPTSP_FN int open_cycle(const Step &cycle, int want, Step *best) const {
    const int e = city(cycle.o4);
    const Index *cities = a_.candidates + (long long)e * p_.candidates;
    const Value *lengths = a_.lengths + (long long)e * p_.candidates;
    int n = 0;
    for (int k = 0; k < p_.candidates; k++) {
      const Value g1 = cycle.gain - lengths[k];
      if (g1 <= tolerance_) break;
      const int q = a_.position[cities[k]], o5 = offset(q);
      if (o5 >= cycle.o3) continue;
      const Value before = a_.link[q > 0 ? q - 1 : a_.size - 1], after = a_.link[q];
      const Value up = g1 + (direction_ ? before : after), down = g1 + (direction_ ? after : before);
      if (up > tolerance_) insert(Step{up, o5, o5 + 1, 0}, want, best, n);
      if (o5 > 0 && down > tolerance_) insert(Step{down, o5, o5 - 1, 0}, want, best, n);
    }
    return n;
  }
  WARPTSP_FN static void insert(const Step &step, int want, Step *best, int &n) {
    if (n == want) {
      if (step.gain <= best[n - 1].gain) return;
    } else {
      n++;
    }
    int r = n - 1;
    while (r > 0 && best[r - 1].gain < step.gain) {
      best[r] = best[r - 1];
      r--;
    }
    best[r] = step;
  }

  // ---- from a list of intervals to an operation on the array: pieces that follow the anchor, which stays in place.
  // False if a path of the sub-problem would lose an end, or the paths their order.
  bool arrange(const Path &path) {
    const int m = path.intervals;
    int start[lk_max_intervals], size[lk_max_intervals], turned[lk_max_intervals];  // in path order
    int anchor = 0, longest = -1;
    for (int r = 0; r < m; r++) {
      const int q = path.rank[r], low = path.low[r], length = path.low[r + 1] - low;
      size[q] = length;
      start[q] = at_offset(direction_ ? low + length - 1 : low);
      turned[q] = length > 1 && path.turned[r] != direction_;
      if (Paths) {
        // The piece that holds the array's end (or else begins the array) never moves.
        if (start[q] + length > a_.size || (start[q] + length == a_.size && longest < 0)) {
          anchor = q;
          longest = start[q] + length > a_.size ? 1 : 0;
        }
      } else if (length > longest) {
        longest = length;
        anchor = q;
      }
    }
    const int flip = turned[anchor];
    piece_base_ = start[anchor] + size[anchor];
    if (piece_base_ >= a_.size) piece_base_ -= a_.size;
    pieces_ = 0;
    int current = Paths ? (int)a_.path[a_.order[wrap(piece_base_ - 1)]] : 0;
    for (int s = 1; s < m; s++) {
      int q = flip ? anchor - s : anchor + s;
      if (q < 0) q += m;
      if (q >= m) q -= m;
      const int length = size[q];
      Piece &piece = piece_[pieces_++];
      piece.source = wrap(start[q] - piece_base_);
      piece.length = length;
      piece.reversed = length > 1 && (turned[q] != flip);
      piece.path = -1;
      if (Paths) {
        const int low = a_.path[a_.order[start[q]]], high = a_.path[a_.order[wrap(start[q] + length - 1)]];
        if (low != high) {
          if (piece.reversed || low != current) return false;
          current = high;
        } else if (low != current) {
          piece.path = current;
        }
      }
    }
    return !Paths || current == (int)a_.path[a_.order[start[anchor]]];
  }

  // Segments of a, b and c cities behind a position change places: B C D becomes D C B. Four links change.
  bool bridge(int at, int a, int b, int c, Value &loss) {
    const int cut[4] = {at, wrap(at + a), wrap(at + a + b), wrap(at + a + b + c)};
    Value removed = 0;
    for (int q = 0; q < 4; q++) {
      const Value l = a_.link[cut[q]];
      if (l < 0) return false;
      removed += l;
    }
    if (Paths && at + a + b + c + 1 >= a_.size) return false;
    piece_base_ = wrap(at + 1);
    pieces_ = 3;
    piece_[0] = Piece{a + b, c, 0, -1};
    piece_[1] = Piece{a, b, 0, -1};
    piece_[2] = Piece{0, a, 0, -1};
    if (Paths) {
      int current = a_.path[a_.order[at]];
      for (int q = 0; q < 3; q++) {
        const int s = piece_base_ + piece_[q].source;
        const int low = a_.path[a_.order[s]], high = a_.path[a_.order[s + piece_[q].length - 1]];
        if (low != high) {
          if (low != current) return false;
          current = high;
        } else if (low != current) {
          piece_[q].path = current;
        }
      }
      if (current != (int)a_.path[a_.order[cut[3] + 1]]) return false;
    }
    const Index *o = a_.order;
    const int b0 = o[cut[0]], b1 = o[wrap(cut[0] + 1)], c0 = o[cut[1]], c1 = o[wrap(cut[1] + 1)], d0 = o[cut[2]],
              d1 = o[wrap(cut[2] + 1)], e0 = o[cut[3]], e1 = o[wrap(cut[3] + 1)];
    loss = metric_(b0, d1) + metric_(e0, c1) + metric_(d0, b1) + metric_(c0, e1) - removed;
    return true;
  }

  // ---- writes the operation to the array, logs it, and queues the ends of what moved
  // False, with nothing written, if the undo log has no room left.
  bool write() {
    int first = 0, last = pieces_, begin = 0, end = 0;
    for (int q = 0; q < pieces_; q++) end += piece_[q].length;
    while (first < last && piece_[first].source == begin && !piece_[first].reversed && piece_[first].path < 0)
      begin += piece_[first++].length;
    while (last > first && piece_[last - 1].source + piece_[last - 1].length == end && !piece_[last - 1].reversed &&
           piece_[last - 1].path < 0)
      end -= piece_[--last].length;
    if (logging_) {
      if (log_size_ + 4 * (last - first) + 3 > lk_log_capacity) {
        log_full_ = true;
        return false;
      }
      for (int q = first; q < last; q++) {
        log_[log_size_++] = piece_[q].source - begin;
        log_[log_size_++] = piece_[q].length;
        log_[log_size_++] = piece_[q].reversed;
        log_[log_size_++] = Paths && piece_[q].path >= 0 ? (int)a_.path[city_of(piece_[q].source)] : -1;
      }
      log_[log_size_++] = wrap(piece_base_ + begin);
      log_[log_size_++] = end - begin;
      log_[log_size_++] = last - first;
    }
    const int base = wrap(piece_base_ + begin), cells = end - begin;
    for (int q = first; q < last; q++) piece_[q].source -= begin;
    counters.moves++;
    counters.cells += cells;
    move_cells(base, cells, piece_ + first, last - first, true);
    return true;
  }
  WARPTSP_FN int city_of(int cell) const { return a_.order[wrap(piece_base_ + cell)]; }

  // Takes back every operation since the kick, last first.
  void undo() {
    while (log_size_ > 0) {
      const int count = log_[log_size_ - 1], cells = log_[log_size_ - 2], base = log_[log_size_ - 3];
      log_size_ -= 3 + 4 * count;
      // The inverse operation: the pieces in the order in which they stood, each found where it went.
      int cell = 0;
      pieces_ = 0;
      for (int q = 0; q < count; q++) {
        const int *l = log_ + log_size_ + 4 * q;
        int r = pieces_++;  // sorted by where the piece came from; stored in path for now
        Piece piece{cell, l[1], l[2], l[3]};
        origin_[r] = l[0];
        while (r > 0 && origin_[r - 1] > l[0]) {
          piece_[r] = piece_[r - 1];
          origin_[r] = origin_[r - 1];
          r--;
        }
        piece_[r] = piece;
        origin_[r] = l[0];
        cell += l[1];
      }
      counters.cells += cells;
      move_cells(base, cells, piece_, count, false);
    }
  }
  int origin_[lk_max_intervals];

  // Rearranges `cells` cells from array position `base` on: piece by piece, sources relative to base.
  void move_cells(int base, int cells, const Piece *piece, int count, bool track) {
    const int n = a_.size;
    Index *order = a_.order, *scratch = a_.scratch;
    Value *link = a_.link, *link_scratch = a_.link_scratch;
    // scratch[k] = the city at cell k, link_scratch[k] = the link behind it
    if (base + cells <= n) {
      for (int k = 0; k < cells; k++) scratch[k] = order[base + k];
      for (int k = 0; k < cells; k++) link_scratch[k] = link[base + k];
    } else {
      for (int k = 0; k < cells; k++) {
        const int p = wrap(base + k);
        scratch[k] = order[p];
        link_scratch[k] = link[p];
      }
    }
    const int before = wrap(base - 1), outside_left = order[before], outside_right = order[wrap(base + cells)];
    u64 changed = 0;
    if (track) changed = edge(scratch[cells - 1], outside_right);
    int to = 0, previous = outside_left, link_at = before;
    for (int q = 0; q < count; q++) {
      const int source = piece[q].source, length = piece[q].length;
      const bool reversed = piece[q].reversed;
      if (source != to || reversed) {
        if (base + cells <= n) {
          Index *o = order + base + to;
          Value *l = link + base + to;
          if (reversed) {
            for (int k = 0; k < length; k++) {
              const int c = scratch[source + length - 1 - k];
              o[k] = (Index)c;
              a_.position[c] = (Index)(base + to + k);
              if (k + 1 < length) l[k] = link_scratch[source + length - 2 - k];
            }
          } else {
            for (int k = 0; k < length; k++) {
              const int c = scratch[source + k];
              o[k] = (Index)c;
              a_.position[c] = (Index)(base + to + k);
              l[k] = link_scratch[source + k];
            }
          }
        } else {
          for (int k = 0; k < length; k++) {
            const int from = reversed ? source + length - 1 - k : source + k, c = scratch[from];
            const int p = wrap(base + to + k);
            order[p] = (Index)c;
            a_.position[c] = (Index)p;
            if (k + 1 < length) link[p] = link_scratch[reversed ? from - 1 : from];
          }
        }
      }
      if (Paths && piece[q].path >= 0)
        for (int k = 0; k < length; k++) a_.path[scratch[source + k]] = (Index)piece[q].path;
      const int low = scratch[source], high = scratch[source + length - 1];
      const int head = reversed ? high : low, tail = reversed ? low : high;
      join(link_at, previous, head, source == 0 ? outside_left : scratch[source - 1], low,
           source == 0 ? -1 : source - 1, reversed, changed, track);
      previous = tail;
      to += length;
      link_at = wrap(base + to - 1);
      if (track) {
        push(head);
        push(tail);
      }
    }
    // the link to what follows
    {
      const Value kept = previous == scratch[cells - 1] ? link_scratch[cells - 1] : (Value)0;
      if (previous == scratch[cells - 1]) {
        link[link_at] = kept;
      } else {
        link[link_at] = metric_(previous, outside_right);
      }
      changed ^= edge(previous, outside_right);
    }
    if (track) {
      push(outside_left);
      push(outside_right);
      edges_ ^= changed;
    }
  }
  // The link from `previous` to `head`, at array position link_at; (old, low) was the link into the piece's lower end.
  WARPTSP_FN void join(int link_at, int previous, int head, int old, int low, int old_cell, bool reversed,
                       u64 &changed, bool track) {
    if (!reversed && previous == old) {
      if (old_cell >= 0) a_.link[link_at] = a_.link_scratch[old_cell];
      // else: the link from outside, untouched
    } else {
      a_.link[link_at] = metric_(previous, head);
    }
    if (track) changed ^= edge(previous, head) ^ edge(old, low);
  }
};

}  // namespace warptsp
