// Selects the tasks of a trace with continuous usage, and places them on machines at random.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/time.h"
#include "common/model/resource.h"
#include "tools/sim/replay.h"

namespace taut::tools {

// One resource of a task over all windows of a trace.
struct TaskSeries {
  std::string name;          // name: "job" or "job/task"
  std::vector<float> usage;  // usage by window from PlacedTasks::first on; negative: not measured
  std::vector<float> limit;  // owner's limit by window, without gaps
  JobId job = {};            // number of the job in the source
};

// Tasks with continuous usage, which can be placed on machines.
struct PlacedTasks {
  Resource resource = Resource::kCpu;
  WindowId first;
  size_t windows = 0;
  std::vector<TaskSeries> tasks;
  size_t without_limit = 0, not_throughout = 0;  // numbers of omitted tasks, by reason
};
// Returns the number of days from the first to the last day. Returns InvalidArgument if there is no day, or if
// there are more than kMostSpanDays. In a trace with more days some time is wrong, and memory and run time would
// grow with the span.
inline constexpr int32_t kMostSpanDays = 3660;
absl::StatusOr<size_t> SpanOfDays(const std::vector<int32_t>& days);

// Returns the tasks that were measured in at least the share `present` of the windows with any usage. Usage of CPU
// is a window's mean, and of memory a window's peak. Returns InvalidArgument if no task has an owner's limit, and
// errors of SpanOfDays().
absl::StatusOr<PlacedTasks> ReadPlacedTasks(DaySource& source, Resource resource, double present = 0.9);

// Returns the machines of all placements, one placement after the other. A machine is an ascending list of
// `machine_tasks` task numbers. Tasks that cannot fill a whole machine are omitted.
std::vector<std::vector<uint32_t>> PlaceAtRandom(size_t tasks, uint32_t machine_tasks, uint32_t placements,
                                                 uint64_t seed);

}  // namespace taut::tools
