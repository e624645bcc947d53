#include "instances/dimacs.h"

#include "arrays.h"

using namespace warptsp;
using namespace warptsp::instances;

namespace {

template <class Draw>
auto drawn(Draw draw, long long least) {
  return [draw, least](long long n, int seed) {
    require(n >= least && n < 0x7fffffff, "n is " + std::to_string(n));
    require(seed >= 0 && seed < SubtractiveGenerator::modulus, "seed is " + std::to_string(seed));
    return to_numpy(draw(n, seed), {size_t(n), 2});
  };
}

}  // namespace

void bind_dimacs(nb::module_ &m) {
  m.def("dimacs_uniform", drawn(dimacs_uniform, 0), "n"_a, "seed"_a);
  m.def("dimacs_clustered", drawn(dimacs_clustered, 100), "n"_a, "seed"_a);
}
