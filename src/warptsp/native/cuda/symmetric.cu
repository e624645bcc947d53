// Symmetrical 2-opt descents and annealing on a GPU; see symmetric.h. Compiled without fused multiply-adds, so that
// exact distances are those of the CPU.
//
// symmetric_warps and symmetric_blocks hold the tour of a chain in the shared memory of a block, of one warp or of
// several; symmetric_together is one descent by all blocks. symmetric_grid holds the tour in device memory, and all
// blocks share each axis.
#include "blocks.h"
#include "grid.h"
#include "symmetric/symmetric.h"

using namespace warptsp;

struct SymmetricState {
  long long step;   // axes so far
  long long quiet;  // of them since the last move
  u64 moves;
};

// What the blocks of a grid tell each other: at each barrier they use the next of three slots, and the one after it is
// cleared, which nobody can be reading or writing then.
struct SymmetricTalk {
  unsigned arrived;
  int stop[3];
  u64 first[3];  // the first axis at which somebody found a move
};

constexpr u64 nothing = ~0ull;
constexpr int most_ahead = 256;  // axes that the grid looks at between two barriers
constexpr int most_threads = 512;  // of a block: with more, registers would not do

__device__ __forceinline__ u64 nanoseconds() {
  u64 t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}

__device__ __forceinline__ float root(float v) {
  float r;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}

__device__ __forceinline__ float between(float2 a, float2 b) {
  const float x = a.x - b.x, y = a.y - b.y;
  return root(__fmaf_rn(x, x, y * y));
}

// About how much the tour grows if links of this length give way to ac and bd, rounded down.
__device__ __forceinline__ float margin(float ac, float bd, float links) { return (ac + bd) * less - links * more; }

// The distance of whole places as the metric rounds it: the one single precision finds, or one beside it. Integers
// decide, without doubt: on a lattice many distances lie just where rounding jumps.
__device__ __forceinline__ int round_whole(MetricKind kind, float2 a, float2 b, float distance) {
  const long long x = (int)(a.x - b.x), y = (int)(a.y - b.y), square = x * x + y * y;
  long long f = (int)(kind == MetricKind::euc_2d ? distance + 0.5f : distance);
  if (kind == MetricKind::euc_2d) return (int)(f + (square > f * f + f) - (f > 0 && square < f * f - f + 1));
  f += (square >= (f + 1) * (f + 1)) - (square < f * f);  // the square root, rounded down
  return (int)(f + (kind == MetricKind::ceil_2d && square > f * f));
}

// The distance as the metric rounds it, if single precision leaves no doubt about that.
__device__ __forceinline__ bool round_surely(const SymmetricInstance &instance, float distance, float &rounded) {
  const float v = instance.kind == MetricKind::euc_2d ? distance + 0.5f : distance;
  const float below = floorf(v), rest = v - below, error = (float)instance.place_error * more + v * (1.0f / (1 << 20));
  const bool up = instance.kind == MetricKind::ceil_2d || instance.kind == MetricKind::att;
  rounded = up ? below + 1.0f : below;
  return rest > error && rest < 1.0f - error;
}

// -ln(u / 2^24), off by no more than draw_error: 24 times 2^-22 of the logarithm, and some to spare.
constexpr float draw_error = 2e-5f;
__device__ __forceinline__ float about_draw(unsigned u) {
  float logarithm;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(logarithm) : "f"((float)u));
  return (24.0f - logarithm) * 0.69314718f;
}

struct Rung {
  int a, b, c, d;  // cities: of the left side at levels k + 1 and k, of the right side at k and k + 1
  float ab, cd;
};

// As the CPU does it; out of line, so that those who need it not keep their registers.
__device__ __noinline__ double exact_threshold(const SymmetricInstance &instance, double temperature, unsigned u) {
  const Acceptance acceptance{temperature, 0, 0};
  return acceptance.threshold(instance, temperature > 0.0 ? minus_log(u) : 0.0f);
}
// The lengths of the two links that an accepted rung makes; of one that is not accepted the first is negative.
__device__ __noinline__ float2 decide_exactly(const SymmetricInstance &instance, Rung rung, double temperature,
                                              unsigned u) {
  const float2 refused = {-1, -1};
  if (instance.kept(rung.a, rung.b) || instance.kept(rung.c, rung.d)) return refused;
  double ac, bd;
  const double growth = instance.growth(rung.a, rung.b, rung.c, rung.d, rung.ab, rung.cd, ac, bd);
  return growth < exact_threshold(instance, temperature, u) ? make_float2((float)ac, (float)bd) : refused;
}

// A rung as the filter sees it: the places of its cities, its links, the distances that would replace them, and by how
// much the tour grows then, at least. Nothing of it is known where the filter does not work.
struct Planar {
  float2 a, b, c, d;
  float ab, cd, ac, bd, about;

