// Number of running tasks of a job: the number that a cluster or a series reports, or the number of measured
// tasks.
#pragma once

#include <optional>
#include <string>

#include "common/model/closed_window.h"

namespace taut::brain {

// The number of tasks of one window, before TaskCount chooses between the reported and the measured number.
struct CountedTasks {
  SaidReplicas said;       // number that a series reports
  bool by_agents = false;  // true: agents measured the tasks, so the measured number is used
};

// Number of tasks in the last window; not saved.
class TaskCount {
 public:
  // Records a window with `measured` tasks and returns the number to use.
  int Take(const CountedTasks& counted, int measured);
  // Returns true if the source of the number differs between the last window and the window before.
  bool counts_otherwise() const { return counts_otherwise_; }
  // Returns true if the series' number is used; false before the first window.
  bool is_said() const { return is_said_.value_or(false); }
  // Returns the number of ready tasks that the series reports; absent if the series' number is not used or the
  // series does not report ready tasks.
  std::optional<int> said_ready() const {
    return is_said() && counted_.said.ready >= 0 ? std::optional(int{counted_.said.ready}) : std::nullopt;
  }
  // Returns true if the series' number is used and exceeds the number of measured tasks. The usage of unmeasured
  // tasks is then unknown.
  bool has_unmeasured() const { return is_said() && measured_ < counted_.said.count; }
  // Returns a notice for people if the series differed from the measured number in each of the last 3 windows;
  // else "".
  std::string Notice() const;

 private:
  CountedTasks counted_;
  std::optional<bool> is_said_;  // true if the series' number is used; absent before the first window
  bool counts_otherwise_ = false;
  int measured_ = 0;
  int disagreeing_ = 0;  // number of consecutive windows in which the two numbers differ
};

}  // namespace taut::brain
