// Number of running tasks of a job: as a series reports it, or as measured.
#pragma once

#include <optional>
#include <string>

#include "common/model/closed_window.h"

namespace taut::brain {

// The number that a series reports, and whether agents see the measured tasks; in that case the measured
// number counts.
struct CountedTasks {
  SaidReplicas said;
  bool by_agents = false;
};

// Covers the last window; not saved.
class TaskCount {
 public:
  // Takes in a window with `measured` tasks and returns the number that counts.
  int Take(const CountedTasks& counted, int measured);
  // Returns whether the source of the number changed with the last window.
  bool counts_otherwise() const { return counts_otherwise_; }
  // Returns whether the series' number counts; false before the first window.
  bool is_said() const { return is_said_.value_or(false); }
  // Returns the number of ready tasks if the series counts and reports it.
  std::optional<int> said_ready() const {
    return is_said() && counted_.said.ready >= 0 ? std::optional(int{counted_.said.ready}) : std::nullopt;
  }
  // Returns true if the series counts and reports more tasks than are measured: the usage of the others is
  // unknown.
  bool has_unmeasured() const { return is_said() && measured_ < counted_.said.count; }
  // Returns a notice for people if for some windows the series differed from the measured number; "" if they
  // agree.
  std::string Notice() const;

 private:
  CountedTasks counted_;
  std::optional<bool> is_said_;  // absent: no window since the start
  bool counts_otherwise_ = false;
  int measured_ = 0;
  int disagreeing_ = 0;  // consecutive windows with different numbers
};

}  // namespace taut::brain
