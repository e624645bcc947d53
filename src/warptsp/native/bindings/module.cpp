#include "common.h"

using namespace warptsp;

void bind_batch(nb::module_ &m);
void bind_bound(nb::module_ &m);
void bind_build_info(nb::module_ &m);
void bind_descent(nb::module_ &m);
void bind_dimacs(nb::module_ &m);
void bind_directed(nb::module_ &m);
void bind_distances(nb::module_ &m);
void bind_geometry(nb::module_ &m);
void bind_neighbor_search(nb::module_ &m);
void bind_hill_climbing(nb::module_ &m);
void bind_path_graph(nb::module_ &m);
void bind_pictures(nb::module_ &m);
void bind_search(nb::module_ &m);
void bind_plans(nb::module_ &m);
void bind_proof(nb::module_ &m);
void bind_small(nb::module_ &m);
void bind_symmetric(nb::module_ &m);
void bind_tour_check(nb::module_ &m);
void bind_tour_cut(nb::module_ &m);
void bind_tour_merge(nb::module_ &m);
void bind_tsplib(nb::module_ &m);

NB_MODULE(_native, m) {
#if PY_VERSION_HEX < 0x030C0000  // later ones refuse by themselves
  if (PyInterpreterState_Get() != PyInterpreterState_Main())
    throw nb::import_error("warptsp cannot be used in a sub-interpreter, only in the main one");
#endif
  // An interpreter that ends while a traceback still holds our objects is no leak worth a page of warnings.
  nb::set_leak_warnings(false);
  watch_for_the_end();
  bind_bound(m);
  bind_build_info(m);
  nb::class_<StopToken>(m, "StopToken", nb::dynamic_attr(),
                        "A request to stop that native loops poll; safe to use from any thread.")
      .def(nb::init<>())
      .def(nb::init<const StopToken &, double>(), nb::arg("whole"), nb::arg("seconds"), nb::keep_alive<1, 2>())
      .def_prop_rw(
          "poll", [](nb::handle token) -> nb::object { return nb::getattr(token, poll_of_token, nb::none()); },
          [](nb::handle token, nb::object function) { nb::setattr(token, poll_of_token, function); },
          nb::arg("function").none(),
          nb::for_getter(nb::sig("def poll(self) -> collections.abc.Callable[[], object] | None")),
          nb::for_setter(nb::sig("def poll(self, function: collections.abc.Callable[[], object] | None) -> None")),
          "Called every 20 ms by the thread that waits for a native function.")
      .def("request", &StopToken::request)
      .def("requested", &StopToken::requested)
      .def("set_deadline", &StopToken::set_deadline, nb::arg("monotonic_seconds"))
      .def("deadline", &StopToken::deadline)
      .def("stopped", &StopToken::stopped);
  bind_distances(m);
  bind_descent(m);
  bind_dimacs(m);
  bind_geometry(m);
  bind_neighbor_search(m);
  bind_hill_climbing(m);
  bind_path_graph(m);
  bind_pictures(m);
  bind_plans(m);
  bind_search(m);
  bind_directed(m);
  bind_batch(m);
  bind_proof(m);
  bind_small(m);
  bind_symmetric(m);
  bind_tour_check(m);
  bind_tour_cut(m);
  bind_tour_merge(m);
  bind_tsplib(m);
}
