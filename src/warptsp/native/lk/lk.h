// Iterated Lin-Kernighan inside a sub-problem: a whole tour (cyclic), or paths of a tour with fixed ends.
//
// The search of one CPU thread; warp_lk.h has that of a CUDA warp. No standard library, plain arrays.
//
// The search follows Lin and Kernighan (1973) with the array representation and kicks of Applegate, Cook and
// Rohe (2003). What differs: the tour is never touched while a move is being sought. With the edge (t1, t2)
// taken out, the tour is a path from t2 to t1; a step adds (e, t3) at the path's first city e and removes
// (t3, t4), where t4 comes just before t3 on the path, so that the piece up to t4 is turned around and t4 is the
// new first city. The tentative path is a short list of intervals of the array, and only a move that
// shortens the tour is written.
//
// An edge that must stay (a fixed edge, or the edge between two paths of a sub-problem, which stands for the tour
// outside) has the stored length `unbreakable`: removing it never gains anything, so the inner loop needs no test.
#pragma once
#include "lk/array_writer.h"
#include "lk/kicks.h"

namespace warptsp::lk {

template <class Metric, bool Paths>
class LinKernighan : public ArrayWriter<Metric, Paths> {
  typedef ArrayWriter<Metric, Paths> Writer;

 public:
  using typename Writer::Value;
  using Writer::counters;

  // `tolerance`: a gain must exceed it (0 for integers; above rounding noise for floating point).
  LinKernighan(const Metric &metric, const LkArrays<Value> &arrays, const LkParams &params, Value tolerance)
      : Writer(metric, arrays), p_(params), tolerance_(tolerance) {}

  // Local search from the cities [begin, end), by number: positions change meanwhile. Returns the gain. `put_off`: from
  // those alone that have been put off, which they are no longer then.
  double optimize(int begin, int end, bool put_off = false) {
    double gain = 0;
    logging_ = false;
    for (int c = begin; c < end; c++) {
      if (put_off && !(a_.queued[c] & lk_put_off)) continue;
      a_.queued[c] &= (unsigned char)~lk_put_off;
      push(c);
      gain += drain();
    }
    return gain;
  }