  // Whether the tour grows by more than the limit.
  __device__ bool exceeds(float limit) {
    ac = between(a, c);
    bd = between(b, d);
    about = margin(ac, bd, ab + cd);
    return about > limit;
  }
};

constexpr float largest_whole = 1 << 22;  // up to here single precision is off by less than 1

// Whether a rung that the filter let pass is accepted; `cities` looks up those of the rung. Single precision and whole
// numbers decide wherever they leave no doubt; they are a tenth of the latency of what decides then.
template <class Cities>
__device__ __forceinline__ bool accepts(const SymmetricInstance &instance, const Planar &rung,
                                        const Acceptance &acceptance, u64 key, int k, float2 &links,
                                        const Cities &cities) {
  const bool hot = acceptance.temperature > 0.0;
  const float temperature = (float)acceptance.temperature;
  const unsigned u = hot ? acceptance.number(key, k) : 1u << 24;
  const float draw = hot ? about_draw(u) : 0.0f;
  if (instance.planar) {
    if (hot && rung.about > acceptance.filter(instance, draw + draw_error)) return false;
    if (instance.whole_links) {
      // A link that must stay has not come so far.
      bool sure = round_surely(instance, rung.ac, links.x) && round_surely(instance, rung.bd, links.y);
      if (!sure && instance.planar == 2 && rung.ac < largest_whole && rung.bd < largest_whole) {
        links = make_float2((float)round_whole(instance.kind, rung.a, rung.c, rung.ac),
                            (float)round_whole(instance.kind, rung.b, rung.d, rung.bd));
        sure = true;
      }
      if (sure) {
        const int growth = (int)links.x + (int)links.y - (int)rung.ab - (int)rung.cd;
        if (!hot) return (double)growth < -instance.tolerance;
        const float room = temperature * draw - (float)growth;
        if (fabsf(room) > temperature * draw_error) return room > 0;
        return (double)growth < exact_threshold(instance, acceptance.temperature, u);
      }
    }
  }
  links = decide_exactly(instance, cities(), acceptance.temperature, u);
  return links.x >= 0;
}

// Whether an odd number of the bits behind bit `own % 32` of word `own / 32` are set. All lanes of a warp ask for
// bits of the same word.
__device__ __forceinline__ bool odd_behind(const unsigned *words, int count, int own) {
  const int lane = threadIdx.x % warp_size, word = own / 32;
  unsigned parity = __popc(words[word] >> (own % 32) >> 1);
  for (int from = word + 1; from < count; from += warp_size) {
    const unsigned v = from + lane < count ? words[from + lane] : 0;
    parity += __popc(__ballot_sync(all_lanes, __popc(v) & 1));
  }
  return parity & 1;
}

// The tour in shared memory.
struct BlockTour {
  const SymmetricInstance &instance;
  float2 *place;  // by position, as the three others
  float *link;    // to the next position
  int *city;
  unsigned *words;  // a bit a rung

  __device__ BlockTour(const SymmetricInstance &of, unsigned char *memory)
      : instance(of), place((float2 *)memory), link((float *)(place + of.size)), city((int *)(link + of.size)),
        words((unsigned *)(city + of.size)) {}

  __device__ void load(const int *cities) {
    const int n = instance.size;
    for (int p = threadIdx.x; p < n; p += blockDim.x) {
      const int own = cities[p];
      city[p] = own;
      if (instance.planar) place[p] = make_float2(instance.plane_x(own), instance.plane_y(own));
      link[p] = instance.link(own, cities[p + 1 == n ? 0 : p + 1]);
    }
    __syncthreads();
  }

  // What the filter sees of rung k.
  __device__ Planar planar(const Axis &axis, int k) const {
    const int n = instance.size, outer = left_of(axis, k + 1, n), right = right_of(axis, k, n);
    return {place[outer], place[left_of(axis, k, n)], place[right], place[right_of(axis, k + 1, n)],
            link[outer],  link[right]};
  }

  // Whether rung k is accepted; `links` are then the lengths of the two links that it makes.
  __device__ bool test(const Axis &axis, int k, u64 key, const Acceptance &acceptance, float limit,
                       float2 &links) const {
    Planar rung;
    if (instance.planar) {
      rung = planar(axis, k);
      if (rung.exceeds(limit)) return false;
    }
    return accepts(instance, rung, acceptance, key, k, links, [&] {
      const int n = instance.size, outer = left_of(axis, k + 1, n), right = right_of(axis, k, n);
      return Rung{city[outer], city[left_of(axis, k, n)], city[right], city[right_of(axis, k + 1, n)],
                  link[outer], link[right]};
    });
  }

