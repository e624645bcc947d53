// Domino-parity inequalities, by shortest paths between the faces of a drawing of the support. Host code only.
//
// A. Letchford, "Separating a class of comb inequalities in planar graphs", Mathematics of Operations Research 25 (2000);
// W. Cook, D. Espinoza and M. Goycoolea, "Computing with domino-parity inequalities for the traveling salesman problem",
// INFORMS Journal on Computing 19 (2007). A domino is two disjoint sets A and B that leave something out. A tour leaves
// A + B and goes from A to B 3 times or more together. Take an odd number k of dominoes and a handle H, and let F be the
// edges that are in an odd number of the sets (leaving H), (from an A to its B). Those of F, and those from each A to its
// B, together count the edges that leave H up to an even number, so that a tour uses them an even number of times:
//   x(F) + sum over dominoes x(leaving A + B) + x(from A to B) >= 3 k + 1.
// In the plane the borders of A, of B, and between them are three paths from one face to another, without a common edge:
// those that weigh least make the domino that is nearest to 3. The dominoes and F of an inequality are a closed walk
// through faces with an odd number of dominoes, whose steps weigh less than 1 in all if it is violated.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <utility>
#include <vector>

#include "common/random.h"
#include "common/stop_token.h"
#include "proof/found_cuts.h"

namespace warptsp::proof {

// Edges of the support as straight lines between cities, without those that cross heavier ones.
class Drawing {
 public:
  struct Edge {
    int u, v;
    double value;
  };
  struct Step {
    int face, edge;  // the face behind an edge
  };

  // `points` [n, 2].
  Drawing(const Support &support, const double *points, uint64_t seed) : around_(support.size()) {
    constexpr double least = 0.03;  // lighter ones make many more faces
    const int n = support.size();
    place(points, n, seed);
    for (int u = 0; u < n; ++u)
      for (const Support::Edge &edge : support.around(u))
        if (u < edge.to && edge.value > least) edges_.push_back({u, edge.to, edge.value});
    remove_crossings();
    find_faces();
  }

  // Whether this is one drawing in a plane.
  bool is_plane() const { return (int)around_.size() - (int)edges_.size() + (int)faces_.size() == 2; }
  int faces() const { return (int)faces_.size(); }
  const std::vector<Edge> &edges() const { return edges_; }
  const std::vector<Step> &around_face(int f) const { return faces_[f]; }
  // The face on the one side of an edge, and the one on the other.
  int side(int edge, int which) const { return face_of_[2 * edge + which]; }

  // Marks for all cities, so that each edge changes them by a mark of its own (exclusive or); none if that is impossible.
  std::vector<int> marks(const std::vector<int> &change) const {
    std::vector<int> mark(around_.size(), -1), stack{0};
    size_t marked = 1;
    mark[0] = 0;
    while (!stack.empty()) {
      const int u = stack.back();
      stack.pop_back();
      for (const int half : around_[u]) {
        const int v = end(half), wanted = mark[u] ^ change[half / 2];
        if (mark[v] < 0) {
          mark[v] = wanted;
          ++marked;
          stack.push_back(v);
        } else if (mark[v] != wanted) {
          return {};
        }
      }
    }
    return marked == mark.size() ? mark : std::vector<int>();
  }

 private:
  // Half-edge 2 e leads from u to v of an edge e, 2 e + 1 back.
  int begin(int half) const { return half % 2 == 0 ? edges_[half / 2].u : edges_[half / 2].v; }
  int end(int half) const { return begin(half ^ 1); }

  // No three cities lie on one line: each is moved a little.
  void place(const double *points, int n, uint64_t seed) {
    constexpr double little = 1e-5;
    std::array<double, 2> extent{};
    for (int axis = 0; axis < 2; ++axis) {
      double first = points[axis], last = first;
      for (int v = 0; v < n; ++v) {
        first = std::min(first, points[2 * v + axis]);
        last = std::max(last, points[2 * v + axis]);
      }
      extent[axis] = last - first;
    }
    const double most = std::max(extent[0], extent[1]), unit = most > 0 ? most : 1.0;
    Random random(seed, 0, 0);
    for (int v = 0; v < n; ++v)
      for (int axis = 0; axis < 2; ++axis)
        at_.push_back(points[2 * v + axis] / unit + little * (2.0 * random.unit() - 1.0));
  }

  double turn(int a, int b, int c) const {
    return (at_[2 * b] - at_[2 * a]) * (at_[2 * c + 1] - at_[2 * a + 1]) -
           (at_[2 * b + 1] - at_[2 * a + 1]) * (at_[2 * c] - at_[2 * a]);
  }
  bool cross(const Edge &a, const Edge &b) const {
    if (a.u == b.u || a.u == b.v || a.v == b.u || a.v == b.v) return false;
    return (turn(a.u, a.v, b.u) > 0) != (turn(a.u, a.v, b.v) > 0) &&
           (turn(b.u, b.v, a.u) > 0) != (turn(b.u, b.v, a.v) > 0);
  }

