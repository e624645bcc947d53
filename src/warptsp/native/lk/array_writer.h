// The tour of a sub-problem in an array: moves are written to it piece by piece, logged, and taken back; the cities at the
// ends of what moved are queued for the search.
#pragma once
#include "common/random.h"
#include "lk/tentative_path.h"

namespace warptsp::lk {

template <class Metric, bool Paths>
class ArrayWriter {
 public:
  typedef typename Metric::Value Value;

  ArrayWriter(const Metric &metric, const LkArrays<Value> &arrays) : metric_(metric), a_(arrays) {}

  LkCounters counters;

  // No move writes more cells from now on.
  void set_reach(int cells) { reach_ = cells; }

 protected:
  struct Piece {
    int source, length;  // cells, relative to the base of the operation
    int reversed, path;  // path: the number its cities take over, or -1
  };

  Metric metric_;
  LkArrays<Value> a_;

  int direction_ = 0, base_ = 0;     // the path starts at array position base_ and runs in direction_ (0 or -1: a mask)
  int pieces_ = 0, piece_base_ = 0;  // the operation that write() performs
  Piece piece_[lk_max_intervals];
  int queue_[lk_queue_capacity];
  int queue_head_ = 0, queue_size_ = 0;
  bool logging_ = false, log_full_ = false;
  int log_[lk_log_capacity], log_size_ = 0;
  int reach_ = 1 << 30;
  bool beyond_ = false;  // whether a move was left out for its cells, since this was false last
  u64 edges_ = 0;        // of the edges that changed since the kick: 0 when none remains

  WARPTSP_FN int wrap(int p) const { return p >= a_.size ? p - a_.size : p < 0 ? p + a_.size : p; }
  WARPTSP_FN int offset(int position) const {
    int o = ((position - base_) ^ direction_) - direction_;
    return o < 0 ? o + a_.size : o;
  }
  WARPTSP_FN int at_offset(int o) const { return wrap(base_ + ((o ^ direction_) - direction_)); }
  WARPTSP_FN int city(int o) const { return a_.order[at_offset(o)]; }

  WARPTSP_FN static u64 hash_of_edge(int a, int b) {
    const u64 low = a < b ? a : b, high = a < b ? b : a;
    return mix64((low << 32 | high) + 0x9e3779b97f4a7c15ull);
  }

  // ---- the queue of cities to search from
  WARPTSP_FN void push(int c) {
    if ((a_.queued[c] & lk_in_queue) || queue_size_ == lk_queue_capacity) return;
    a_.queued[c] |= lk_in_queue;
    queue_[(queue_head_ + queue_size_++) & (lk_queue_capacity - 1)] = c;
  }
  WARPTSP_FN int pop() {
    const int c = queue_[queue_head_];
    queue_head_ = (queue_head_ + 1) & (lk_queue_capacity - 1);
    queue_size_--;
    a_.queued[c] &= (unsigned char)~lk_in_queue;
    return c;
  }

