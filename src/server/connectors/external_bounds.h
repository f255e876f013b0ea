// Bounds of an external recommender's answers for a job. They depend on the job's recent usage, its owner's
// limit, the size of the largest machine, and the largest step. Arithmetic only.
#pragma once

#include <string>
#include <string_view>

#include "common/model/external.h"
#include "server/control/external_recommender.h"

namespace taut::server {

struct ExternalBounds {
  // Largest step. A limit may be at most this many times the highest of usage, limit in force, owner's limit
  // and Tautline's own recommendation. A number of tasks may be at most this many times the highest of the
  // numbers running, in force and recommended.
  double max_step = 10;
  // Size of the largest machine, by Resource; 0: unknown.
  PerResource<double> machine{};
};

struct ExternalFault {
  ExternalRefusal kind = ExternalRefusal::kImpossible;
  std::string
      text;  // the answer and the allowed amount, as in "memory limit 3.3e+12 is above ..."; "": no fault
};
// Checks the limit of each task. REQUIRES: value is finite and above 0. Returns a fault with text "" if the
// limit is allowed. O(tasks).
ExternalFault CheckExternalLimit(Resource r, double value, const ExternalJob& job,
                                 // Checks a number of tasks. Returns a fault with text "" if the number is
                                 // allowed, or if the job has no replica policy.
                                 const ExternalBounds& bounds);
ExternalFault CheckExternalTasks(double value, const ExternalJob& job, const ExternalBounds& bounds);

}  // namespace taut::server
