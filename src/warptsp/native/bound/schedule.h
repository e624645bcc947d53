// How an ascent climbs, on CPU threads (held_karp.h) and on a GPU (backends/cuda/bound).
#pragma once

namespace warptsp::bound::schedule {

// The first edges and potentials. A city's spacing is its mean distance to its nearest neighbours.
constexpr int nearest_edges = 5;
constexpr double min_spacing = 0.02;      // of the mean one
constexpr double first_potential = -0.3;  // spacings: cities far from others get less

// Steps: along the surplus of edges, with momentum, in spacings; they cool with the square of what is left.
constexpr double first_length = 0.3;
constexpr double momentum = 0.75;
constexpr double cluster_weight = 0.6;
constexpr int max_cluster_surplus = 3;

// Leaves whose second edges are looked at in a round, other ones in each.
constexpr int leaves = 4096;

// All pairs are priced soon, where that shows the graph to lack edges soon again, and otherwise ever more rarely.
// Clustered cities need it: with the edges of one tour alone between clusters, potentials climb as high as it is.
constexpr int first_wait = 3;          // rounds
constexpr double large_drop = 5e-4;    // of the bound, by pairs that the graph lacked
constexpr double near_end = 0.94;      // of the way: once more there
constexpr double pricing_share = 1.5;  // times the last pricing is kept for the one at the end

// Edges stay that are longer than the tree's path by no more than so many spacings: from 3.6 to 2.3 edges a city, and
// the bound is no worse. Between clusters potentials differ by far more than spacings: an edge that is longer than
// `near_spacings` stays until the difference is larger, too, than what it is longer by. Only where such edges have become
// more than `max_edges` a city, they have to go.
constexpr double reach = 0.4;
constexpr double near_spacings = 1.5;
constexpr int max_edges = 16;

}  // namespace warptsp::bound::schedule
