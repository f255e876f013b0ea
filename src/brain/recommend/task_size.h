// Wrappers for jobs whose number of tasks follows their load: the usage of one task depends on the number of tasks
// as much as on the task's need.
#pragma once

#include <memory>
#include <optional>

#include "brain/recommend/recommender.h"
#include "common/model/resource.h"

namespace taut::brain {

// Recommends the last size of TakeTaskSize, and nothing before the first call (the owner's limit stays). Used for
// the CPU limit of a job whose load is its CPU. A limit that followed usage would change the number of tasks, and
// therefore the usage of each task. `inner` observes every window but its limits are not used.
std::unique_ptr<Recommender> WithTaskSize(std::unique_ptr<Recommender> inner);

// Passes each window to `inner` with usage scaled to a constant load per task. A scale-out then does not appear as
// a falling need, nor a scale-in as a rising need. The result is scaled to the load of a busy task: the load from
// TakeTaskSize, or the highest load of the last days, which halves in three days. Usage is modelled as a fixed
// part plus a part per unit of load (DecayedLine over about two weeks); until DecayedLine::is_known nothing is
// scaled. The load is Signal::load if `of_series`, else the sum of the tasks' CPU usage.
std::unique_ptr<Recommender> WithTaskLoad(std::unique_ptr<Recommender> inner, Resource resource,
                                          bool of_series);

}  // namespace taut::brain
