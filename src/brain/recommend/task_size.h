// Wrappers for jobs whose number of tasks follows their load: the usage of one task depends on the number of
// tasks as much as on its need.
#pragma once

#include <memory>
#include <optional>

#include "brain/recommend/recommender.h"
#include "common/model/resource.h"

namespace taut::brain {

// Recommends the last size of TakeTaskSize, and nothing before the first (the owner's limit stays). For the
// CPU limit of a job whose load is its CPU: a limit that followed usage would change the number of tasks, and
// with it the usage of each. `inner` observes every window but its limits are not used.
std::unique_ptr<Recommender> WithTaskSize(std::unique_ptr<Recommender> inner);

// Shows `inner` each window as if its tasks had always carried the same load. A scale-out then does not look
// like a falling need, nor a scale-in like a rising one. The result is scaled to the load of a busy task: the
// load from TakeTaskSize, or the highest of the last days, which halves in three days. Usage is modelled as a
// fixed part plus a part per unit of load (DecayedLine over about two weeks); until DecayedLine::is_known
// nothing is scaled. The load is Signal::load if `of_series`, else the CPU that the tasks use together.
std::unique_ptr<Recommender> WithTaskLoad(std::unique_ptr<Recommender> inner, Resource resource,
                                          bool of_series);

}  // namespace taut::brain
