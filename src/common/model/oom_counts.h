// What OOM kills count for.
#pragma once

#include <cstdint>

#include "common/model/rollout.h"

namespace taut {

// More kills in one report than any task has between two looks: a report that says more is wrong.
inline constexpr uint64_t kMostKillsAtOnce = 1000;

// OomRecord::task in place of a task: an init or ephemeral container of one was killed, which has a limit of its
// own. Such a kill is counted, and charged to no limit of the job.
inline constexpr uint32_t kAsideTask = UINT32_MAX;
inline bool IsAside(const OomRecord& oom) { return oom.task == kAsideTask; }

}  // namespace taut
