// How many tasks of a live job run: as a series says, or as they are measured.
#pragma once

#include <optional>
#include <string>

#include "common/model/closed_window.h"

namespace taut::brain {

// What a series says, and whether agents see the tasks that are measured: then these count.
struct CountedTasks {
  SaidReplicas said;
  bool by_agents = false;
};

// Of the last window; not saved.
class TaskCount {
 public:
  // A window in which `measured` tasks were seen. Returns the number that counts.
  int Take(const CountedTasks& counted, int measured);
  // The number of that window is of another source than that of the window before.
  bool counts_otherwise() const { return counts_otherwise_; }
  // The number of the series counts. False before the first window.
  bool is_said() const { return is_said_.value_or(false); }
  // Of the number that counts, the tasks that are ready, where the series says it.
  std::optional<int> said_ready() const {
    return is_said() && counted_.said.ready >= 0 ? std::optional(int{counted_.said.ready}) : std::nullopt;
  }
  // The series counts, and says more than are measured: what the others use is not known.
  bool has_unmeasured() const { return is_said() && measured_ < counted_.said.count; }
  // For people, where for some windows a series has said another number than is measured, and which counts; "":
  // they agree.
  std::string Notice() const;

 private:
  CountedTasks counted_;
  std::optional<bool> is_said_;  // absent: no window since the start
  bool counts_otherwise_ = false;
  int measured_ = 0;
  int disagreeing_ = 0;  // windows in a row with another number than was measured
};

}  // namespace taut::brain
