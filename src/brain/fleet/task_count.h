// Number of running tasks of a job: the number that a series reports, or the number of measured tasks.
#pragma once

#include <optional>
#include <string>

#include "common/model/closed_window.h"

namespace taut::brain {

// The number that a series reports, and whether agents see the measured tasks. If agents see them, the measured
// number is used.
struct CountedTasks {
  SaidReplicas said;
  bool by_agents = false;
};

// Covers the last window; not saved.
class TaskCount {
 public:
  // Records a window with `measured` tasks and returns the number to use.
  int Take(const CountedTasks& counted, int measured);
  // Returns true if the source of the number changed with the last window.
  bool counts_otherwise() const { return counts_otherwise_; }
  // Returns true if the number of the series is used; false before the first window.
  bool is_said() const { return is_said_.value_or(false); }
  // Returns the number of ready tasks if the number of the series is used and the series reports ready tasks; else
  // absent.
  std::optional<int> said_ready() const {
    return is_said() && counted_.said.ready >= 0 ? std::optional(int{counted_.said.ready}) : std::nullopt;
  }
  // Returns true if the number of the series is used and exceeds the number of measured tasks: the usage of the
  // unmeasured tasks is unknown.
  bool has_unmeasured() const { return is_said() && measured_ < counted_.said.count; }
  // Returns a notice for people if the series differed from the measured number in the last 3 windows; else "".
  std::string Notice() const;

 private:
  CountedTasks counted_;
  std::optional<bool> is_said_;  // absent: no window since the start
  bool counts_otherwise_ = false;
  int measured_ = 0;
  int disagreeing_ = 0;  // consecutive windows with different numbers
};

}  // namespace taut::brain
