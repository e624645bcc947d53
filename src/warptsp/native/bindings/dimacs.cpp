#include "instances/dimacs.h"

#include "common.h"

using namespace warptsp;

void bind_dimacs(nb::module_ &m) {
  m.def("dimacs_uniform", [](long long n, int seed) { return to_numpy(dimacs_uniform(n, seed), {size_t(n), 2}); },
        nb::arg("n"), nb::arg("seed"));
  m.def("dimacs_clustered",
        [](long long n, int seed) { return to_numpy(dimacs_clustered(n, seed), {size_t(n), 2}); }, nb::arg("n"),
        nb::arg("seed"));
}
