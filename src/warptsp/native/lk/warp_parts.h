// Sub-problems of one tour in device memory, each taken up, improved and given back by a warp.
//
// A part is a stretch of the tour, or a blob: consecutive cities of a space-filling order. Cities of a blob that
// follow each other on the tour are a path of it; the edges behind a path and before it, which leave the blob, stay.
// The search may join the ends of paths in other pairs, as if nothing else changed, and all blobs are searched at
// once, so that what they hand over is one closed tour, or several: path_graph.h makes one of them.
//
// Of every part there may be several copies, searched with different kicks; the best is put back. So a small instance
// fills the GPU. Or each copy is of a tour of its own, and all tours of the same cities are searched at once.
//
// A fixed edge within a part is an edge to the outside like any other: what lies there is nothing.
//
// An edge from tour position p to the next is gap p. Its left end is side 2p, its right end side 2p + 1.
#pragma once
#include "lk/warp_lk.h"

namespace warptsp::lk {

struct HandedPath {
  unsigned head, tail;  // sides of the gaps that it begins and ends at
  int head_city, tail_city, length;
};

// A path among all that make a tour. Its ends are 2 i, the head of path i, and 2 i + 1, its tail.
struct LinkedPath {
  int link[2];  // ends of paths beyond the gaps at head and tail
  int city[2], length;
};

struct TourOnDevice : CitiesOnDevice {
  const int *candidates;  // [size, K] nearest first, -1 behind the last
  const int *fixed;       // [size, 2] cities that a city must stay linked to, -1 for none; null if there are none
  int *tour;              // [tours, size] city at a position
  int *position;          // [tours, size]
  const int *blob_order;  // [size] cities along the order that blobs are cut from; null: by number
  const int *blob_rank;   // [size] its inverse
  u64 *local_candidates;  // [copies, size, K / 4] of the search: see WarpLkArrays
  u16 *kept;              // [copies, size]
  // What parts hand over, by copy and place; blobs all of it, stretches only the cities:
  int *handed_city;    // [copies, size]
  u16 *handed_path;    // [copies, size] number of its path in the blob
  u16 *handed_offset;  // [copies, size] its place in the path
  HandedPath *paths;   // [copies, size] of each blob from its first place on
  int *path_count;     // [copies, parts]
  double *gain;        // [copies, parts]
  int *chosen;         // [tours, parts] the best copy, or that of the tour
};

struct RoundOnDevice {
  int parts, copies;
  int first_copy, all_copies;  // copies of a part on all GPUs together, and the first of this one's: for random numbers
  int tours;                   // one, or as many as copies
  int rotation;
  int blobs;     // else stretches of the tour
  int optimize;  // local search from every city first
  int every;     // which parts have fewer kicks and come last: see share_of_kicks
  float kicks_per_city, temperature;
  float max_work;  // a kick, on average of a part (see WarpLkCounters::work); then its kicks end early
  u64 seed, round;
  const int *stop;  // not 0 when the host gives the round up, so that a launch may take long; null: never
  WarpLkParams params;
};

// Where part b of `parts` equal ones begins.
WARPTSP_FN int part_begin(int size, int parts, int b) { return (int)((long long)size * b / parts); }

// A place by so many further on, around the end. Their sum may need 32 bits.
WARPTSP_FN int around(int place, int by, int size) {
  const unsigned p = (unsigned)place + (unsigned)by;
  return (int)(p >= (unsigned)size ? p - (unsigned)size : p);
}

// A GPU works on hundreds of parts at once, and at the end of a round on ever fewer. So that this end is short, every
// `every`-th part has half the kicks of its size, and these come last; 0: all parts are alike.
WARPTSP_FN float share_of_kicks(int every, int b) {
  const float fewer = 0.5f;
  return every == 0 ? 1.0f : b % every == 0 ? fewer : (every - fewer) / (every - 1);
}
// The i-th of `count` parts from `first` on.
WARPTSP_FN int part_in_turn(int every, int first, int count, int i) {
  if (every == 0) return first + i;
  const int before = (first + every - 1) / every;  // of those with fewer kicks
  const int longer = count - ((first + count + every - 1) / every - before);
  if (i >= longer) return (before + i - longer) * every;
  const int k = first - before + i;
  return k / (every - 1) * every + 1 + k % (every - 1);
}

template <class Lanes, class Metric, int K>
class WarpPart {
  template <class T>
  using Var = typename Lanes::template Var<T>;
  typedef typename Metric::Place Place;

