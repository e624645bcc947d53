// The shortest spanning tree of a sparse graph by Boruvka's algorithm. Host code only.
//
// Each component names its shortest edge to another one, and all of them are taken at once. An edge's length is its
// cost plus the potentials of its two cities; of equally long edges the one with the smaller cities is the shorter one,
// so that there is one tree only. Neighbours have near numbers: cities go in pieces that fit into a processor's cache,
// and each piece joins its components for as long as some component's shortest edge does not leave the piece. What is
// left of all pieces, some hundredths, is joined by one thread.
#pragma once
#include <algorithm>
#include <climits>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "bound/sparse_graph.h"

namespace warptsp::bound {

struct TreeEdge {
  int low, high, length;
};

namespace tree_detail {

// Components, and the edges between them. `Id` holds their numbers and one more, for what is outside.
template <class Id>
struct Components {
  struct Link {
    Id a, b;  // of the component outside: `count`
    int length, low, high;
  };

  int count = 0;
  std::vector<Link> links;  // in the order of (low, high); the first `size` ones count
  size_t size = 0;
  std::vector<Id> label;    // what has become of the components with which contract() began
  std::vector<int> parent;  // the component that each one is joined to, or -1
  std::vector<Id> into;     // the number of each one behind join(), and of the component outside

  // Joins components by the edges chosen(component) that lead to their parents, and appends these to `out`. The number
  // of each one afterwards is in `into`.
  template <class Chosen>
  void join(const Chosen &chosen, TreeEdge *&out) {
    // Two that name each other name the same edge, as no two edges are equal; there is no other cycle.
    into.resize((size_t)count + 1);
    int fewer = 0;
    for (int c = 0; c < count; ++c) {
      const int above = parent[c];
      const bool mutual = above >= 0 && parent[above] == c;
      const bool root = above < 0 || (mutual && c < above);
      into[c] = root ? (Id)fewer : none;
      fewer += root;
      *out = chosen(c);
      out += above >= 0 && !(mutual && above < c);
    }
    for (int c = 0; c < count; ++c) {
      // Paths to roots are halved on the way: they have n steps where gaps shrink along a line.
      int at = c;
      while (into[at] == none) {
        const int above = parent[at];
        if (into[above] == none) parent[at] = parent[above];
        at = parent[at];
      }
      into[c] = into[at];
    }
    into[count] = (Id)fewer;
    count = fewer;
  }

  // Joins by links until the shortest link of each component leads outside.
  void contract(TreeEdge *&out) {
    label.resize(count);
    std::iota(label.begin(), label.end(), Id{0});
    for (;;) {
      shortest_.assign((size_t)count + 1, ~(uint64_t)0);
      for (size_t e = 0; e < size; ++e) {
        const uint64_t key = (uint64_t)((int64_t)links[e].length - INT_MIN) << 32 | e;
        // No branches: they would be guessed wrong half the time.
        uint64_t &a = shortest_[links[e].a];
        a = std::min(a, key);
        uint64_t &b = shortest_[links[e].b];
        b = std::min(b, key);
      }
      parent.resize(count);
      bool joins = false;
      for (int c = 0; c < count; ++c) {
        parent[c] = -1;
        if (shortest_[c] == ~(uint64_t)0) continue;
        const Link &link = links[(uint32_t)shortest_[c]];
        const int other = link.a == c ? link.b : link.a;
        if (other == count) continue;
        parent[c] = other;
        joins = true;
      }
      if (!joins) return;
      join(
          [&](int c) {
            const Link &link = links[parent[c] < 0 ? 0 : (uint32_t)shortest_[c]];
            return TreeEdge{link.low, link.high, link.length};
          },
          out);
      for (Id &own : label) own = into[own];
      size_t kept = 0;
      for (size_t e = 0; e < size; ++e) {
        Link link = links[e];
        link.a = into[link.a];
        link.b = into[link.b];
        links[kept] = link;
        kept += link.a != link.b;
      }
      size = kept;
    }
  }

 private:
  static constexpr Id none = (Id)-1;
  std::vector<uint64_t> shortest_;
};

}  // namespace tree_detail

class SpanningTree {
 public:
  // False if the graph is not connected. `surplus`, if it is wanted: the edges of the tree at each city, less 2.
  bool make(const SparseGraph &graph, const int *potential, Team &team, int *surplus = nullptr) {
    n_ = graph.size();
    edges_.resize(n_);
    pieces_.resize(chunk_count(n_));
    label_.resize(n_);
    for_chunks(team, n_, [&](int c, int begin, int end) {
      std::unique_ptr<Local> local = lend();
      join_piece(graph, potential, begin, end, *local, pieces_[c]);
      if (surplus != nullptr) {
        std::fill(surplus + begin, surplus + end, -2);
        count_edges(edges_.data() + begin, pieces_[c].taken, surplus);
      }
      give_back(std::move(local));
    });
    return join_pieces(surplus);
  }

  const std::vector<TreeEdge> &edges() const { return edges_; }
  // Hands over the edges, and gives back all memory until the next tree.
  std::vector<TreeEdge> release() {
    pieces_ = std::vector<Piece>();
    joined_ = std::vector<TreeEdge>();
    label_ = std::vector<Id>();
    all_ = tree_detail::Components<int>();
    idle_ = std::vector<std::unique_ptr<Local>>();
    return std::move(edges_);
  }
  // Of all edges.
  int64_t length() const { return length_; }

 private:
  using Id = uint16_t;
  static_assert(chunk_size < 1 << 16, "numbers of components, one for the outside, and none");
  using Link = tree_detail::Components<Id>::Link;