  // Whether a descent would accept a rung of this axis. The same on all threads.
  __device__ bool look(const Axis &axis, const Acceptance &acceptance, float limit) const {
    bool found = false;
    for (int k = 1 + threadIdx.x; k <= axis.rungs && !found; k += blockDim.x) {
      float2 links;
      found = test(axis, k, 0, acceptance, limit, links);
    }
    return __syncthreads_or(found);
  }

  // Decides the rungs of an axis, and applies those accepted. Returns whether there were any: the same on all
  // threads; `moves` counts them, on the first lanes.
  __device__ bool make(const Axis &axis, u64 key, const Acceptance &acceptance, float limit, u64 &moves) {
    const int n = instance.size, lane = threadIdx.x % warp_size;
    bool found = false;
    for (int from = 0; from < axis.rungs; from += blockDim.x) {
      const int k = from + threadIdx.x + 1;
      float2 links;
      const bool accepted = k <= axis.rungs && test(axis, k, key, acceptance, limit, links);
      if (accepted) {
        // As they are if nothing beyond is reversed. No other rung reads them.
        link[left_of(axis, k + 1, n)] = links.x;
        link[right_of(axis, k, n)] = links.y;
        found = true;
      }
      const unsigned word = __ballot_sync(all_lanes, accepted);
      if (lane == 0) {
        words[(from + threadIdx.x) / 32] = word;
        moves += __popc(word);
      }
    }
    if (!__syncthreads_or(found)) return false;
    const int count = (axis.rungs + blockDim.x - 1) / blockDim.x * (blockDim.x / 32);
    for (int from = 0; from < axis.rungs; from += blockDim.x) {
      const int bit = from + threadIdx.x, k = bit + 1;
      const bool beyond = odd_behind(words, count, bit);
      if (k > axis.rungs) continue;
      apply(axis, k, beyond, beyond ^ (words[bit / 32] >> (bit % 32) & 1));
    }
    __syncthreads();
    return true;
  }

  // Exchanges the cities of level k if it is crossed, and the links of rung k if what lies beyond is reversed.
  __device__ void apply(const Axis &axis, int k, bool beyond, bool crossed) {
    const int n = instance.size;
    if (crossed) {
      const int left = left_of(axis, k, n), right = right_of(axis, k, n);
      exchange(place[left], place[right]);
      exchange(city[left], city[right]);
      if (k == 1 && axis.left == axis.right) exchange(link[left], link[axis.left]);
    }
    if (beyond) exchange(link[left_of(axis, k + 1, n)], link[right_of(axis, k, n)]);
  }

  template <class T>
  static __device__ void exchange(T &a, T &b) {
    const T t = a;
    a = b;
    b = t;
  }
};

// The tour of a chain whose block is one warp, with up to 2^rung_bits rungs around a centre; in the order of the
// threads. Few rungs pass the filter: they are lined up, so that what is dear is done once for 32 of them, be they around one
// centre or several. What is loaded together is asked for together, since one warp has nobody to wait with.
struct WarpTour : BlockTour {
  static constexpr int rung_bits = 10;  // a word of bits a lane
  static constexpr int group = 4;       // words of rungs that are evaluated side by side
  const int rungs;
  unsigned short *queue;  // rungs that passed, minus 1, and above that how many centres ahead

  __device__ WarpTour(const SymmetricInstance &of, unsigned char *memory)
      : BlockTour(of, memory), rungs((of.size - 1) / 2 - 1),
        queue((unsigned short *)(words + (1 << rung_bits) / 32)) {
    words[threadIdx.x] = 0;
  }

  __device__ Axis around(int center, int ahead) const {
    const int at = right_of({center, center, 0}, ahead, instance.size);
    return {at, at, rungs};
  }

