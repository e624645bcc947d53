// A search with a population, for Python: what tours with a direction have in common with others.
#pragma once
#include "lk/tour_population.h"

namespace warptsp {

struct BoundPopulation {
  virtual ~BoundPopulation() = default;
  virtual lk::TourPopulation &population() = 0;
  // Whether a generation takes a few milliseconds.
  virtual bool is_brief() const = 0;
};

}  // namespace warptsp
