// Groups the days of a trace by machine: tasks on each machine in each window, and their usage.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "brain/cell/recorded_machines.h"
#include "brain/overcommit/peak_predictor.h"
#include "common/model/resource.h"
#include "tools/sim/replay.h"

namespace taut::tools {

// Converts job-days in order of days to windows by machine. In a window without a row, a task is still on its
// machine, without a measurement. A window is final once the day after its own day was read, or the input has
// ended. Memory: 16 bytes per task-window of the days that were not dropped, and 60 bytes per task of the last
// day. Not thread-safe.
class MachineDays {
 public:
  MachineDays(const brain::RecordedMachines& machines, Resource resource)
      : machines_(machines), resource_(resource) {}

  // Counts of task-windows: omitted because the machine is unknown, omitted because the owner's limit is unknown,
  // moved from another machine since the previous window, and kept.
  uint64_t without_machine = 0, without_limit = 0, moves = 0, task_windows = 0;

  // Begins a day. REQUIRES: days ascend. A day without job-days may be skipped.
  void BeginDay(int32_t day);
  void Add(const JobDay& day);
  void End();

  // Calls BeginDay(), Add() and End() for all days of `source`, and after_day() after each day. Returns false if
  // should_stop() returned true. on_progress and should_stop may be empty. Returns errors of LoadDay().
  absl::StatusOr<bool> Read(DaySource& source, const std::function<void(double share)>& on_progress,
                            const std::function<bool()>& should_stop, absl::FunctionRef<void()> after_day);

  // Returns the first window that is not final.
  int32_t final_until() const { return final_until_; }
  // Returns the tasks on a machine in a final window, ascending. The span is valid until the day of the window is
  // dropped.
  std::span<const brain::TaskLoad> Tasks(int32_t window, uint32_t machine) const;
  // Returns true if any task was on a known machine in a final window.
  bool Any(int32_t window) const;
  // Releases all days before the day of the window.
  void DropBefore(int32_t window);

 private:
  struct Row {
    uint32_t machine = 0;
    brain::TaskLoad load;
  };
  // `rows` is used while the day is read, `loads` and `first` once the window is final.
  struct Window {
    std::vector<Row> rows;
    std::vector<brain::TaskLoad> loads;
    std::vector<uint32_t> first;  // index of each machine's first load, and loads.size()
  };
  struct Day {
    int32_t number = 0;
    std::vector<Window> windows;
  };
  struct Last {
    int32_t window = 0;
    uint32_t machine = 0;
    float limit = 0;
  };

  void AddTask(uint64_t task, const TaskWindow& usage, int32_t window, float limit, JobId job);
  void Settle(Day& day);
  Window* Of(int32_t window);
  const Window* Of(int32_t window) const;

  const brain::RecordedMachines& machines_;
  const Resource resource_;
  int32_t final_until_ = INT32_MIN;
  std::deque<Day> days_;                      // days that were not dropped, ascending
  absl::flat_hash_map<uint64_t, Last> last_;  // last row of each task
};

}  // namespace taut::tools