  void remove_crossings() {
    const auto first = [&](const Edge &e) { return std::min(at_[2 * e.u], at_[2 * e.v]); };
    const auto last = [&](const Edge &e) { return std::max(at_[2 * e.u], at_[2 * e.v]); };
    std::sort(edges_.begin(), edges_.end(), [&](const Edge &a, const Edge &b) { return first(a) < first(b); });
    const int count = (int)edges_.size();
    std::vector<std::vector<int>> crossed(count);
    for (int i = 0; i < count; ++i)
      for (int j = i + 1; j < count && first(edges_[j]) <= last(edges_[i]); ++j)
        if (cross(edges_[i], edges_[j])) {
          crossed[i].push_back(j);
          crossed[j].push_back(i);
        }
    std::vector<int> order(count);
    for (int i = 0; i < count; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return edges_[a].value > edges_[b].value; });
    std::vector<char> gone(count, 0);
    for (const int i : order)
      if (gone[i] == 0)
        for (const int j : crossed[i]) gone[j] = 1;
    std::vector<Edge> kept;
    for (int i = 0; i < count; ++i)
      if (gone[i] == 0) kept.push_back(edges_[i]);
    edges_ = std::move(kept);
  }

  void find_faces() {
    const int halves = 2 * (int)edges_.size();
    std::vector<double> angle(halves);
    std::vector<int> place(halves);
    for (int h = 0; h < halves; ++h) {
      const int a = begin(h), b = end(h);
      angle[h] = std::atan2(at_[2 * b + 1] - at_[2 * a + 1], at_[2 * b] - at_[2 * a]);
      around_[a].push_back(h);
    }
    for (std::vector<int> &around : around_) {
      std::sort(around.begin(), around.end(), [&](int a, int b) { return angle[a] < angle[b]; });
      for (size_t i = 0; i < around.size(); ++i) place[around[i]] = (int)i;
    }
    face_of_.assign(halves, -1);
    int faces = 0;
    for (int h = 0; h < halves; ++h) {
      if (face_of_[h] >= 0) continue;
      for (int now = h; face_of_[now] < 0;) {
        face_of_[now] = faces;
        const std::vector<int> &next = around_[end(now)];
        now = next[(place[now ^ 1] + 1) % next.size()];
      }
      ++faces;
    }
    faces_.resize(faces);
    for (int e = 0; e < (int)edges_.size(); ++e) {
      const int a = side(e, 0), b = side(e, 1);
      if (a == b) continue;
      faces_[a].push_back({b, e});
      faces_[b].push_back({a, e});
    }
  }

  std::vector<double> at_;
  std::vector<Edge> edges_;
  std::vector<std::vector<int>> around_;  // of a city, half-edges that begin there, by their angle
  std::vector<int> face_of_;              // on the one side of a half-edge
  std::vector<std::vector<Step>> faces_;
};

class Dominoes {
 public:
  Dominoes(FoundCuts &found, const double *points, uint64_t seed)
      : found_(found), drawing_(found.support(), points, seed), distance_(2 * (size_t)drawing_.faces(), far),
        came_(distance_.size()), first_(drawing_.faces()), potential_(drawing_.faces(), most / 3),
        direction_(drawing_.edges().size(), 0) {}

  void find(const StopToken &token) {
    if (!drawing_.is_plane()) return;
    for (int f = 0; f < drawing_.faces(); ++f) {
      if (token.stopped()) return;
      find_dominoes(f);
    }
    std::vector<std::vector<Link>> links(drawing_.faces());
    for (int e = 0; e < (int)drawing_.edges().size(); ++e) {
      const int a = drawing_.side(e, 0), b = drawing_.side(e, 1);
      if (a == b || value(e) >= most_weight) continue;
      links[a].push_back({b, e, false, value(e)});
      links[b].push_back({a, e, false, value(e)});
    }
    for (int d = 0; d < (int)dominoes_.size(); ++d) {
      const Domino &domino = dominoes_[d];
      links[domino.from].push_back({domino.to, d, true, domino.weight});
      links[domino.to].push_back({domino.from, d, true, domino.weight});
    }
    for (int f = 0; f < drawing_.faces(); ++f) {
      if (token.stopped()) return;
      find_walk(f, links);
    }
  }

 private:
  static constexpr double far = std::numeric_limits<double>::infinity();
  static constexpr double most_weight = 0.95;          // of a closed walk: less than 1
  static constexpr double most = 3 + most_weight / 2;  // of a domino: all but one of three or more weigh less

  typedef std::pair<double, int> Entry;
  typedef std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> Queue;

