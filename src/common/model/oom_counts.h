// Rules for counting OOM kills.
#pragma once

#include <cstdint>

#include "common/model/rollout.h"

namespace taut {

// Greatest plausible number of kills of a task between two reads; a report with more kills is wrong.
inline constexpr uint64_t kMostKillsAtOnce = 1000;

// Value of OomRecord::task if an init or ephemeral container was killed. Such a container has a limit of its
// own. The kill is counted, but not charged to a limit of the job.
inline constexpr uint32_t kAsideTask = UINT32_MAX;
inline bool IsAside(const OomRecord& oom) { return oom.task == kAsideTask; }

}  // namespace taut
