// The neighbourhoods of the exhaustive methods: what a move costs, and what it makes of the tour.
//
// Positions 0 .. n - 1 of a closed tour; position n is position 0 again; edge i joins positions i and i + 1. Every
// sum is formed in the order written here, so that searches of all kinds find the same deltas, bit for bit.
#pragma once
#include "papers/exhaustive/move_numbers.h"

namespace warptsp::exhaustive {

// The best move of a neighbourhood: of equal ones the one with the lowest number.
struct BestMove {
  double delta = 0.0;
  MoveNumber number = ~0ull;

  WARPTSP_FN bool offer(double other, MoveNumber its_number) {
    const bool better = other < delta || (other == delta && its_number < number);
    if (better) {
      delta = other;
      number = its_number;
    }
    return better;
  }
};

// 2-opt: edges i and j go, positions i + 1 .. j are reversed; 0 <= i < j < n, and the number is that of the pair.
// For neighbouring edges nothing changes.
struct TwoOpt {
  Pair move;

  WARPTSP_FN static MoveNumber moves(int n) { return pairs_below((MoveNumber)n); }
  WARPTSP_FN static bool is_move(MoveNumber number, int n) { return number < moves(n); }
  WARPTSP_FN static TwoOpt of(MoveNumber number, int) { return {pair_of(number)}; }
  WARPTSP_FN static double delta(double new_first, double new_second, double edge_i, double edge_j) {
    return new_first + new_second - edge_i - edge_j;
  }
  // `distance` of positions; `edges` by position.
  template <class Distance, class Edges>
  WARPTSP_FN double delta(const Distance &distance, const Edges &edges) const {
    return delta(distance(move.i, move.j), distance(move.i + 1, move.j + 1), edges[move.i], edges[move.j]);
  }
  // The positions that change, and the old position of what comes to `position` among them.
  WARPTSP_FN int begin() const { return move.i + 1; }
  WARPTSP_FN int end() const { return move.j + 1; }
  WARPTSP_FN int source(int position) const { return move.i + move.j + 1 - position; }
};

// 3-opt: edges i, j and k go and three others come, in all four ways in which none of the old ones stays. With
// a, b at edge i, c, d at edge j and e, f at edge k these are, segments b..c and d..e in their new order:
//   0  a d..e b..c f   the two change places (or-3opt): no segment is turned
//   1  a c..b e..d f   both are turned
//   2  a d..e c..b f   they change places, and b..c is turned
//   3  a e..d b..c f   they change places, and d..e is turned
// Where a segment is a single city some of them are 2-opt moves, so that a 3-optimal tour is 2-optimal, too. The
// number of a move is four times that of its triple, plus its kind.
struct ThreeOpt {
  Triple move;
  int kind;

  WARPTSP_FN static MoveNumber moves(int n) { return 4 * triples_below((MoveNumber)n); }
  WARPTSP_FN static bool is_move(MoveNumber number, int n) { return number < moves(n); }
  WARPTSP_FN static ThreeOpt of(MoveNumber number, int) { return {triple_of(number / 4), (int)(number % 4)}; }
  WARPTSP_FN static double delta(double first, double second, double third, double edge_i, double edge_j,
                                 double edge_k) {
    return first + second + third - edge_i - edge_j - edge_k;
  }
  template <class Distance, class Edges>
  WARPTSP_FN double delta(const Distance &distance, const Edges &edges) const {
    const int a = move.i, b = a + 1, c = move.j, d = c + 1, e = move.k, f = e + 1;
    double sum[3];
    switch (kind) {
      case 0: sum[0] = distance(a, d), sum[1] = distance(b, e), sum[2] = distance(c, f); break;
      case 1: sum[0] = distance(a, c), sum[1] = distance(b, e), sum[2] = distance(d, f); break;
      case 2: sum[0] = distance(a, d), sum[1] = distance(c, e), sum[2] = distance(b, f); break;
      default: sum[0] = distance(a, e), sum[1] = distance(b, d), sum[2] = distance(c, f);
    }
    return delta(sum[0], sum[1], sum[2], edges[a], edges[c], edges[e]);
  }
  WARPTSP_FN int begin() const { return move.i + 1; }
  WARPTSP_FN int end() const { return move.k + 1; }
  WARPTSP_FN int source(int position) const {
    const int first = move.j - move.i, second = move.k - move.j;  // lengths of the segments
    const int at = position - move.i - 1;
    if (kind == 1) return at < first ? move.j - at : move.k - (at - first);
    if (at < second) return kind == 3 ? move.k - at : move.j + 1 + at;
    return kind == 2 ? move.j - (at - second) : move.i + 1 + (at - second);
  }
};

// Swap: the cities at positions x and y change places, 1 <= x < y < n; position 0 stays. The number is x n + y: what
// swap_of() takes only says in which order moves are examined.
struct Swap {
  int x, y, n;