  // One kick near `city`, local search from its ends, and the result kept if it is longer by no more than
  // `allowance`, else taken back. Returns the gain (negative for a loss kept).
  double kick(int city, Random &random, double allowance) {
    const float kind = random.unit();
    DoubleBridge cuts;
    if (kind <= p_.kicks.long_links) {
      cuts = bridge_of_long_edges(a_, city, random);
    } else if (kind > p_.kicks.long_links + p_.kicks.walks) {
      const int a = 1 + random.below(p_.kicks.segment), b = 1 + random.below(p_.kicks.segment),
                c = 1 + random.below(p_.kicks.segment);
      cuts = {a_.position[city], a, b, c};
    } else if (!bridge_of_walk<Paths>(a_, p_, city, random, cuts)) {
      counters.refused++;
      return 0;
    }
    return kick_segments(cuts.at, cuts.a, cuts.b, cuts.c, allowance);
  }

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
    if (edges_ == 0) {  // local search took the kick back, edge for edge
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
  typedef LkStep<Value> Step;

  using Writer::a_;
  using Writer::arrange;
  using Writer::base_;
  using Writer::beyond_;
  using Writer::bridge;
  using Writer::city;
  using Writer::direction_;
  using Writer::edges_;
  using Writer::log_full_;
  using Writer::log_size_;
  using Writer::logging_;
  using Writer::metric_;
  using Writer::offset;
  using Writer::pop;
  using Writer::push;
  using Writer::queue_size_;
  using Writer::undo;
  using Writer::wrap;
  using Writer::write;

  LkParams p_;
  Value tolerance_;
  TentativePath paths_[lk_wide_levels + 2];
  Step steps_[lk_wide_levels][lk_max_breadth];

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

  // The best `want` steps from the path's first city e, best first, into `best`; returns how many.
  WARPTSP_FN int expand(const TentativePath &path, int e, Value g, int want, Step *best) const {
    const int *cities = a_.candidates + (long long)e * p_.candidates;
    const Value *lengths = a_.lengths + (long long)e * p_.candidates;
    int n = 0;
    for (int k = 0; k < p_.candidates; k++) {
      const Value g1 = g - lengths[k];
      if (g1 <= tolerance_) break;
      const int q = a_.position[cities[k]];
      const Value before = a_.edge[q > 0 ? q - 1 : a_.size - 1], after = a_.edge[q];
      if (n == want && g1 + (before > after ? before : after) <= best[n - 1].gain) continue;
      const int o3 = offset(q), i = path.locate(o3), turned = path.turned[i];
      const int o4 = o3 - 1 - 2 * turned;  // before it on the path
      // No edge is taken out that was added (t3 is the first of its interval), nor the one at e itself.
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
    beyond_ = false;
    for (int side = 0; side < 2; side++) {
      direction_ = -side;
      const int p1 = a_.position[t1];
      base_ = wrap(p1 + 1 - 2 * side);
      const Value g0 = a_.edge[side ? base_ : p1];
      if (g0 <= tolerance_) continue;
      const Value gain = search(t1, a_.order[base_], g0);
      if (gain > tolerance_) return gain;
    }
    if (beyond_) a_.queued[t1] |= lk_put_off;
    return 0;
  }

  Value search(int t1, int t2, Value g0) {
    int count[lk_wide_levels], next[lk_wide_levels];
    paths_[0].begin(a_.size);
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
      TentativePath &list = paths_[level + 1];
      const bool shorter = closed > tolerance_;
      const bool deeper = step.gain - a_.lengths[(long long)e * p_.candidates] > tolerance_;
      if (!shorter && !deeper) continue;
      list.set_after(paths_[level], step, a_.size);
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
      TentativePath &to = paths_[from ^ level ^ (level + 1)];
      const Value closed = g - metric_(e, t1);
      to.set_after(paths_[from], only, a_.size);
      if (closed > tolerance_ && arrange(to)) return write() ? closed : 0;
      if (g - a_.lengths[(long long)e * p_.candidates] <= tolerance_) break;
    }
    return 0;
  }

  // The other first step: t4 comes just after t3, so that (t2, t3) closes a cycle. An edge (t5, t6) of the cycle
  // opens it again: the piece t2..t3 is then rotated, and turned around or not, before t4.
  Value alternate(int t1, int t2, Value g0) {
    if (p_.alternate[0] == 0) return 0;
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
        TentativePath &path = paths_[0];
        path.rotate(o3, step.o3, step.o4, a_.size);
        if (shorter && arrange(path)) return write() ? closed : 0;
        if (!deeper) continue;
        const Value gain = follow(t1, 0, e, step.gain);
        if (gain > tolerance_) return gain;
      }
    }
    return 0;
  }
  // The best `want` edges (t3, t4) with t4 just after t3 on the path from t2 = e, best first.
  WARPTSP_FN int close_cycle(int e, Value g, int want, Step *best) const {
    const int *cities = a_.candidates + (long long)e * p_.candidates;
    const Value *lengths = a_.lengths + (long long)e * p_.candidates;
    int n = 0;
    for (int k = 0; k < p_.candidates; k++) {
      const Value g1 = g - lengths[k];
      if (g1 <= tolerance_) break;
      const int q = a_.position[cities[k]];
      const Value gain = g1 + a_.edge[direction_ ? (q > 0 ? q - 1 : a_.size - 1) : q];
      const int o3 = offset(q);
      if (gain <= tolerance_ || o3 < 2 || o3 == a_.size - 1) continue;
      insert(Step{gain, o3, o3 + 1, 0}, want, best, n);
    }
    return n;
  }
  // The best `want` edges (t5, t6) of the cycle that `cycle` closed, as o3 and o4 of a step.
  WARPTSP_FN int open_cycle(const Step &cycle, int want, Step *best) const {
    const int e = city(cycle.o4);
    const int *cities = a_.candidates + (long long)e * p_.candidates;
    const Value *lengths = a_.lengths + (long long)e * p_.candidates;
    int n = 0;
    for (int k = 0; k < p_.candidates; k++) {
      const Value g1 = cycle.gain - lengths[k];
      if (g1 <= tolerance_) break;
      const int q = a_.position[cities[k]], o5 = offset(q);
      if (o5 >= cycle.o3) continue;
      const Value before = a_.edge[q > 0 ? q - 1 : a_.size - 1], after = a_.edge[q];
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
};

}  // namespace warptsp::lk
