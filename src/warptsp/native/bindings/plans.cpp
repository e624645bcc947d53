// How the main solver searches: parameters and plans, for Python.
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "fields.h"
#include "lk/lk_arrays.h"
#include "lk/tour_population.h"

using namespace warptsp;
using namespace warptsp::lk;

namespace {

void check_kicks(const Kicks &kicks) { require(kicks.segment >= 1, "segment is out of range"); }

void check_population(const PopulationPlan &plan) {
  require(plan.members >= 0 && plan.at_once >= 1 && plan.at_once <= 1000 && plan.selection >= 1 && plan.idle >= 1,
          "members, at_once, selection or idle is out of range");
  require(plan.agreeing >= 1 && plan.most >= 1 && (plan.members > 0 || plan.most == 1),
          "agreeing or most is out of range");
}

void check_annealing(const AnnealingPlan &plan) {
  require(plan.kicks >= 0 && plan.step >= 1 && plan.cold >= 0 && plan.cold < 1, "kicks, step or cold is out of range");
}

// Up to the level from which on it is 1.
std::vector<int> breadth_of(const LkParams &params) {
  int levels = lk_wide_levels;
  while (levels > 1 && params.breadth[levels - 1] == 1 && params.breadth[levels - 2] == 1) levels--;
  return std::vector<int>(params.breadth, params.breadth + levels);
}

LkParams params_of(int depth, const std::vector<int> &breadth, const Kicks &kicks) {
  require(depth >= 1 && depth <= lk_max_depth && !breadth.empty() && breadth.size() <= lk_wide_levels,
          "depth or breadth is out of range");
  LkParams params;
  params.depth = depth;
  params.kicks = kicks;
  for (int level = 0; level < lk_wide_levels; level++) {
    const int b = level < (int)breadth.size() ? breadth[level] : 1;
    require(b >= 1 && b <= lk_max_breadth, "a breadth is out of range");
    params.breadth[level] = b;
  }
  return params;
}

}  // namespace

void bind_plans(nb::module_ &m) {
  bind_fields(m, "Kicks", "Which edges a double bridge cuts.", &check_kicks,
              field("segment", &Kicks::segment, "Longest segment of a double bridge."),
              field("walk", &Kicks::walk, "Steps of a random walk from one of its edges to the next."),
              field("walks", &Kicks::walks, "Share of the kicks that are random walks."),
              field("long_links", &Kicks::long_links, "Share of the kicks that cut long edges."));
  bind_fields(
      m, "PopulationPlan", "Populations from the first member to the end.", &check_population,
      field("members", &PopulationPlan::members, "To grow, beside the best tour; 0: the population is there."),
      field("at_once", &PopulationPlan::at_once, "Members that one step grows."),
      field("selection", &PopulationPlan::selection, "Of so many children one is taken."),
      field("idle", &PopulationPlan::idle, "Generations without progress that end it."),
      field("agreeing", &PopulationPlan::agreeing,
            "Populations that end with the shortest length found, after which no other begins."),
      field("most", &PopulationPlan::most, "Populations."),
      field("uneven", &PopulationPlan::uneven, "Whether a member may be far better than the others."),
      field("patient", &PopulationPlan::patient, "Whether blocks go on as long as they gain anything."),
      field("early", &PopulationPlan::early, "Whether blocks begin before single cycles gain next to nothing."));
  bind_fields(m, "AnnealingPlan", "Kicks at a temperature that falls.", &check_annealing,
              field("kicks", &AnnealingPlan::kicks, "In all."),
              field("step", &AnnealingPlan::step, "Kicks at one temperature."),
              field("start", &AnnealingPlan::start, "The first temperature, in mean edges of the tour."),
              field("cold", &AnnealingPlan::cold, "Share of the kicks at the end that have the temperature 0."));
  m.def("cooled", &cooled<double>, "progress"_a, "cold"_a,
        "What is left of the start temperature at a share of the planned limit, with so much of it at 0 "
        "(native/lk/kick_kinds.h).");
  const LkParams usual;
  nb::class_<LkParams>(m, "LkParams", "How the main solver searches a tour, whatever the instance.")
      .def(
          "__init__",
          [](LkParams *self, int depth, const std::vector<int> &breadth, const Kicks &kicks) {
            new (self) LkParams(params_of(depth, breadth, kicks));
          },
          nb::kw_only(), "depth"_a = usual.depth, "breadth"_a = breadth_of(usual), "kicks"_a = usual.kicks)
      .def_ro("depth", &LkParams::depth, "Exchange steps of one move, at most.")
      .def_prop_ro("breadth", &breadth_of, "Alternatives at the first steps; 1 at the rest.")
      .def_ro("kicks", &LkParams::kicks);
}