  struct Domino {
    int from, to;
    double weight;                           // beyond 3
    std::array<std::vector<int>, 3> border;  // the edges of each path
  };
  struct Link {
    int to, number;  // of an edge, or a domino
    bool is_domino;
    double weight;
  };
  struct Way {
    int from, number;  // of the edge or domino by which a search came
    bool is_domino;
  };

  // From one face to the later ones. Of three paths that weigh less than a limit together, the shortest one weighs less than
  // a third of it. Paths are sought with reduced weights (Johnson, 1977): those to faces out of the way are long.
  void find_dominoes(int from) {
    const double nearest = most / 3;
    const std::vector<int> reached = reach(from, -1, nearest, [&](int f, const auto &visit) {
      for (const Drawing::Step &step : drawing_.around_face(f)) visit(step.face, value(step.edge), step.edge, false);
    });
    for (const int f : reached) {
      potential_[f] = distance_[f];
      first_[f] = came_[f];
      distance_[f] = far;
    }
    for (const int to : reached)
      if (to > from) add_domino(from, to);
    for (const int f : reached) potential_[f] = nearest;
  }

  // Three paths of least weight in all, without a common edge: each is the shortest one when edges of those before may be
  // taken back.
  void add_domino(int from, int to) {
    std::vector<int> changed;
    const auto follow = [&](const std::vector<Way> &came) {
      for (int f = to; f != from; f = came[f].from) {
        const int e = came[f].number, along = drawing_.side(e, 0) == came[f].from ? 1 : -1;
        direction_[e] = direction_[e] == 0 ? along : 0;
        changed.push_back(e);
      }
    };
    double weight = potential_[to], longer = 0;  // than the first path
    follow(first_);
    std::vector<std::pair<int, double>> shifted;
    int paths = 1;
    for (; paths < 3; ++paths) {
      const double limit = (most - weight) / (3 - paths) - potential_[to] - longer;
      const std::vector<int> reached = reach(from, to, limit, [&](int f, const auto &visit) {
        for (const auto &[face, edge] : drawing_.around_face(f)) {
          const int along = drawing_.side(edge, 0) == f ? 1 : -1, taken = direction_[edge];
          if (taken == along) continue;
          const double weighs = taken == 0 ? value(edge) : -value(edge);
          visit(face, std::max(0.0, weighs + potential_[f] - potential_[face]), edge, false);
        }
      });
      const double more = distance_[to];
      if (more < far) {
        longer += more;
        weight += potential_[to] + longer;
        follow(came_);
      }
      for (const int f : reached) {
        if (more < far && distance_[f] < more && f != to) {
          shifted.emplace_back(f, potential_[f]);
          potential_[f] -= more - distance_[f];
        }
        distance_[f] = far;
      }
      if (more == far) break;
    }
    for (; !shifted.empty(); shifted.pop_back()) potential_[shifted.back().first] = shifted.back().second;
    if (paths == 3) dominoes_.push_back({from, to, std::max(0.0, weight - 3), borders(from, to, changed)});
    for (const int e : changed) direction_[e] = 0;
  }

  // The three paths that the edges which have a direction make.
  std::array<std::vector<int>, 3> borders(int from, int to, std::vector<int> changed) const {
    std::map<int, std::vector<Drawing::Step>> out;
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    for (const int e : changed)
      if (direction_[e] != 0) {
        const int behind = direction_[e] > 0 ? 0 : 1;
        out[drawing_.side(e, behind)].push_back({drawing_.side(e, 1 - behind), e});
      }
    std::array<std::vector<int>, 3> found;
    for (std::vector<int> &border : found)
      for (int f = from; f != to;) {
        std::vector<Drawing::Step> &steps = out[f];
        border.push_back(steps.back().edge);
        f = steps.back().face;
        steps.pop_back();
      }
    return found;
  }

  double value(int edge) const { return drawing_.edges()[edge].value; }

  // Fills the distances below a limit, none beyond that of `to`; returns which nodes these are (Dijkstra, 1959). Nodes are
  // faces, or their two copies; `each_link` visits what leads on from one: the next node, the weight, the edge or domino.
  template <class EachLink>
  std::vector<int> reach(int from, int to, double limit, const EachLink &each_link) {
    std::vector<int> reached{from};
    distance_[from] = 0;
    Queue queue;
    queue.push({0, from});
    while (!queue.empty() && queue.top().second != to) {
      const auto [here, at] = queue.top();
      queue.pop();
      if (here > distance_[at]) continue;
      each_link(at, [&, here = here, at = at](int next, double weight, int number, bool is_domino) {
        const double there = here + weight;
        if (there >= limit || there >= distance_[next]) return;
        if (distance_[next] == far) reached.push_back(next);
        distance_[next] = there;
        came_[next] = {at, number, is_domino};
        queue.push({there, next});
      });
    }
    return reached;
  }