  // ---- from a list of intervals to an operation on the array: pieces that follow the anchor, which stays in place.
  // False if a path of the sub-problem would lose an end, or the paths their order, or if it has too many cells.
  bool arrange(const TentativePath &path) {
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
    if (a_.size - size[anchor] > reach_) {
      beyond_ = true;
      return false;
    }
    const int flip = turned[anchor];
    piece_base_ = start[anchor] + size[anchor];
    if (piece_base_ >= a_.size) piece_base_ -= a_.size;
    pieces_ = 0;
    int current = Paths ? a_.path[a_.order[wrap(piece_base_ - 1)]] : 0;
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
        if (!keeps_paths(piece, low, high, current)) return false;
      }
    }
    return !Paths || current == a_.path[a_.order[start[anchor]]];
  }

  // Whether a piece from path `low` to path `high`, behind the path `current`, leaves these their ends and order; `current`
  // becomes the path that it ends with. What lies in one path joins the one in front.
  WARPTSP_FN static bool keeps_paths(Piece &piece, int low, int high, int &current) {
    if (low == high) {
      if (low != current) piece.path = current;
      return true;
    }
    if (piece.reversed || low != current) return false;
    current = high;
    return true;
  }

  // Segments of a, b and c cities behind a position change places: B C D becomes D C B. Four edges change.
  bool bridge(int at, int a, int b, int c, Value &loss) {
    const int cut[4] = {at, wrap(at + a), wrap(at + a + b), wrap(at + a + b + c)};
    Value removed = 0;
    for (int q = 0; q < 4; q++) {
      const Value l = a_.edge[cut[q]];
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
        if (!keeps_paths(piece_[q], low, high, current)) return false;
      }
      if (current != a_.path[a_.order[cut[3] + 1]]) return false;
    }
    const int *o = a_.order;
    const int b0 = o[cut[0]], b1 = o[wrap(cut[0] + 1)], c0 = o[cut[1]], c1 = o[wrap(cut[1] + 1)], d0 = o[cut[2]],
              d1 = o[wrap(cut[2] + 1)], e0 = o[cut[3]], e1 = o[wrap(cut[3] + 1)];
    loss = metric_(b0, d1) + metric_(e0, c1) + metric_(d0, b1) + metric_(c0, e1) - removed;
    return true;
  }

  // ---- writes the operation to the array, logs it, and queues the ends of what moved
  // False, with nothing written, if the undo log has no space left.
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
        log_[log_size_++] = Paths && piece_[q].path >= 0 ? a_.path[city_of(piece_[q].source)] : -1;
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
    int *order = a_.order, *scratch = a_.scratch;
    Value *edge = a_.edge, *edge_scratch = a_.edge_scratch;
    // scratch[k] = the city at cell k, edge_scratch[k] = the edge behind it
    if (base + cells <= n) {
      for (int k = 0; k < cells; k++) scratch[k] = order[base + k];
      for (int k = 0; k < cells; k++) edge_scratch[k] = edge[base + k];
    } else {
      for (int k = 0; k < cells; k++) {
        const int p = wrap(base + k);
        scratch[k] = order[p];
        edge_scratch[k] = edge[p];
      }
    }
    const int before = wrap(base - 1), outside_left = order[before], outside_right = order[wrap(base + cells)];
    u64 changed = 0;
    if (track) changed = hash_of_edge(scratch[cells - 1], outside_right);
    int to = 0, previous = outside_left, edge_at = before;
    for (int q = 0; q < count; q++) {
      const int source = piece[q].source, length = piece[q].length;
      const bool reversed = piece[q].reversed;
      if (source != to || reversed) {
        if (base + cells <= n) {
          int *o = order + base + to;
          Value *l = edge + base + to;
          if (reversed) {
            for (int k = 0; k < length; k++) {
              const int c = scratch[source + length - 1 - k];
              o[k] = c;
              a_.position[c] = (base + to + k);
              if (k + 1 < length) l[k] = edge_scratch[source + length - 2 - k];
            }
          } else {
            for (int k = 0; k < length; k++) {
              const int c = scratch[source + k];
              o[k] = c;
              a_.position[c] = (base + to + k);
              l[k] = edge_scratch[source + k];
            }
          }
        } else {
          for (int k = 0; k < length; k++) {
            const int from = reversed ? source + length - 1 - k : source + k, c = scratch[from];
            const int p = wrap(base + to + k);
            order[p] = c;
            a_.position[c] = p;
            if (k + 1 < length) edge[p] = edge_scratch[reversed ? from - 1 : from];
          }
        }
      }
      if (Paths && piece[q].path >= 0)
        for (int k = 0; k < length; k++) a_.path[scratch[source + k]] = piece[q].path;
      const int low = scratch[source], high = scratch[source + length - 1];
      const int head = reversed ? high : low, tail = reversed ? low : high;
      join(edge_at, previous, head, source == 0 ? outside_left : scratch[source - 1], low,
           source == 0 ? -1 : source - 1, reversed, changed, track);
      previous = tail;
      to += length;
      edge_at = wrap(base + to - 1);
      if (track) {
        push(head);
        push(tail);
      }
    }
    // the edge to what follows
    edge[edge_at] = previous == scratch[cells - 1] ? edge_scratch[cells - 1] : metric_(previous, outside_right);
    if (track) {
      changed ^= hash_of_edge(previous, outside_right);
      push(outside_left);
      push(outside_right);
      edges_ ^= changed;
    }
  }
  // The edge from `previous` to `head`, at array position edge_at; (old, low) was the edge into the piece's lower end.
  WARPTSP_FN void join(int edge_at, int previous, int head, int old, int low, int old_cell, bool reversed, u64 &changed,
                       bool track) {
    if (!reversed && previous == old) {
      if (old_cell >= 0) a_.edge[edge_at] = a_.edge_scratch[old_cell];
      // else: the edge from outside, untouched
    } else {
      a_.edge[edge_at] = metric_(previous, head);
    }
    if (track) changed ^= hash_of_edge(previous, head) ^ hash_of_edge(old, low);
  }
};

}  // namespace warptsp::lk
