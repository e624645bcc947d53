// From the two neighbours of every city to the order of the tour, by many threads; for the host compiler and NVRTC
// alike: no standard library.
//
// List ranking by splitting (M. Reid-Miller, "List ranking and list scan on the Cray C90", J. Computer and System
// Sciences 53, 1996): walks from one city in 64, the stops, find the next stop in both directions; pointer jumping over
// the stops finds how far it is to city 0 (J. C. Wyllie, 1979); and a second walk writes the tour.
#pragma once
#include "common/metric.h"

namespace warptsp::tours {

// The way on from a stop in one of its two directions: 2 * stop + side. Past the end, which is city 0, there is none:
// -1 or -2 for an arrival by its side 0 or 1.
struct Way {
  int next, cities;
};

struct TourRanking {
  const int *links;  // [n, 2]
  const int *index;  // [n] of a stop: which one it is
  const int *stops;  // [count]
  int n, count;

  WARPTSP_FN static bool is_stop(int city) {
    unsigned mixed = (unsigned)city * 0x9e3779b1u;
    mixed = (mixed ^ mixed >> 15) * 0x85ebca6bu;
    return city == 0 || (mixed >> 16 & 63) == 0;
  }
  WARPTSP_FN int other_neighbour(int city, int neighbour) const {
    const int *const pair = links + 2 * (long long)city;
    return pair[pair[0] == neighbour];
  }
  WARPTSP_FN Way walk(int way) const {
    int previous = stops[way >> 1], city = links[2 * (long long)previous + (way & 1)], steps = 1;
    for (; !is_stop(city); ++steps) {
      const int following = other_neighbour(city, previous);
      previous = city;
      city = following;
    }
    const int side = links[2 * (long long)city] == previous ? 0 : 1;
    return Way{city == 0 ? -1 - side : 2 * index[city] + (1 - side), steps};
  }
  // One step of pointer jumping; so many are needed that 2^steps >= 2 count.
  WARPTSP_FN static Way jump(const Way *ways, int way) {
    const Way own = ways[way];
    if (own.next < 0) return own;
    const Way on = ways[own.next];
    return Way{on.next, own.cities + on.cities};
  }
  // Writes the cities from the stop to the next one; the tour leaves city 0 by its side 0 and so comes back by 1.
  WARPTSP_FN void write(const Way *ways, int way, int *tour) const {
    if (ways[way].next != -2) return;
    int at = n - ways[way].cities, previous = stops[way >> 1];
    int city = links[2 * (long long)previous + (way & 1)];
    tour[at++] = previous;
    while (!is_stop(city)) {
      tour[at++] = city;
      const int following = other_neighbour(city, previous);
      previous = city;
      city = following;
    }
  }
};

}  // namespace warptsp::tours