 public:
  WARPTSP_FN WarpPart(const TourOnDevice &tour, const RoundOnDevice &round, int b, int copy, unsigned char *memory)
      : t_(tour), metric_(tour), round_(round), part_(b), copy_(copy), begin_(part_begin(tour.size, round.parts, b)),
        a_(WarpLkArrays<K, Place>::in(
            memory, part_begin(tour.size, round.parts, b + 1) - begin_,
            tour.local_candidates + ((long long)copy * tour.size + begin_) * (K / warp_lk_chunk),
            tour.kept + (long long)copy * tour.size + begin_)) {
    const long long skipped = (long long)copy * tour.size;
    t_.handed_city += skipped;
    if (round.tours > 1) t_.tour += skipped, t_.position += skipped;
    if (!round.blobs) return;
    t_.handed_path += skipped;
    t_.handed_offset += skipped;
    t_.paths += skipped;
    t_.path_count += (long long)copy * round.parts;
  }

  WARPTSP_FN void run(WarpLkCounters &counters) {
    counters = WarpLkCounters{};
    if (given_up<Lanes>(round_.stop)) return;
    if (round_.blobs)
      take_blob();
    else
      take_stretch();
    WarpLk<Lanes, Metric, K> search(a_, metric_, round_.params);
    double gain = 0;
    Random random(round_.seed, round_.round, (u64)part_ * round_.all_copies + round_.first_copy + copy_);
    if (a_.size >= warp_lk_min_cities) {
      typedef typename WarpLk<Lanes, Metric, K>::From From;
      search.begin();
      const float share = share_of_kicks(round_.every, part_);
      const int kicks = (int)(share * round_.kicks_per_city * a_.size + random.unit());
      const float max_work = round_.max_work * kicks;
      u32 begun = 0;
      for (int k = -1; k < kicks && !given_up<Lanes>(round_.stop); k++) {
        if (k == 0) begun = search.counters.work();
        if (k > 0 && (float)(search.counters.work() - begun) > max_work) break;
        const From from = k >= 0 ? From::kick : round_.optimize ? From::every_city : From::longest_edge;
        const float u = k >= 0 ? random.unit() : 1.0f;
        gain += search.search(from, random, round_.temperature > 0 ? -round_.temperature * WARPTSP_MATH(log)(u) : 0);
      }
    }
    if (round_.blobs)
      hand_blob();
    else
      hand_stretch();
    counters = search.counters;
    Lanes::each([&](int lane) {
      if (lane == 0) t_.gain[(long long)copy_ * round_.parts + part_] = gain;
    });
  }

 private:
  TourOnDevice t_;
  Metric metric_;
  RoundOnDevice round_;
  int part_, copy_, begin_;
  WarpLkArrays<K, Place> a_;

  // The part's i-th place on the tour, or in the blobs' order.
  WARPTSP_FN int place(int i) const { return around(begin_ + i, round_.rotation, t_.size); }
  // A place's number in the part; not below the part's size if it lies outside.
  WARPTSP_FN int local(int place) const {
    const int i = place - this->place(0);
    return i < 0 ? i + t_.size : i;
  }
  WARPTSP_FN int blob_city(int i) const { return t_.blob_order ? t_.blob_order[place(i)] : place(i); }
  WARPTSP_FN int blob_local(int city) const { return local(t_.blob_rank ? t_.blob_rank[city] : city); }

  WARPTSP_FN bool is_fixed(int a, int b) const {
    return t_.fixed && (t_.fixed[2 * (long long)a] == b || t_.fixed[2 * (long long)a + 1] == b);
  }