  // The closed walk from a face that weighs least, with an odd number of dominoes: from its one copy to the other.
  void find_walk(int face, const std::vector<std::vector<Link>> &links) {
    const int from = 2 * face, to = from + 1;
    const std::vector<int> reached = reach(from, to, most_weight, [&](int at, const auto &visit) {
      for (const Link &link : links[at / 2])
        visit(2 * link.to + (at % 2 ^ (link.is_domino ? 1 : 0)), link.weight, link.number, link.is_domino);
    });
    if (distance_[to] < far) {
      std::set<int> edges, dominoes;  // that are there an odd number of times
      for (int at = to; at != from; at = came_[at].from) {
        std::set<int> &those = came_[at].is_domino ? dominoes : edges;
        if (!those.insert(came_[at].number).second) those.erase(came_[at].number);
      }
      if (dominoes.size() >= 3 && walks_.emplace(dominoes, edges).second) add_cut(dominoes, edges);
    }
    for (const int at : reached) distance_[at] = far;
  }

  void add_cut(const std::set<int> &dominoes, const std::set<int> &edges) {
    const int n = found_.support().size(), k = (int)dominoes.size();
    std::vector<int> leaves_handle(drawing_.edges().size(), 0);
    for (const int e : edges) leaves_handle[e] = 1;
    std::vector<std::vector<int>> sides;  // of each domino, for each city: 1 in A, 2 in B
    for (const int d : dominoes) {
      sides.push_back(sides_of(dominoes_[d]));
      if (sides.back().empty()) return;
      for (const auto &border : dominoes_[d].border)
        for (const int e : border) {
          const Drawing::Edge &edge = drawing_.edges()[e];
          if (sides.back()[edge.u] + sides.back()[edge.v] == 3) leaves_handle[e] ^= 1;
        }
    }
    sides.push_back(drawing_.marks(leaves_handle));
    if (sides.back().empty()) return;
    // Cities of one class are on the same sides of all of them.
    std::map<std::vector<int>, int> classes;
    Cut cut;
    for (int v = 0; v < n; ++v) {
      std::vector<int> own;
      for (const std::vector<int> &side : sides) own.push_back(side[v]);
      const int number = classes.emplace(std::move(own), (int)classes.size()).first->second;
      if (number >= most_classes) return;
      cut.class_of.push_back((uint8_t)number);
    }
    cut.classes = (int)classes.size();
    cut.bound = 3 * k + 1;
    cut.length.resize((size_t)cut.classes * cut.classes);
    cut.comb.resize(1 + 2 * (size_t)k);
    for (const auto &[own, i] : classes) {
      if (own[k] != 0) cut.comb[0].push_back((uint8_t)i);
      for (int d = 0; d < k; ++d)
        if (own[d] != 0) cut.comb[2 * d + own[d]].push_back((uint8_t)i);
      for (const auto &[other, j] : classes) {
        int parity = own[k] ^ other[k], sum = 0;
        for (int d = 0; d < k; ++d) {
          if (own[d] == other[d]) continue;
          ++sum;
          if (own[d] + other[d] == 3) parity ^= 1;
        }
        cut.length[(size_t)i * cut.classes + j] = sum + parity;
      }
    }
    make_canonical(cut);
    found_.add(std::move(cut));
  }

  // In which of a domino's two sets each city is, 0 in none of them: three paths part the plane into three, unless they
  // cross. The largest part is left out.
  std::vector<int> sides_of(const Domino &domino) const {
    std::vector<int> change(drawing_.edges().size(), 0);
    for (int path = 0; path < 3; ++path)
      for (const int e : domino.border[path]) change[e] ^= path + 1;
    std::vector<int> side = drawing_.marks(change);
    std::array<int, 4> count{};
    for (const int mark : side) ++count[mark];
    if (std::count(count.begin(), count.end(), 0) != 1) return {};
    const int largest = (int)(std::max_element(count.begin(), count.end()) - count.begin());
    std::array<int, 4> number{};
    for (int mark = 0, next = 0; mark < 4; ++mark) number[mark] = mark == largest || count[mark] == 0 ? 0 : ++next;
    for (int &mark : side) mark = number[mark];
    return side;
  }

  static constexpr int most_classes = 60;

  FoundCuts &found_;
  Drawing drawing_;
  std::vector<Domino> dominoes_;
  std::vector<double> distance_;  // of a face, or of each of its two copies; `far` between two searches
  std::vector<Way> came_, first_;
  std::vector<double> potential_;  // of a face: the weight of the first path, which changes as paths are found
  std::vector<int> direction_;     // in which a path goes through an edge: from side 0 on, or from side 1; 0: none does
  std::set<std::pair<std::set<int>, std::set<int>>> walks_;
};

}  // namespace warptsp::proof
