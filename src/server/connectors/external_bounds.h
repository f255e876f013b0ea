// Bounds of an external recommender's answers for a job: its recent usage, its owner's limit, the largest
// machine and one step. Arithmetic only.
#pragma once

#include <string>
#include <string_view>

#include "common/model/external.h"
#include "server/control/external_recommender.h"

namespace taut::server {

struct ExternalBounds {
  // Largest step. A limit may be at most this many times the highest of usage, limit in force, owner's limit
  // and Tautline's own recommendation; a number of tasks, at most this many times the number running or in
  // force.
  double max_step = 10;
  // Size of the largest machine, by Resource; 0: unknown.
  PerResource<double> machine{};
};

struct ExternalFault {
  ExternalRefusal kind = ExternalRefusal::kImpossible;
  std::string text;  // "memory limit 3.3e+12 is above ...": the answer and the allowed amount; "": none
};
// Checks the limit of each task. REQUIRES: value is finite and above 0. Returns a fault with text "" if it is
// allowed. O(tasks).
ExternalFault CheckExternalLimit(Resource r, double value, const ExternalJob& job,
                                 // Checks a number of tasks; always allowed if the job has no replica policy.
                                 const ExternalBounds& bounds);
ExternalFault CheckExternalTasks(double value, const ExternalJob& job, const ExternalBounds& bounds);

}  // namespace taut::server