  WARPTSP_FN static MoveNumber moves(int n) { return swaps_of(n); }
  WARPTSP_FN static bool is_move(MoveNumber number, int n) { return number < (MoveNumber)n * (MoveNumber)n; }
  WARPTSP_FN static Swap of(MoveNumber number, int n) {
    return {(int)(number / (MoveNumber)n), (int)(number % (MoveNumber)n), n};
  }
  WARPTSP_FN MoveNumber number() const { return (MoveNumber)x * (MoveNumber)n + (MoveNumber)y; }
  // New edges of x's old place, then of y's; the edges between neighbours that change places stay.
  template <class Real>
  WARPTSP_FN static Real delta(Real x_before, Real x_after, Real y_before, Real y_after, Real old_x_before,
                               Real old_x_after, Real old_y_before, Real old_y_after) {
    return x_before + x_after + y_before + y_after - old_x_before - old_x_after - old_y_before - old_y_after;
  }
  template <class Real>
  WARPTSP_FN static Real delta(Real x_before, Real y_after, Real old_x_before, Real old_y_after) {
    return x_before + y_after - old_x_before - old_y_after;
  }
  template <class Distance, class Edges>
  WARPTSP_FN double delta(const Distance &distance, const Edges &edges) const {
    if (y == x + 1) return delta(distance(x - 1, y), distance(x, y + 1), edges[x - 1], edges[y]);
    return delta(distance(x - 1, y), distance(x + 1, y), distance(x, y - 1), distance(x, y + 1), edges[x - 1], edges[x],
                 edges[y - 1], edges[y]);
  }
  WARPTSP_FN int begin() const { return x; }
  WARPTSP_FN int end() const { return y + 1; }
  WARPTSP_FN int source(int position) const { return position == x ? y : position == y ? x : position; }
};

// Relocate: the city at position p passes over the next `over` positions, into the edge behind the last of them. The city
// at position 0 stays there: where it is the one that moves, the others move round it.
struct Relocate {
  Relocation move;
  int n;

  WARPTSP_FN static MoveNumber moves(int n) { return relocations_of(n); }
  WARPTSP_FN static bool is_move(MoveNumber number, int n) { return number < moves(n); }
  WARPTSP_FN static Relocate of(MoveNumber number, int n) { return {relocation_of(number, n), n}; }
  // The new edges: to both ends of the edge that it comes into, as one sum, and the one that closes the gap it leaves.
  template <class Real>
  WARPTSP_FN static Real delta(Real to_both, Real gap, Real edge, Real before, Real after) {
    return to_both + gap - edge - before - after;
  }
  WARPTSP_FN int before() const { return move.position ? move.position - 1 : n - 1; }
  template <class Distance>
  WARPTSP_FN double gap(const Distance &distance) const {
    return distance(before(), move.position + 1);
  }
  // With the gap, which all moves of the city have in common.
  template <class Distance, class Edges>
  WARPTSP_FN double delta(const Distance &distance, const Edges &edges, double gap) const {
    const int p = move.position, edge = p + move.over < n ? p + move.over : p + move.over - n;
    return delta(distance(p, edge) + distance(p, edge + 1), gap, edges[edge], edges[before()], edges[p]);
  }
  template <class Distance, class Edges>
  WARPTSP_FN double delta(const Distance &distance, const Edges &edges) const {
    return delta(distance, edges, gap(distance));
  }
  WARPTSP_FN int begin() const {
    return move.position == 0 ? 1 : wraps() ? move.position + move.over - n + 1 : move.position;
  }
  WARPTSP_FN int end() const {
    return move.position == 0 ? n : wraps() ? move.position + 1 : move.position + move.over + 1;
  }
  WARPTSP_FN int source(int position) const {
    if (move.position == 0) {
      const int from = position + move.over;
      return from < n ? from : from - (n - 1);
    }
    if (wraps()) return position == begin() ? move.position : position - 1;
    return position == move.position + move.over ? move.position : position + 1;
  }

 private:
  WARPTSP_FN bool wraps() const { return move.position + move.over >= n; }
};

}  // namespace warptsp::exhaustive
