// Machines that are made of a trace's tasks: those present throughout, placed at random.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/time.h"
#include "common/model/resource.h"
#include "tools/sim/replay.h"

namespace taut::tools {

// One task of a trace through all of its windows, one resource.
struct TaskSeries {
  std::string name;          // "job" or "job/task"
  std::vector<float> usage;  // by window from PlacedTasks::first on; negative: not measured
  std::vector<float> limit;  // the owner's, the last known
  JobId job = {};            // of the source
};

// The tasks that are placed on machines: those present throughout.
struct PlacedTasks {
  Resource resource = Resource::kCpu;
  WindowId first;
  size_t windows = 0;
  std::vector<TaskSeries> tasks;
  size_t without_limit = 0, not_throughout = 0;  // tasks that were left out
};
// The days from the first to the last, which are held or stepped window by window. InvalidArgument: none, or over
// kMostSpanDays, because a time of a row is wrong.
inline constexpr int32_t kMostSpanDays = 3660;
absl::StatusOr<size_t> SpanOfDays(const std::vector<int32_t>& days);

// Tasks measured in at least `present` of the windows that have any usage. CPU is a window's mean, memory its
// peak. InvalidArgument if no task has an owner's limit.
absl::StatusOr<PlacedTasks> ReadPlacedTasks(DaySource& source, Resource resource, double present = 0.9);

// The machines of all placements, one after the other: on each the numbers of `machine_tasks` tasks, ascending.
// Tasks that are left over are on none.
std::vector<std::vector<uint32_t>> PlaceAtRandom(size_t tasks, uint32_t machine_tasks, uint32_t placements,
                                                 uint64_t seed);

}  // namespace taut::tools