  // Looks at so many centres, and applies the rungs accepted of the first that has any. Returns how many were passed
  // with that. Lane `turn` and those behind it hold the centres' keys; `limit` is that of the first.
  template <bool Filter>
  __device__ int pass(int center, int centers, u64 keys, int turn, const Cooling &cooling, float limit, u64 &moves,
                      bool &moved) {
    const int n = instance.size, lane = threadIdx.x;
    const unsigned earlier = (1u << lane) - 1;
    int top = 0, waiting = 0;  // the outermost rung accepted; the rungs in the queue
    for (int j = 0, from = 0; j < centers;) {
      int entry[group];
      Planar rung[group];
      bool passes[group];
#pragma unroll
      for (int g = 0; g < group; g++) {
        const bool wanted = j < centers && from + lane < rungs;
        const int k = min(from + lane + 1, rungs);
        entry[g] = wanted ? j << rung_bits | (k - 1) : -1;
        if (Filter) rung[g] = planar(around(center, j), k);
        from += warp_size;
        j += from >= rungs;
        from = from >= rungs ? 0 : from;
      }
#pragma unroll
      for (int g = 0; g < group; g++) {
        passes[g] = entry[g] >= 0;
        if (Filter) passes[g] &= !rung[g].exceeds(limit);
      }
#pragma unroll
      for (int g = 0; g < group; g++) {
        const unsigned word = __ballot_sync(all_lanes, passes[g]);
        if (passes[g]) queue[waiting + __popc(word & earlier)] = (unsigned short)entry[g];
        waiting += __popc(word);
      }
      if (waiting == 0 || (waiting < warp_size && j < centers)) continue;
      __syncwarp();
      for (int first = 0; first < waiting; first += warp_size) {
        const int own = queue[min(first + lane, waiting - 1)], ahead = own >> rung_bits;
        const int k = (own & ((1 << rung_bits) - 1)) + 1;
        const u64 key = __shfl_sync(all_lanes, keys, turn + ahead);
        const Axis axis = around(center, ahead);
        float2 links;
        bool accepted = first + lane < waiting && ahead < centers;
        if (accepted) {
          Cooling then = cooling;
          if (then.spent + ahead >= then.iterations) then.advance(ahead);
          accepted = test(axis, k, key, Acceptance{then.temperature, 0, 0}, limit, links);
        }
        unsigned which = __ballot_sync(all_lanes, accepted);
        if (which == 0) continue;
        __syncwarp();  // before links are written that other lanes have looked at
        // Centres behind the first that moves have to wait for it.
        centers = __shfl_sync(all_lanes, ahead, __ffs(which) - 1) + 1;
        accepted &= ahead < centers;
        if (accepted) {
          link[left_of(axis, k + 1, n)] = links.x;
          link[right_of(axis, k, n)] = links.y;
          atomicOr(words + (k - 1) / 32, 1u << (k - 1) % 32);
        }
        which = __ballot_sync(all_lanes, accepted);
        top = __shfl_sync(all_lanes, k, 31 - __clz(which));
        if (lane == 0) moves += __popc(which);
      }
      waiting = 0;
      __syncwarp();
    }
    moved = top > 0;
    if (moved) apply_words(around(center, centers - 1), top);
    return centers;
  }

  // Applies the rungs whose bits are set in `words`, the outermost of them `top`, and clears the bits.
  __device__ void apply_words(const Axis &axis, int top) {
    const int n = instance.size, lane = threadIdx.x;
    const unsigned own = words[lane];  // of word `lane`
    words[lane] = 0;
    const unsigned odd = __ballot_sync(all_lanes, __popc(own) & 1);
    for (int w = (top - 1) / 32; w >= 0; w -= 2) {
      bool beyond[2], crossed[2];
      int left[2], right[2], outer[2], left_city[2], right_city[2];
      float2 left_place[2], right_place[2];
      float outer_link[2], right_link[2];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const int at = w - i, k = min(32 * max(at, 0) + lane + 1, rungs);
        const unsigned word = __shfl_sync(all_lanes, own, max(at, 0));
        beyond[i] = at >= 0 && ((__popc(word >> lane >> 1) + __popc(odd >> max(at, 0) >> 1)) & 1) != 0;
        crossed[i] = at >= 0 && beyond[i] != ((word >> lane & 1) != 0);
        left[i] = left_of(axis, k, n);
        right[i] = right_of(axis, k, n);
        outer[i] = left_of(axis, k + 1, n);
        if (crossed[i]) {
          left_place[i] = place[left[i]];
          right_place[i] = place[right[i]];
          left_city[i] = city[left[i]];
          right_city[i] = city[right[i]];
        }
        if (beyond[i]) {
          outer_link[i] = link[outer[i]];
          right_link[i] = link[right[i]];
        }
      }
#pragma unroll
      for (int i = 0; i < 2; i++) {
        if (crossed[i]) {
          place[left[i]] = right_place[i];
          place[right[i]] = left_place[i];
          city[left[i]] = right_city[i];
          city[right[i]] = left_city[i];
        }
        if (beyond[i]) {
          link[outer[i]] = right_link[i];
          link[right[i]] = outer_link[i];
        }
        // Around the city in the centre there are two more links.
        if (w - i == 0 && lane == 0 && crossed[i]) exchange(link[left[i]], link[axis.left]);
      }
    }
    __syncwarp();
  }
};

// What a block knows of its chain, beside the tour: on all threads.
struct Walk {
  const SymmetricInstance &instance;
  SymmetricState state;
  int phase;
  u64 moves = 0;  // on the first lanes

