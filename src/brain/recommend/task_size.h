// Recommenders of a job whose number of tasks follows its load: what one task uses says how many tasks there are
// as much as what a task needs.
#pragma once

#include <memory>
#include <optional>

#include "brain/recommend/recommender.h"
#include "common/model/resource.h"

namespace taut::brain {

// Recommends the size that TakeTaskSize was given last, and nothing before (the owner's limit stays). For the CPU
// of a job whose load is its CPU: a limit that followed the usage would change the number of tasks, which
// changes the usage of each. `inner` sees every window and explains nothing.
std::unique_ptr<Recommender> WithTaskSize(std::unique_ptr<Recommender> inner);

// `inner` sees each window as if its tasks had carried the load of a busy one, so that it does not take a
// scale-out for a falling need, nor a scale-in for a rising one. What a task uses is fixed plus so much for
// each unit of its load, as a line through the windows of about two weeks says; while that line is not known
// (DecayedLine::is_known) the usage is left as it is. A busy task carries the load that TakeTaskSize said, or
// else the highest of the last days, which halves in three days.
// Load: Signal::load if `of_series`, else Signal::cpu_cores.
std::unique_ptr<Recommender> WithTaskLoad(std::unique_ptr<Recommender> inner, Resource resource,
                                          bool of_series);

}  // namespace taut::brain