  // The components that are left of a piece, and the links to others whose smaller city is in it.
  struct Piece {
    std::vector<Link> links;
    int components = 0, taken = 0;
    int64_t length = 0;
  };
  struct Local {
    tree_detail::Components<Id> components;
    std::vector<TreeEdge> chosen, below;  // the shortest edge of each city; edges to smaller cities of other pieces
    std::vector<Id> first;                // the component of each city behind these shortest edges
  };

  void join_piece(const SparseGraph &graph, const int *potential, int begin, int end, Local &local, Piece &piece) {
    const int size = end - begin;
    tree_detail::Components<Id> &components = local.components;
    components.count = size;
    components.parent.resize(size);
    local.chosen.resize(size);
    local.below.clear();
    for (int v = begin; v < end; ++v) {
      // Neighbours ascend, so that of equally long edges the first is the one in the order of all edges.
      int64_t shortest = INT64_MAX;
      for (const Arc *arc = graph.begin(v); arc < graph.end(v); ++arc)
        shortest = std::min(shortest, (int64_t)(arc->cost + potential[arc->to]) * ((int64_t)1 << 32) + arc->to);
      const bool any = graph.begin(v) < graph.end(v);
      const int to = (int)(shortest & 0xffffffff);
      components.parent[v - begin] = any && to >= begin && to < end ? to - begin : -1;
      local.chosen[v - begin] = {std::min(v, to), std::max(v, to), (int)(shortest >> 32) + potential[v]};
      for (const Arc *arc = graph.begin(v); arc < graph.end(v) && arc->to < begin; ++arc)
        local.below.push_back({arc->to, v, arc->cost + potential[v] + potential[arc->to]});
    }
    TreeEdge *out = edges_.data() + begin;
    components.join([&](int c) { return local.chosen[c]; }, out);
    // As links in the order of all edges.
    std::sort(local.below.begin(), local.below.end(), [](const TreeEdge &a, const TreeEdge &b) {
      return a.low < b.low || (a.low == b.low && a.high < b.high);
    });
    const std::vector<Id> &first = local.first = components.into;  // the last one is that outside
    std::vector<Link> &links = components.links;
    const size_t most = local.below.size() + (size_t)(graph.end(end - 1) - graph.begin(begin)) + 1;
    if (links.size() < most) links.resize(most);
    Link *link = links.data();
    for (const TreeEdge &edge : local.below)
      *link++ = {first[edge.high - begin], first[size], edge.length, edge.low, edge.high};
    for (int v = begin; v < end; ++v)
      for (const Arc *arc = graph.upward(v); arc < graph.end(v); ++arc) {
        const Id here = first[v - begin], there = first[std::min(arc->to - begin, size)];
        *link = {here, there, arc->cost + potential[v] + potential[arc->to], v, arc->to};
        link += here != there;
      }
    components.size = link - links.data();
    components.contract(out);
    piece.links.clear();
    for (size_t e = 0; e < components.size; ++e)
      if (links[e].low >= begin) piece.links.push_back(links[e]);
    for (int k = 0; k < size; ++k) label_[begin + k] = components.label[first[k]];
    piece.components = components.count;
    piece.taken = (int)(out - (edges_.data() + begin));
    piece.length = 0;
    for (const TreeEdge *edge = edges_.data() + begin; edge < out; ++edge) piece.length += edge->length;
  }

  // Joins what is left of the pieces. Each of them has left as many places for edges as it has components.
  bool join_pieces(int *surplus) {
    std::vector<int> first(pieces_.size());
    tree_detail::Components<int> &all = all_;
    all.count = 0;
    length_ = 0;
    for (size_t c = 0; c < pieces_.size(); ++c) {
      first[c] = all.count;
      all.count += pieces_[c].components;
      length_ += pieces_[c].length;
    }
    all.links.clear();
    for (size_t c = 0; c < pieces_.size(); ++c)
      for (const Link &link : pieces_[c].links) {
        const int other = link.high / chunk_size;
        all.links.push_back({first[c] + link.a, first[other] + label_[link.high], link.length, link.low, link.high});
      }
    all.size = all.links.size();
    joined_.resize(all.count);
    TreeEdge *out = joined_.data();
    all.contract(out);
    const int taken = (int)(out - joined_.data());
    for (int e = 0; e < taken; ++e) length_ += joined_[e].length;
    if (surplus != nullptr) count_edges(joined_.data(), taken, surplus);
    int next = 0;
    for (size_t c = 0; c < pieces_.size(); ++c)
      for (int k = 0; k < pieces_[c].components && next < taken; ++k)
        edges_[c * chunk_size + pieces_[c].taken + k] = joined_[next++];
    edges_.resize(n_ - 1);
    return all.count == 1;
  }

  static void count_edges(const TreeEdge *edges, int count, int *surplus) {
    for (int e = 0; e < count; ++e) {
      ++surplus[edges[e].low];
      ++surplus[edges[e].high];
    }
  }

  std::unique_ptr<Local> lend() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.empty()) return std::make_unique<Local>();
    std::unique_ptr<Local> local = std::move(idle_.back());
    idle_.pop_back();
    return local;
  }
  void give_back(std::unique_ptr<Local> local) {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(local));
  }

  int n_ = 0;
  int64_t length_ = 0;
  std::vector<TreeEdge> edges_, joined_;
  std::vector<Piece> pieces_;
  std::vector<Id> label_;  // of each city's component in its piece
  tree_detail::Components<int> all_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Local>> idle_;
};

}  // namespace warptsp::bound
