// The tentative paths of a warp's search, a lane each: lists of intervals of the array, one column of shared memory a
// lane, and the steps that lengthen them.
#pragma once
#include "lk/warp_tour.h"

namespace warptsp::lk {

// A search of a lane: the edge (t1, t2) is out, and the path starts at array position base, at t2, and runs in dir.
struct PathRoot {
  int t1, base, dir;  // dir: 0 up, -1 down, a mask
};
template <int Want>
struct PathSteps {
  float gain[Want];
  int o3[Want];
};

template <class Lanes, class Metric, int K>
class WarpPaths : public WarpLkTour<Lanes, Metric, K> {
  typedef WarpLkTour<Lanes, Metric, K> Tour;

 public:
  using typename Tour::Arrays;
  using typename Tour::Place;
  template <class T>
  using Var = typename Lanes::template Var<T>;

  WARPTSP_FN WarpPaths(const Arrays &arrays, const Metric &metric, const WarpLkParams &params)
      : Tour(arrays, metric, params) {}

 protected:
  using Tour::a_;
  using Tour::commit;
  using Tour::metric_;
  using Tour::p_;
  using Tour::w_;
  using Tour::wrap;

  WARPTSP_FN int offset(const PathRoot &r, int position) const {
    const int o = ((position - r.base) ^ r.dir) - r.dir;
    return o < 0 ? o + a_.size : o;
  }
  WARPTSP_FN int at_offset(const PathRoot &r, int o) const { return wrap(r.base + ((o ^ r.dir) - r.dir)); }
  WARPTSP_FN PathRoot root_of(int lane) const {
    PathRoot r;
    r.t1 = w_.roots[lane >> 1];
    r.dir = -(lane & 1);
    r.base = wrap(a_.position[r.t1] + 1 + 2 * r.dir);
    return r;
  }

  WARPTSP_FN u32 &entry(int r, int lane) const { return w_.lists[r * 32 + lane]; }
  WARPTSP_FN int locate(int lane, int count, int o) const {
    int r = 1;
    WARPTSP_LOOP
    while (r < count && (int)(entry(r, lane) >> 16) <= o) r++;
    return r - 1;
  }
  // The best `Want` steps from the path's first city e at offset `first`, best first; returns how many.
  template <int Want>
  WARPTSP_FN int expand(int lane, const PathRoot &root, int count, int e, int first, float g,
                        PathSteps<Want> &best) const {
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
        float gain = g1[k] + a_.edge[turned == root.dir ? wrap(q[k] - 1) : q[k]];
        int step = o3[k];
        // No edge is taken out that was added, nor the one at e itself.
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

  // Turns a lane's list of intervals into pieces behind the one that holds the array's end, which stays in place.
  WARPTSP_FN void make(int column, int count, const PathRoot &root) {
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
    // The edge behind the array's end is unbreakable, so one interval holds both sides of it.
    const int holder = Lanes::lowest_bit(Lanes::ballot(last)), anchor = (entry(holder, column) >> 8) & 0xff;
    const bool flip = w_.turned[anchor];
    const int base = w_.start[anchor] + w_.length[anchor] - a_.size;
    Var<u32> pieces;
    Lanes::each([&](int lane) {
      pieces[lane] = 0;
      if (lane >= count - 1) return;
      int q = flip ? anchor - 1 - lane : anchor + 1 + lane;
      q += q < 0 ? count : q >= count ? -count : 0;
      pieces[lane] = WarpPiece::of(w_.start[q] - base, w_.length[q], w_.length[q] > 1 && (bool)w_.turned[q] != flip);
    });
    commit(base, count - 1, pieces);
  }
};

}  // namespace warptsp::lk
