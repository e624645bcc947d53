// The tour of a sub-problem in the shared memory of a warp: moves are written to it by all lanes together, and taken back.
#pragma once
#include "lk/warp_lk_arrays.h"

namespace warptsp::lk {

struct WarpPiece {  // of a move, in one word, so that lanes can hand it on
  u32 word;
  WARPTSP_FN static u32 of(int source, int length, bool reversed) {
    return (u32)source | (u32)length << 11 | (u32)reversed << 31;
  }
  WARPTSP_FN int source() const { return word & 0x7ff; }  // cells behind the base of the operation
  WARPTSP_FN int length() const { return word >> 11 & 0x7ff; }
  WARPTSP_FN bool reversed() const { return word >> 31; }
};

template <class Lanes, class Metric, int K>
class WarpLkTour {
 public:
  template <class T>
  using Var = typename Lanes::template Var<T>;
  typedef typename Metric::Place Place;
  typedef WarpLkArrays<K, Place> Arrays;

  WARPTSP_FN WarpLkTour(const Arrays &arrays, const Metric &metric, const WarpLkParams &params)
      : a_(arrays), p_(params), w_(*arrays.work), metric_(metric) {}

  WarpLkCounters counters;

  // Fills position and edge from order, follower and place; empties the queue.
  WARPTSP_FN void begin() {
    Lanes::each([&](int lane) {
      w_.queued[lane] = 0;
      for (int p = lane; p < a_.size; p += 32) a_.position[a_.order[p]] = (u16)p;
    });
    measure(0, a_.size);
  }

 protected:
  Arrays a_;
  WarpLkParams p_;
  WarpLkWork &w_;
  Metric metric_;
  bool logging_ = false;
  int kept_low_ = 0, kept_high_ = 0;
  u32 hash_ = 0;  // of the edges that changed since the kick: 0 when none remains

  WARPTSP_FN int wrap(int p) const { return p >= a_.size ? p - a_.size : p < 0 ? p + a_.size : p; }
  WARPTSP_FN float distance(int a, int b) const { return metric_(a_.place[a], a_.place[b]); }
  WARPTSP_FN static u32 hash_of_edge(int a, int b) {
    u32 h = ((u32)(a < b ? a : b) << 16 | (u32)(a < b ? b : a)) + 0x9e3779b9u;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
  }
  WARPTSP_FN void push(int c) { Lanes::set_bits(&w_.queued[c >> 5], 1u << (c & 31)); }

  // Lengths of the edges behind positions [low, high); low may be -1.
  WARPTSP_FN void measure(int low, int high) {
    Lanes::each([&](int lane) {
      WARPTSP_LOOP
      for (int k = low + lane; k < high; k += 32) {
        const int p = wrap(k), a = a_.order[p], b = a_.order[wrap(p + 1)];
        a_.edge[p] = a_.follower[a] == b || a_.follower[b] == a ? warp_lk_unbreakable : distance(a, b);
      }
    });
  }

  // Segments of a, b and c cities behind a position change places: B C D becomes D C B. Returns by how much the tour
  // gets longer, or -1e30 if one of the edges may not be taken out.
  WARPTSP_FN float bridge(int at, int a, int b, int c) {
    const u16 *o = a_.order + at;
    const int d = a + b + c;
    const float l0 = a_.edge[at], l1 = a_.edge[at + a], l2 = a_.edge[at + a + b], l3 = a_.edge[at + d];
    if (l0 < 0 || l1 < 0 || l2 < 0 || l3 < 0) return warp_lk_unbreakable;
    const float added =
        distance(o[0], o[a + b + 1]) + distance(o[d], o[a + 1]) + distance(o[a + b], o[1]) + distance(o[a], o[d + 1]);
    Var<u32> pieces;
    Lanes::each([&](int lane) {
      pieces[lane] = lane == 0   ? WarpPiece::of(a + b, c, false)
                     : lane == 1 ? WarpPiece::of(a, b, false)
                                 : WarpPiece::of(0, a, false);
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
    Lanes::each([&](int lane) { length[lane] = lane < count ? WarpPiece{pieces[lane]}.length() : 0; });
    Lanes::scan(length, to);
    Lanes::each([&](int lane) {
      const WarpPiece piece{pieces[lane]};
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
      const WarpPiece piece{pieces[lane]};
      w_.tail[lane] = cell[piece.reversed() ? piece.source() : piece.source() + piece.length() - 1];
    });
    Lanes::each([&](int lane) {
      hash[lane] = 0;
      if (lane < first || lane > last) return;
      const WarpPiece piece{pieces[lane]};
      const int low = cell[piece.source()], head = piece.reversed() ? cell[piece.source() + piece.length() - 1] : low;
      const int previous = lane == first ? a_.order[begin - 1] : w_.tail[lane - 1], tail = w_.tail[lane];
      u32 h = hash_of_edge(previous, head) ^ hash_of_edge(cell[piece.source() - 1], low);
      push(head);
      push(tail);
      if (lane == first) push(previous);
      if (lane == last) {
        const int next = a_.order[end];
        h ^= hash_of_edge(tail, next) ^ hash_of_edge(a_.order[end - 1], next);
        push(next);
      }
      hash[lane] = h;
    });
    hash_ ^= Lanes::reduce_xor(hash);
    u32 *old = (u32 *)a_.edge;  // the edges of these cells are measured anew at the end
    Lanes::each([&](int lane) {
      WARPTSP_LOOP
      for (int k = begin + lane; k < end; k += 32) old[k] = a_.order[k];
    });
    for (int s = first; s <= last; s++) {
      if (!(changed >> s & 1)) continue;
      const WarpPiece piece{Lanes::get(pieces, s)};
      const int target = base + Lanes::get(to, s);
      const int source = base + piece.source() + (piece.reversed() ? piece.length() - 1 : 0),
                step = piece.reversed() ? -1 : 1;
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

}  // namespace warptsp::lk