  __device__ Walk(const SymmetricInstance &of, const SymmetricState &from)
      : instance(of), state(from), phase((int)(from.step % axes_of(of))) {}

  __device__ bool is_done() const { return state.quiet >= axes_of(instance); }
  __device__ Axis axis() const { return axis_at(instance, phase); }

  // So many axes more, the last of them with moves or not. While it is hot, quiet ones are not counted.
  __device__ void pass(int axes, bool moved, bool cold) {
    const int all = axes_of(instance);
    phase += axes;
    if (phase >= all) phase -= all;
    if (!cold) {
      state.step += axes;
      return;
    }
    skip(instance, axes - moved, state.step, state.quiet);
    if (moved) state.quiet = quiet_after(instance, state.quiet, ++state.step, true);
  }
};

// Every block anneals, or descends, a chain of its own: for so many axes, or until it is 2-optimal.
extern "C" __global__ void __launch_bounds__(most_threads)
    symmetric_blocks(const __grid_constant__ SymmetricInstance instance, SymmetricState *states, int *cities,
                     Cooling cooling, u64 seed, long long steps) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int n = instance.size, chain = blockIdx.x;
  const bool cold = cooling.temperature <= 0;
  BlockTour tour(instance, memory);
  tour.load(cities + (long long)chain * n);
  Walk walk(instance, states[chain]);
  Acceptance acceptance{cooling.temperature, seed, (u64)chain};
  float limit = acceptance.most(instance);
  for (long long s = 0; s < steps && !(cold && walk.is_done()); s++) {
    const bool moved = tour.make(walk.axis(), acceptance.key(walk.state.step), acceptance, limit, walk.moves);
    walk.pass(1, moved, cold);
    if (cold) continue;
    cooling.advance();
    if (cooling.spent == 0) {
      acceptance.temperature = cooling.temperature;
      limit = acceptance.most(instance);
    }
  }
  for (int p = threadIdx.x; p < n; p += blockDim.x) cities[(long long)chain * n + p] = tour.city[p];
  if (walk.moves != 0) atomicAdd(&states[chain].moves, walk.moves);
  if (threadIdx.x == 0) {
    states[chain].step = walk.state.step;
    states[chain].quiet = cold ? walk.state.quiet : 0;
  }
}

// Every block is one warp, which does the same, in the order of the threads. It looks at several centres at a time
// while moves are few: what it waits for then it waits for once.
template <bool Filter>
__device__ __forceinline__ void walk_alone(WarpTour &tour, Walk &walk, Cooling cooling, const Acceptance &acceptance,
                                           long long steps) {
  constexpr int most_words = 16;  // of rungs that one look should evaluate
  const SymmetricInstance &instance = tour.instance;
  const int n = instance.size, lane = threadIdx.x;
  const bool cold = cooling.temperature <= 0;
  const int most_ahead = max(1, min(n, most_words * warp_size / tour.rungs));
  float limit = acceptance.most(instance);
  u64 keys = 0;  // of the steps from the last multiple of 32 on, one a lane
  int ahead = 1;
  for (long long left = steps; left > 0 && !(cold && walk.is_done());) {
    const int turn = (unsigned)walk.state.step % warp_size;
    if (!cold && (turn == 0 || left == steps)) keys = acceptance.key(walk.state.step - turn + lane);
    const long long most = cold ? min(left, n - walk.state.quiet) : left;
    const int count = (int)min(most, (long long)min(ahead, warp_size - turn));
    bool moved;
    const int passed =
        tour.pass<Filter>(walk.axis().left, count, keys, turn, cooling, limit, walk.moves, moved);
    ahead = moved ? (ahead + passed + 1) / 2 : min(2 * ahead, most_ahead);
    left -= passed;
    walk.pass(passed, moved, cold);
    if (cold) continue;
    const double temperature = cooling.temperature;
    cooling.advance(passed);
    if (cooling.temperature != temperature) limit = Acceptance{cooling.temperature, 0, 0}.most(instance);
  }
}

extern "C" __global__ void __launch_bounds__(warp_size, 16)
    symmetric_warps(const __grid_constant__ SymmetricInstance instance, SymmetricState *states, int *cities,
                    Cooling cooling, u64 seed, long long steps) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int n = instance.size, chain = blockIdx.x, lane = threadIdx.x;
  WarpTour tour(instance, memory);
  tour.load(cities + (long long)chain * n);
  Walk walk(instance, states[chain]);
  const Acceptance acceptance{cooling.temperature, seed, (u64)chain};
  if (instance.planar)
    walk_alone<true>(tour, walk, cooling, acceptance, steps);
  else
    walk_alone<false>(tour, walk, cooling, acceptance, steps);
  for (int p = lane; p < n; p += warp_size) cities[(long long)chain * n + p] = tour.city[p];
  if (lane == 0)
    states[chain] = {walk.state.step, cooling.temperature > 0 ? 0 : walk.state.quiet, states[chain].moves + walk.moves};
}

