// How large a task should be, and so how many there are: for one load many small tasks or a few large ones.
//
// Small tasks follow the load closely and lose little with each task, but each pays anew for what it needs
// without any load. docs/algorithms/replicas.md, "Size of a task".
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
  double utilization = 0.7;  // of a task's CPU limit that the replica policy fills at most; 0 < u <= 1
  // The same as it was over the last days, of the highest load of each hour: of a policy with an ordered risk
  // it is as much lower (or higher) as the risk asks for. It counts the tasks; a busy task's memory goes by
  // `utilization`. 0: as `utilization`; <= 1.
  double filled = 0;
  const DecayedLine* memory = nullptr;  // bytes of a task by its load in cores
  double memory_margin = 1;             // memory limit over usage, >= 1
  // Of the loads of the tasks in one window, standard deviation over mean, where a task carries `mean_load`.
  double deviation = 0, mean_load = 0;
  double now_cores = 0;       // the size that tasks have, > 0
  bool now_is_owners = true;  // the owner chose it: it may be outside the bounds of SizingSettings
};

// Why a size is not taken, whatever it costs.
enum class SizeFault : uint8_t {
  kNone,
  kTooLarge,  // for a node
  kTooSmall,  // below min_cores
  kUneven,    // the load of some tasks would be above their limit, as loads differ
  kTooMany,   // tasks at the peak, for replicas.max
  kLoss,      // of `spare` tasks at the peak: the others cannot carry it
};

struct SizeOption {
  double cores = 0;         // CPU limit of a task
  double memory_bytes = 0;  // memory limit of a task
  int peak_tasks = 0;       // at the highest load
  double mean_tasks = 0;    // over the hours
  double cost = 0;          // cores: mean_tasks * (cores + gib_price * GiB)
  SizeFault fault = SizeFault::kNone;
};

// Options by peak_tasks ascending, the largest task first. Never empty.
struct SizingChoice {
  std::vector<SizeOption> options;
  size_t now = 0;     // of SizingInput::now_cores
  size_t chosen = 0;  // == now if it has no fault and nothing is cheaper by min_saving
  double peak = 0;    // cores
};

// About 15 us for a week of hours.
SizingChoice ChooseSize(const SizingInput& input, const SizingSettings& settings,
                        const ReplicaBounds& bounds);

// Says why `choice`; candidates are what was weighed.
void ExplainSize(const SizingChoice& choice, const SizingSettings& settings, Reason& reason);

}  // namespace taut::brain
