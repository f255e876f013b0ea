// Days of a trace by machine: which tasks were on each machine in each window, and what they used.
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

// Takes job-days in order of days and gives windows by machine. A task that stays on its machine through windows
// without a row of it is on it without a measurement. A window is final once the day behind its own was read, or
// the input has ended. 16 bytes a task-window from Drop to the last day; 60 bytes a task of the last day.
class MachineDays {
 public:
  MachineDays(const brain::RecordedMachines& machines, Resource resource)
      : machines_(machines), resource_(resource) {}

  // Task-windows that are not given out, or changed machine.
  uint64_t without_machine = 0, without_limit = 0, moves = 0, task_windows = 0;

  // A day without job-days may be left out.
  void BeginDay(int32_t day);
  void Add(const JobDay& day);
  void End();

  // All of these for the days of `source`, with after_day() after each. False: should_stop() has ended it before
  // its end. on_progress and should_stop may be empty.
  absl::StatusOr<bool> Read(DaySource& source, const std::function<void(double share)>& on_progress,
                            const std::function<bool()>& should_stop, absl::FunctionRef<void()> after_day);

  // The first window that is not final.
  int32_t final_until() const { return final_until_; }
  // The tasks on the machine in a final window, ascending.
  std::span<const brain::TaskLoad> Tasks(int32_t window, uint32_t machine) const;
  // Whether anything was measured anywhere in the window.
  bool Any(int32_t window) const;
  // Releases the days before that of the window.
  void DropBefore(int32_t window);

 private:
  struct Row {
    uint32_t machine = 0;
    brain::TaskLoad load;
  };
  // A window while its day is read, then by machine.
  struct Window {
    std::vector<Row> rows;
    std::vector<brain::TaskLoad> loads;
    std::vector<uint32_t> first;  // by machine, and one more
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
  std::deque<Day> days_;                      // ascending
  absl::flat_hash_map<uint64_t, Last> last_;  // by task
};

}  // namespace taut::tools