  // Place and candidate list of the local city i.
  template <class Local>
  WARPTSP_FN void take_city(int i, int city, int origin, Local &&local_of) {
    a_.place[i] = metric_.place(t_, city, origin);
    const int *row = t_.candidates + (long long)city * K;
    u64 word = 0;
    int to = 0;
    const auto put = [&](int c) {
      word |= (u64)c << 16 * (to % warp_lk_chunk);
      if (++to % warp_lk_chunk != 0) return;
      a_.four_candidates(i, to / warp_lk_chunk - 1) = word;
      word = 0;
    };
    for (int k = 0; k < K; k++) {
      const int c = row[k] >= 0 ? local_of(row[k]) : a_.size;
      if (c < a_.size) put(c);
    }
    while (to < K) put(i);
  }

  WARPTSP_FN void take_stretch() {
    const int origin = t_.tour[place(0)];
    Lanes::each([&](int lane) {
      for (int i = lane; i < a_.size; i += 32) {
        const int city = t_.tour[place(i)];
        a_.order[i] = (u16)i;
        a_.follower[i] = i + 1 == a_.size ? 0 : is_fixed(city, t_.tour[place(i + 1)]) ? (u16)(i + 1) : no_city;
        take_city(i, city, origin, [&](int c) { return local(t_.position[c]); });
      }
    });
  }
  WARPTSP_FN void hand_stretch() {
    Lanes::each([&](int lane) {
      for (int i = lane; i < a_.size; i += 32) t_.handed_city[begin_ + i] = t_.tour[place(a_.order[i])];
    });
  }