// All blocks descend the same chain, each in its own copy: while moves are many every block makes them all, without a
// word; while they are few each looks at other axes ahead, and after a barrier all go on to the first that has a move.
extern "C" __global__ void __launch_bounds__(most_threads)
    symmetric_together(const __grid_constant__ SymmetricInstance instance, SymmetricState *states, int *cities,
                       SymmetricTalk *talk, u64 slice) {
  extern __shared__ __align__(16) unsigned char memory[];
  constexpr int most_alone = 1024, most_each = 8;
  const int n = instance.size, all = axes_of(instance);
  BlockTour tour(instance, memory);
  tour.load(cities);
  Walk walk(instance, states[0]);
  const Acceptance acceptance{0.0, 0, 0};
  const float limit = acceptance.most(instance);
  const u64 end = nanoseconds() + slice;
  int slot = 0, each = 1, gap = 0, since = 0;  // axes from move to move, of late; and since the last one
  bool stop = false;
  const auto make = [&] {
    const bool moved = tour.make(walk.axis(), 0, acceptance, limit, walk.moves);
    walk.pass(1, moved, true);
    since++;
    if (!moved) return;
    gap = min((3 * gap + since - 1) / 4 + 1, 1 << 20);
    since = 0;
  };
  while (!stop) {
    // A barrier takes as long as some axes.
    for (int alone = 0; alone < most_alone && gap < 8 && since < 8 && !walk.is_done(); alone++) make();
    if (walk.is_done()) break;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      const int next = (slot + 1) % 3;
      talk->first[next] = nothing;
      talk->stop[next] = 0;
      if (nanoseconds() >= end) talk->stop[slot] = 1;
    }
    const long long count = min((long long)each * gridDim.x, all - walk.state.quiet);
    for (long long s = blockIdx.x; s < count; s += gridDim.x) {
      int ahead = walk.phase + (int)s;
      if (ahead >= all) ahead -= all;
      if (!tour.look(axis_at(instance, ahead), acceptance, limit)) continue;
      if (threadIdx.x == 0) atomicMin(&talk->first[slot], (u64)(walk.state.step + s));
      break;
    }
    grid_barrier(&talk->arrived);
    const u64 first = *(volatile u64 *)&talk->first[slot];
    stop = *(volatile int *)&talk->stop[slot];
    const long long skipped = first == nothing ? count : (long long)first - walk.state.step;
    skip(instance, skipped, walk.state.step, walk.state.quiet);
    walk.phase = (int)((walk.phase + skipped) % all);
    since += (int)skipped;
    each = first == nothing ? min(2 * each, most_each) : 1;
    if (first != nothing) make();
    slot = (slot + 1) % 3;
  }
  // Copies are all the same: one is handed back.
  if (blockIdx.x != 0) return;
  for (int p = threadIdx.x; p < n; p += blockDim.x) cities[p] = tour.city[p];
  if (walk.moves != 0) atomicAdd(&states[0].moves, walk.moves);
  if (threadIdx.x == 0) {
    states[0].step = walk.state.step;
    states[0].quiet = walk.state.quiet;
  }
}

// The tour in device memory, which other blocks change: read and written past the first level of caches.
struct GridTour {
  int *city;
  float2 *place;
  float *link;
};

extern "C" __global__ void symmetric_place(SymmetricInstance instance, const int *cities, GridTour tour) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x, n = instance.size;
  if (p >= n) return;
  const int own = cities[p];
  tour.city[p] = own;
  tour.place[p] = instance.planar ? make_float2(instance.plane_x(own), instance.plane_y(own)) : make_float2(0, 0);
  tour.link[p] = instance.link(own, cities[p + 1 == n ? 0 : p + 1]);
}

