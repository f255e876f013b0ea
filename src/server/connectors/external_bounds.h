// What an external recommender may answer about a job: within its recent usage, its owner's limit, the largest
// machine and one step. Plain arithmetic.
#pragma once

#include <string>
#include <string_view>

#include "common/model/external.h"
#include "server/control/external_recommender.h"

namespace taut::server {

struct ExternalBounds {
  // A limit at most this many times the highest of what the job uses, has in force, has from its owner, and its
  // own recommender says; and of tasks, at most this many times those that run or are in force.
  double max_step = 10;
  // Of the largest machine, by Resource; 0: not known.
  PerResource<double> machine{};
};

struct ExternalFault {
  ExternalRefusal kind = ExternalRefusal::kImpossible;
  std::string text;  // "memory limit 3.3e+12 is above ...": what was answered, and what is allowed; "": none
};
// A limit of each task, finite and above 0.
ExternalFault CheckExternalLimit(Resource r, double value, const ExternalJob& job,
                                 const ExternalBounds& bounds);
ExternalFault CheckExternalTasks(double value, const ExternalJob& job, const ExternalBounds& bounds);

}  // namespace taut::server