  WARPTSP_FN void take_blob() {
    u32 *key = (u32 *)a_.edge;
    const int origin = blob_city(0);
    Lanes::each([&](int lane) {
      for (int i = lane; i < a_.size; i += 32) {
        const int c = blob_city(i);
        key[i] = (u32)t_.position[c];
        take_city(i, c, origin, [&](int other) { return blob_local(other); });
      }
    });
    sort(key);
    Lanes::each([&](int lane) {
      for (int i = lane; i < a_.size; i += 32) a_.order[i] = (u16)blob_local(t_.tour[key[i]]);
    });
    Lanes::each([&](int lane) {
      for (int i = lane; i < a_.size; i += 32) {
        const int next = i + 1 < a_.size ? i + 1 : 0;
        const bool inside = next > 0 && key[next] == key[i] + 1 && !is_fixed(t_.tour[key[i]], t_.tour[key[next]]);
        a_.follower[a_.order[i]] = inside ? no_city : a_.order[next];
      }
    });
  }
  // Ascending, by Batcher's bitonic network in its form that needs no power of two.
  WARPTSP_FN void sort(u32 *key) {
    for (int k = 2; k < 2 * a_.size; k <<= 1)
      for (int j = k >> 1; j > 0; j >>= 1)
        Lanes::each([&](int lane) {
          for (int i = lane; i < a_.size; i += 32) {
            const int other = j == k >> 1 ? i ^ (k - 1) : i ^ j;
            if (other > i && other < a_.size && key[i] > key[other]) {
              const u32 t = key[i];
              key[i] = key[other], key[other] = t;
            }
          }
        });
  }
  // The right side of the gap before a position.
  WARPTSP_FN unsigned side_before(int position) const { return 2u * (position > 0 ? position - 1 : t_.size - 1) + 1; }
  WARPTSP_FN bool outside(int a, int b) const { return a_.follower[a] == b || a_.follower[b] == a; }
  WARPTSP_FN int city_at(int cell) const { return a_.order[cell < 0 ? a_.size - 1 : cell < a_.size ? cell : 0]; }
  WARPTSP_FN void hand_blob() {
    const int at = begin_;
    int begun = 0, paths = 0;
    for (int from = 0; from < a_.size; from += 32) {
      Var<int> start, first, one, before;
      Lanes::each([&](int lane) {
        const int i = from + lane;
        one[lane] = i < a_.size && (i == 0 || outside(city_at(i - 1), city_at(i)));
        start[lane] = one[lane] ? i : -1;
      });
      const int next = Lanes::scan_max(start, begun, first);
      const int more = Lanes::scan(one, before);
      Lanes::each([&](int lane) {
        const int i = from + lane;
        if (i >= a_.size) return;
        const int c = city_at(i), path = paths + before[lane] + one[lane] - 1,
                  offset = i - (one[lane] ? i : first[lane]);
        const int city = blob_city(c);
        t_.handed_city[at + i] = city;
        t_.handed_path[at + i] = (u16)path;
        t_.handed_offset[at + i] = (u16)offset;
        HandedPath &own = t_.paths[at + path];
        const int old = t_.position[city];
        if (offset == 0) {  // entered from the gap before its old place, or behind it
          own.head = a_.follower[city_at(i - 1)] == c ? side_before(old) : 2u * old;
          own.head_city = city;
        }
        if (i + 1 == a_.size || outside(c, city_at(i + 1))) {
          own.tail = a_.follower[c] == city_at(i + 1) ? 2u * old : side_before(old);
          own.tail_city = city;
          own.length = offset + 1;
        }
      });
      begun = next;
      paths += more;
    }
    Lanes::each([&](int lane) {
      if (lane == 0) t_.path_count[part_] = paths;
    });
  }
};

// Path `path` of a tour: `ends` [2 size] has the end at each side of its gaps.
WARPTSP_FN void note_ends(const HandedPath &handed, int path, int *ends) {
  ends[handed.head] = 2 * path;
  ends[handed.tail] = 2 * path + 1;
}

// Every gap joins the path that ends at its left side to the one that ends at its right.
WARPTSP_FN LinkedPath linked(const HandedPath &handed, const int *ends) {
  return LinkedPath{
      {ends[handed.head ^ 1], ends[handed.tail ^ 1]}, {handed.head_city, handed.tail_city}, handed.length};
}

// Where a path lies on the new tour.
struct PathPlace {
  int begin;  // position of its head, or of its tail if it is turned
  int turned;
};

// The best copy of a part, the first of equals.
WARPTSP_FN void choose(const TourOnDevice &t, int parts, int copies, int b) {
  int best = 0;
  for (int c = 1; c < copies; c++)
    if (t.gain[(long long)c * parts + b] > t.gain[(long long)best * parts + b]) best = c;
  t.chosen[b] = best;
}

// What is put back on tour `number`.
WARPTSP_FN TourOnDevice one_tour(TourOnDevice t, int parts, int number) {
  t.tour += (long long)number * t.size;
  t.position += (long long)number * t.size;
  t.chosen += (long long)number * parts;
  return t;
}

WARPTSP_FN int part_of(int size, int parts, int place) {
  int b = (int)((long long)place * parts / size);
  while (part_begin(size, parts, b + 1) <= place) b++;
  return b;
}

// The tour from what stretches handed over, one place.
WARPTSP_FN void put_back_stretch(const TourOnDevice &t, int parts, int rotation, int i) {
  const int city = t.handed_city[(long long)t.chosen[part_of(t.size, parts, i)] * t.size + i];
  const int p = around(i, rotation, t.size);
  t.tour[p] = city;
  t.position[city] = p;
}

// The tour from what blobs handed over, one place of blob_order. `path_begin` [parts]: where the paths of a blob begin
// in `places`.
WARPTSP_FN void put_back(const TourOnDevice &t, int parts, const int *path_begin, const PathPlace *places,
                         const LinkedPath *paths, int i) {
  const int b = part_of(t.size, parts, i);
  const long long handed = (long long)t.chosen[b] * t.size + i;
  const int path = path_begin[b] + t.handed_path[handed], city = t.handed_city[handed];
  const int offset = t.handed_offset[handed];
  const PathPlace at = places[path];
  const int p = at.begin + (at.turned ? paths[path].length - 1 - offset : offset);
  t.tour[p] = city;
  t.position[city] = p;
}

}  // namespace warptsp::lk
