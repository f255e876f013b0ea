#include "tools/sim/published.h"

namespace taut::tools {

std::span<const PublishedSize> PublishedSizes() {
  static constexpr PublishedSize kSizes[] = {{"top 1 % of jobs, share", 0.973, 0.992, 0.986, 0.991},
                                             {"top 0.1 % of jobs, share", 0.830, 0.931, 0.893, 0.926},
                                             {"C^2", 8375, 23312, 11001, 43476},
                                             {"Pareto alpha", 0.77, 0.69, 0.72, 0.72},
                                             {"R^2 of the fit", 0.998, 0.999, 0.998, 0.996},
                                             // The values are computed as (C^2 + 1) / 2.
                                             {"wait at half load", 4188, 11657, 5501, 21739}};
  return kSizes;
}

PublishedEvents PublishedEvents2011() {
  PublishedEvents p;
  p.jobs_an_hour_mean = 964;
  p.jobs_an_hour_median = 885;
  p.tasks_again_a_new_one = 0.66;
  p.machine_shapes = 10;
  return p;
}

PublishedEvents PublishedEvents2019() {
  PublishedEvents p;
  p.jobs_an_hour_mean = 3360;
  p.jobs_an_hour_median = 3309;
  p.tasks_again_a_new_one = 2.26;
  p.machine_shapes = 21;
  p.alloc_collections = 0.02;
  p.alloc_cpu = 0.20;
  p.alloc_memory = 0.18;
  p.alloc_production = 0.95;
  return p;
}

}  // namespace taut::tools