// One chain on the whole GPU: every block has a stretch of the rungs of each axis. Where moves are few, a descent looks
// at many axes between two barriers.
extern "C" __global__ void __launch_bounds__(most_threads)
    symmetric_grid(const __grid_constant__ SymmetricInstance instance, SymmetricState *states, GridTour tour,
                   Cooling cooling, u64 seed, u64 chain, long long steps, SymmetricTalk *talk, int *flags, u64 slice) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ int found_at;
  const int n = instance.size, all = axes_of(instance), rungs = axis_at(instance, 0).rungs;
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, warps = blockDim.x / warp_size;
  const int stretch = (rungs + gridDim.x - 1) / gridDim.x;
  const int low = 1 + blockIdx.x * stretch, high = min(low + stretch, rungs + 1);  // rungs low to high - 1
  const int window = stretch + most_ahead + 2;
  float2 *const left_place = (float2 *)memory, *const right_place = left_place + window;
  float *const left_link = (float *)(right_place + window), *const right_link = left_link + window;
  unsigned *const words = (unsigned *)(right_link + window);
  const int word_count = (stretch + blockDim.x - 1) / blockDim.x * warps;

  SymmetricState state = states[0];
  int phase = (int)(state.step % all);
  const bool cold = cooling.temperature <= 0;
  Acceptance acceptance{cooling.temperature, seed, chain};
  float limit = acceptance.most(instance);
  u64 moves = 0;
  const u64 end = nanoseconds() + slice;
  int slot = 0, gap = 0;  // axes from move to move, of late
  long long since = 0;
  bool stop = false;

  for (long long made = 0; made < steps && !stop && !(cold && state.quiet >= all);) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      const int next = (slot + 1) % 3;
      talk->first[next] = nothing;
      talk->stop[next] = 0;
      if (nanoseconds() >= end) talk->stop[slot] = 1;
    }
    if (cold && gap > 2) {
      // Look ahead.
      const int ahead = (int)min((long long)min(max(2 * gap, 8), most_ahead), all - state.quiet);
      const Axis first_axis = unwrapped_axis(instance, phase), last_axis = unwrapped_axis(instance, phase + ahead - 1);
      const int left_from = min(first_axis.left, last_axis.left) - high,
                left_to = max(first_axis.left, last_axis.left) - low;
      const int right_from = min(first_axis.right, last_axis.right - 1) + low,
                right_to = max(first_axis.right + 1, last_axis.right) + high;
      if (threadIdx.x == 0) found_at = ahead;
      if (instance.planar && low < high) {
        for (int p = left_from + threadIdx.x; p <= left_to; p += blockDim.x) {
          const int q = ((p % n) + n) % n;
          left_place[p - left_from] = __ldcg(tour.place + q);
          left_link[p - left_from] = __ldcg(tour.link + q);
        }
        for (int p = right_from + threadIdx.x; p <= right_to; p += blockDim.x) {
          const int q = ((p % n) + n) % n;
          right_place[p - right_from] = __ldcg(tour.place + q);
          right_link[p - right_from] = __ldcg(tour.link + q);
        }
      }
      __syncthreads();
      for (int j = warp; j < ahead && j < *(volatile int *)&found_at; j += warps) {
        const Axis axis = unwrapped_axis(instance, phase + j);
        bool found = false;
        for (int k = low + lane; k < high && !found; k += warp_size) {
          const int l = axis.left - k - left_from, r = axis.right + k - right_from;
          Planar rung;
          if (instance.planar) {
            rung = {left_place[l - 1], left_place[l], right_place[r],
                    right_place[r + 1], left_link[l - 1], right_link[r]};
            if (rung.exceeds(limit)) continue;
          }
          float2 links;
          found = accepts(instance, rung, Acceptance{0.0, 0, 0}, 0, k, links, [&] {
            const Axis at = axis_at(instance, phase + j >= all ? phase + j - all : phase + j);
            const int outer = left_of(at, k + 1, n), right = right_of(at, k, n);
            return Rung{__ldcg(tour.city + outer), __ldcg(tour.city + left_of(at, k, n)), __ldcg(tour.city + right),
                        __ldcg(tour.city + right_of(at, k + 1, n)), __ldcg(tour.link + outer),
                        __ldcg(tour.link + right)};
          });
        }
        if (__any_sync(all_lanes, found)) {
          if (lane == 0) atomicMin(&found_at, j);
          break;
        }
      }
      __syncthreads();
      if (threadIdx.x == 0 && found_at < ahead) atomicMin(&talk->first[slot], (u64)(state.step + found_at));
      grid_barrier(&talk->arrived);
      const u64 first = *(volatile u64 *)&talk->first[slot];
      stop = *(volatile int *)&talk->stop[slot];
      slot = (slot + 1) % 3;
      const long long skipped = first == nothing ? ahead : (long long)first - state.step;
      skip(instance, skipped, state.step, state.quiet);
      phase = (int)((phase + skipped) % all);
      since += skipped;
      made += skipped;
      if (first == nothing) gap = min(2 * gap, most_ahead);
      if (first == nothing || stop || made >= steps) continue;
      if (blockIdx.x == 0 && threadIdx.x == 0) {
        const int next = (slot + 1) % 3;
        talk->first[next] = nothing;
        talk->stop[next] = 0;
      }
    }
    // Decide and apply one axis.
    const Axis axis = axis_at(instance, phase);
    const u64 key = acceptance.key(state.step);
    bool found = false;
    for (int from = 0; from < stretch; from += blockDim.x) {
      const int k = low + from + threadIdx.x;
      bool accepted = false;
      if (k < high) {
        const int outer = left_of(axis, k + 1, n), left = left_of(axis, k, n), right = right_of(axis, k, n),
                  beyond = right_of(axis, k + 1, n);
        const float ab = __ldcg(tour.link + outer), cd = __ldcg(tour.link + right);
        Planar rung;
        bool passes = true;
        if (instance.planar) {
          rung = {__ldcg(tour.place + outer), __ldcg(tour.place + left), __ldcg(tour.place + right),
                  __ldcg(tour.place + beyond), ab, cd};
          passes = !rung.exceeds(limit);
        }
        if (passes) {
          float2 links;
          accepted = accepts(instance, rung, acceptance, key, k, links, [&] {
            return Rung{__ldcg(tour.city + outer), __ldcg(tour.city + left), __ldcg(tour.city + right),
                        __ldcg(tour.city + beyond), ab, cd};
          });
          if (accepted) {
            __stcg(tour.link + outer, links.x);
            __stcg(tour.link + right, links.y);
            found = true;
          }
        }
      }
      const unsigned word = __ballot_sync(all_lanes, accepted);
      if (lane == 0) {
        words[(from + threadIdx.x) / 32] = word;
        moves += __popc(word);
      }
    }
    const bool any_here = __syncthreads_or(found);
    if (warp == 0) {
      const bool odd = any_here && (odd_behind(words, word_count, 0) ^ (words[0] & 1));
      if (lane == 0) __stcg(flags + slot * gridDim.x + blockIdx.x, (int)any_here << 1 | (int)odd);
    }
    grid_barrier(&talk->arrived);
    stop = *(volatile int *)&talk->stop[slot];
    int any = 0, behind = 0;
    for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
      const int flag = __ldcg(flags + slot * gridDim.x + b);
      any |= flag;
      behind ^= b > blockIdx.x ? flag & 1 : 0;
    }
    const bool moved = __syncthreads_or(any);
    slot = (slot + 1) % 3;
    if (moved) {
      const bool odd_blocks = __syncthreads_count(behind) & 1;
      for (int from = 0; from < stretch; from += blockDim.x) {
        const int bit = from + threadIdx.x, k = low + bit;
        const bool beyond = odd_behind(words, word_count, bit) ^ odd_blocks;
        if (k >= high) continue;
        const bool crossed = beyond ^ (words[bit / 32] >> (bit % 32) & 1);
        const int left = left_of(axis, k, n), right = right_of(axis, k, n), outer = left_of(axis, k + 1, n);
        const float inner_link = __ldcg(tour.link + right);
        if (crossed) {
          const float2 place = __ldcg(tour.place + left);
          __stcg(tour.place + left, __ldcg(tour.place + right));
          __stcg(tour.place + right, place);
          const int city = __ldcg(tour.city + left);
          __stcg(tour.city + left, __ldcg(tour.city + right));
          __stcg(tour.city + right, city);
          if (k == 1 && axis.left == axis.right) {
            const float link = __ldcg(tour.link + left);
            __stcg(tour.link + left, __ldcg(tour.link + axis.left));
            __stcg(tour.link + axis.left, link);
          }
        }
        if (beyond) {
          __stcg(tour.link + right, __ldcg(tour.link + outer));
          __stcg(tour.link + outer, inner_link);
        }
      }
      grid_barrier(&talk->arrived);
      gap = (int)min((3LL * gap + since + 3) / 4, (long long)most_ahead);
      since = 0;
    } else {
      since++;
      if (since > 2 && gap <= 2) gap = 3;
    }
    state.step++;
    made++;
    state.quiet = quiet_after(instance, state.quiet, state.step, moved);
    if (++phase == all) phase = 0;
    if (!cold) {
      cooling.advance();
      if (cooling.spent == 0) {
        acceptance.temperature = cooling.temperature;
        limit = acceptance.most(instance);
      }
    }
  }
  if (moves != 0) atomicAdd(&states[0].moves, moves);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    states[0].step = state.step;
    states[0].quiet = cold ? state.quiet : 0;
  }
}

// The exact length of each chain's tour, a block a chain.
extern "C" __global__ void __launch_bounds__(256)
    symmetric_lengths(SymmetricInstance instance, const int *cities, double *lengths) {
  const int n = instance.size;
  const int *own = cities + (long long)blockIdx.x * n;
  double sum = 0;
  for (int p = threadIdx.x; p < n; p += blockDim.x) sum += instance.distance(own[p], own[p + 1 == n ? 0 : p + 1]);
  sum = block_sum<256>(sum);
  if (threadIdx.x == 0) lengths[blockIdx.x] = sum;
}
