// Machines made of a trace's tasks: the tasks that are measured throughout, placed at random.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/time.h"
#include "common/model/resource.h"
#include "tools/sim/replay.h"

namespace taut::tools {

// One task of a trace over all of its windows, for one resource.
struct TaskSeries {
  std::string name;          // "job" or "job/task"
  std::vector<float> usage;  // by window from PlacedTasks::first on; negative: not measured
  std::vector<float> limit;  // the owner's limit by window, last known value
  JobId job = {};            // job in the source
};

// The tasks that are placed on machines, which are all tasks that are measured throughout.
struct PlacedTasks {
  Resource resource = Resource::kCpu;
  WindowId first;
  size_t windows = 0;
  std::vector<TaskSeries> tasks;
  size_t without_limit = 0, not_throughout = 0;  // numbers of tasks that were left out
};
// Returns the number of days from the first to the last. Returns InvalidArgument if there is no day, or if
// there are more than kMostSpanDays: then the time of a row is wrong, and memory or run time would grow with
// the span.
inline constexpr int32_t kMostSpanDays = 3660;
absl::StatusOr<size_t> SpanOfDays(const std::vector<int32_t>& days);

// Returns the tasks that are measured in at least the share `present` of the windows with any usage. CPU is a
// window's mean, memory the window's peak. Returns InvalidArgument if no task has an owner's limit, and the
// errors of SpanOfDays.
absl::StatusOr<PlacedTasks> ReadPlacedTasks(DaySource& source, Resource resource, double present = 0.9);

// Returns the machines of all placements, one placement after the other. A machine is a list of
// `machine_tasks` numbers of tasks, ascending. Tasks that remain when no whole machine can be filled are on
// no machine.
std::vector<std::vector<uint32_t>> PlaceAtRandom(size_t tasks, uint32_t machine_tasks, uint32_t placements,
                                                 uint64_t seed);

}  // namespace taut::tools
