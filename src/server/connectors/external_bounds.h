// Bounds for the answers of an external recommender, which depend on the job's recent usage, the owner's limit,
// the size of the largest machine, and the largest step. Arithmetic only.
#pragma once

#include <string>
#include <string_view>

#include "common/model/external.h"
#include "server/control/external_recommender.h"

namespace taut::server {

struct ExternalBounds {
  // Largest step as a factor. A limit may be at most this many times the maximum of usage, owner's limit and the
  // recommendation of Tautline's own recommender, or at most the limit in force. A number of tasks may be at most
  // this many times the maximum of the running, the ordered and the recommended number.
  double max_step = 10;
  // Size of the largest machine by resource; 0: unknown.
  PerResource<double> machine{};
};

struct ExternalFault {
  ExternalRefusal kind = ExternalRefusal::kImpossible;
  // The answer and the allowed amount, such as "memory limit 3.3e+12 is above ..."; "": no fault.
  std::string text;
};
// Checks the limit of each task. Returns a fault with text "" if the limit is allowed. O(tasks). REQUIRES: `value`
// is finite and above 0.
ExternalFault CheckExternalLimit(Resource r, double value, const ExternalJob& job,
                                 const ExternalBounds& bounds);
// Checks a number of tasks. Returns a fault with text "" if the number is allowed, or if the job has no replica
// policy.
ExternalFault CheckExternalTasks(double value, const ExternalJob& job, const ExternalBounds& bounds);

}  // namespace taut::server
