#ifndef _WIN32
#include <unistd.h>
#endif

#include <csignal>

#include "common.h"

using namespace warptsp;

// Lets signals wait. Python code makes enumerations: nanobind ends the process if a signal's handler raises there, and
// pybind11 names nothing twice when such an import is done again. With the interpreter's lock; the first of several.
class SignalsWait {
#ifndef _WIN32
  static constexpr int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGUSR1, SIGUSR2}, count = 6;
  static inline volatile std::sig_atomic_t came[NSIG];
  static inline struct sigaction before[count];
  static inline int waiting = 0;

 public:
  SignalsWait() {
    if (waiting++ > 0) return;
    struct sigaction wait = {};
    wait.sa_handler = [](int number) { came[number] = 1; };
    for (int i = 0; i < count; i++) {
      came[numbers[i]] = 0;
      sigaction(numbers[i], &wait, &before[i]);
    }
  }
  ~SignalsWait() {
    if (--waiting > 0) return;
    for (int i = 0; i < count; i++) sigaction(numbers[i], &before[i], nullptr);
    for (const int number : numbers)
      if (came[number]) kill(getpid(), number);  // any thread may take it
  }
#endif
};

// A file each.
typedef void Bind(nb::module_ &m);
Bind bind_bound, bind_build_info, bind_distances, bind_descent, bind_instances, bind_geometry, bind_neighbor_search,
    bind_hill_climbing, bind_path_graph, bind_pictures, bind_plans, bind_search, bind_directed, bind_batch, bind_proof,
    bind_small, bind_symmetric, bind_tours;

void bind_token(nb::module_ &m) {
  nb::class_<StopToken>(m, "StopToken", nb::dynamic_attr(),
                        "A request to stop that native loops poll; safe to use from any thread.")
      .def(nb::init<>())
      .def(nb::init<const StopToken &, double>(), "whole"_a, "seconds"_a, nb::keep_alive<1, 2>())
      .def_prop_rw(
          "poll", [](nb::handle token) -> nb::object { return nb::getattr(token, poll_of_token, nb::none()); },
          [](nb::handle token, nb::object function) { nb::setattr(token, poll_of_token, function); },
          "function"_a.none(), nb::for_getter(nb::sig("def poll(self) -> collections.abc.Callable[[], object] | None")),
          nb::for_setter(nb::sig("def poll(self, function: collections.abc.Callable[[], object] | None) -> None")),
          "Called every 20 ms by the thread that waits for a native function.")
      .def("request", &StopToken::request)
      .def("requested", &StopToken::requested)
      .def("set_deadline", &StopToken::set_deadline, "monotonic_seconds"_a)
      .def("deadline", &StopToken::deadline)
      .def("stopped", &StopToken::stopped);
  // No Python code runs in it: what a signal's handler raised would pass through code that cannot bear it.
  m.def(
      "ending",
      [](nb::object token, nb::list raised) -> nb::object {
        return nb::cpp_function([token, raised](nb::args arguments) {
          const bool failed = PyErr_CheckSignals() != 0;
          if (failed) nb::list(raised).append(nb::python_error().value());
          nb::setattr(arguments[3], "user_interrupt", nb::bool_(failed || nb::cast<bool>(token.attr("stopped")())));
        });
      },
      "token"_a, "raised"_a,
      nb::sig("def ending(token: StopToken, raised: list[BaseException]) -> collections.abc.Callable[..., None]"),
      "A callback of HiGHS that ends a solution where the token is stopped, or a signal has raised what it adds.");
  m.def(
      "import_whole",
      [](const char *name) {
        const SignalsWait wait;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        return nb::module_::import_(name);
      },
      "name"_a, nb::sig("def import_whole(name: str) -> types.ModuleType"),
      "Import a module while signals wait, for one that cannot be imported again after a signal's handler has raised.");
}

NB_MODULE(_native, m) {
#if PY_VERSION_HEX < 0x030C0000  // later ones refuse by themselves
  if (PyInterpreterState_Get() != PyInterpreterState_Main())
    throw nb::import_error("warptsp cannot be used in a sub-interpreter, only in the main one");
#endif
  const SignalsWait wait;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();  // of those that came before
  static PyObject *made;  // A signal may still end the import, and nanobind names nothing twice when it is done again.
  if (made != nullptr) {
    if (PyDict_Merge(PyModule_GetDict(m.ptr()), PyModule_GetDict(made), 0) != 0) throw nb::python_error();
    return;
  }
  // An interpreter that ends while a traceback still holds our objects is no leak worth a page of warnings.
  nb::set_leak_warnings(false);
  watch_for_the_end();
  // What others refer to comes before them.
  for (Bind *bind :
       {bind_bound, bind_build_info, bind_token, bind_distances, bind_descent, bind_instances, bind_geometry,
        bind_neighbor_search, bind_hill_climbing, bind_path_graph, bind_pictures, bind_plans, bind_search,
        bind_directed, bind_batch, bind_proof, bind_small, bind_symmetric, bind_tours})
    bind(m);
  made = m.inc_ref().ptr();
}
