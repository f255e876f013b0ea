// Interface between agents and the control plane: agents report tasks and receive the limits in force. The
// control plane implements this interface; src/server/agents/ includes no other header of the control plane.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/base/name_template.h"
#include "common/base/time.h"
#include "common/model/reported_window.h"
#include "common/model/rollout.h"
#include "common/model/throttle_control.h"
#include "common/model/tier_act.h"

namespace taut::server {

// A task with the names that its agent uses.
struct NamedTask {
  std::string_view job, task;
  std::span<const LabelView> labels;
  std::string_view container = {};  // ID of the task in its container engine; "" if none or unknown
  uint64_t sender = 0;              // number of the task's machine; 0 if unknown or this process' own machine
};
// Job and task as numbers; a task's number is unique in its job.
struct TaskRef {
  JobId job;
  uint32_t task = 0;
};
// Limits and rules that apply to a task when its agent finds the task.
struct StandingTerms {
  Mode mode = Mode::kObserve;
  PerResource<std::optional<double>> in_force;  // value set by Tautline; absent: the owner's limit
  PerResource<std::optional<double>> upper;     // greatest value that may be set
  PerResource<int64_t> decided_s{};  // time of the decision on in_force, by the cell's clock; 0 if never
  int64_t startup_grace_s = 0;       // time after a task's start in which no limit is lowered, seconds
  ThrottleControlSettings throttle_control;
  std::optional<double> lower_cores;  // lowest CPU limit that the job allows
  bool knows_settings = true;         // false while the owner's settings are unknown, so the mode may change
};

// Thread-safe.
class TaskIntake {
 public:
  virtual ~TaskIntake() = default;
  // Registers a running task and returns its number. Returns nullopt, and counts the refusal, if the task is
  // refused.
  virtual std::optional<TaskRef> Announce(const NamedTask& task, Timestamp now) = 0;
  // Processes a window of a task. Returns OK also if the window was too late and was dropped. Returns
  // Unavailable if the window must be sent again later, OutOfRange if it is far in the future and was
  // dropped, and InvalidArgument for impossible values.
  virtual absl::Status TakeWindow(const NamedTask& task, ReportedWindow window, Timestamp now) = 0;
  // Processes an OOM kill, with the limit in force at the kill, bytes. A repeated report is dropped.
  virtual absl::Status TakeOom(const NamedTask& task, Timestamp time, uint64_t kills,
                               std::optional<double> limit, Timestamp now) = 0;
  // Processes an act of an agent's memory guard. A repeated report is dropped. Returns Unavailable if the act
  // must be sent again later.
  virtual absl::Status TakeTierAct(TierAct act) = 0;
  // With `clock: samples`: reports that a source has reached the time `t`.
  virtual void SeeTime(Timestamp t) = 0;
  // While `hold` is true, no window closes, because a source is about to send data for open windows.
  virtual void HoldWindows(bool hold) = 0;
  // Returns the terms of a task; nullopt if the job is not in the fleet. `task`: name of the task, which
  // identifies it in trials.
  virtual std::optional<StandingTerms> Standing(const TaskRef& ref, const std::string& task) const = 0;
  // Returns the last stored window; nullopt if none is stored.
  virtual std::optional<WindowId> stored_through() const = 0;
};

}  // namespace taut::server
