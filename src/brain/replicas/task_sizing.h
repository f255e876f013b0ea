// Selects the size and therefore the number of tasks: many small tasks or a few large tasks for a given load.
//
// With small tasks, the number follows the load closely and the loss of a task matters little. However, each task
// also needs the fixed amount of an idle task. docs/algorithms/replicas.md, "Size of a task".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "brain/replicas/settings.h"
#include "common/base/decayed_line.h"
#include "common/model/reason.h"

namespace taut::brain {

struct SizingInput {
  // The highest load of each measured hour, cores; at least one is above 0.
  std::span<const float> loads;
  double utilization = 0.7;  // share of a task's CPU limit that the policy plans for, in (0, 1]
  // Utilisation at the highest load of each hour, measured over the last days. With a risk target, the policy may
  // plan for a utilisation other than `utilization`. `filled` determines the number of tasks, `utilization` the
  // memory of a busy task. At most 1; 0: `utilization` determines both.
  double filled = 0;
  const DecayedLine* memory = nullptr;  // bytes of a task as a function of its load in cores
  double memory_margin = 1;             // ratio of the memory limit to usage, >= 1
  // Standard deviation of the tasks' loads in one window, divided by their mean, which is `mean_load` cores.
  double deviation = 0, mean_load = 0;
  double now_cores = 0;  // current size of a task, > 0
  // True if the owner chose the current size, which may be outside SizingSettings' bounds.
  bool now_is_owners = true;
};

// The reason why a size is rejected, even if it is cheaper.
enum class SizeFault : uint8_t {
  kNone,
  kTooLarge,  // the task does not fit a node
  kTooSmall,  // the task is smaller than min_cores
  kUneven,    // loads are so unequal that some tasks would exceed their limit
  kTooMany,   // the peak requires more tasks than replicas.max
  kLoss,      // after the loss of `spare` tasks, the other tasks could not process the peak
};

struct SizeOption {
  double cores = 0;         // CPU limit of a task
  double memory_bytes = 0;  // memory limit of a task
  int peak_tasks = 0;       // number of tasks at the highest load
  double mean_tasks = 0;    // mean number of tasks over the hours
  double cost = 0;          // cost in cores: mean_tasks * (cores + gib_price * GiB)
  SizeFault fault = SizeFault::kNone;
};

// The compared sizes, by ascending peak_tasks, so that the largest task is first. Never empty.
struct SizingChoice {
  std::vector<SizeOption> options;
  size_t now = 0;  // index of the current size in `options`
  // index of the chosen size; `now` if the current size has no fault and no option saves min_saving
  size_t chosen = 0;
  double peak = 0;  // highest load, cores
};

// Compares the possible sizes and returns the choice. Takes about 15 us for the hours of a week. REQUIRES: a load
// above 0, and `memory` is not null.
SizingChoice ChooseSize(const SizingInput& input, const SizingSettings& settings,
                        const ReplicaBounds& bounds);

// Explains `choice`; the candidates are the compared options.
void ExplainSize(const SizingChoice& choice, const SizingSettings& settings, Reason& reason);

}  // namespace taut::brain
