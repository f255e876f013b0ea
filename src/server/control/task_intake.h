// What agents report of tasks goes in here, and what is to hold for a task comes out. The control plane
// implements it; src/server/agents/ uses it and includes nothing of the control plane.
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
#include "common/model/tier_act.h"

namespace taut::server {

// A task as its agent names it.
struct NamedTask {
  std::string_view job, task;
  std::span<const LabelView> labels;
  std::string_view container = {};  // its ID at its engine; "": none, or not known
  uint64_t sender = 0;              // a number of its machine; 0: not known, or the one of this process
};
// The result: its job, and its number in that.
struct TaskRef {
  JobId job;
  uint32_t task = 0;
};
// What is to hold for a task that was just found.
struct StandingTerms {
  Mode mode = Mode::kObserve;
  PerResource<std::optional<double>> in_force;  // by Resource: what Tautline has set; absent: the owner's
  PerResource<std::optional<double>> upper;     // nothing above this may be set
  PerResource<int64_t> decided_s{};             // of in_force, by the cell's clock; 0: never
  int64_t startup_grace_s = 0;                  // nothing is lowered in this time after its start
  bool knows_settings = true;                   // the owner's too; false: the mode may be another
};

// Any thread may call.
class TaskIntake {
 public:
  virtual ~TaskIntake() = default;
  // A task that is there. nullopt: refused, and counted.
  virtual std::optional<TaskRef> Announce(const NamedTask& task, Timestamp now) = 0;
  // A window of a task. OK also if it came too late and was dropped; Unavailable: send it again later;
  // OutOfRange: of the far future, and dropped.
  virtual absl::Status TakeWindow(const NamedTask& task, ReportedWindow window, Timestamp now) = 0;
  // An OOM kill, with the limit in force then. Reported a second time it is dropped.
  virtual absl::Status TakeOom(const NamedTask& task, Timestamp time, uint64_t kills,
                               std::optional<double> limit, Timestamp now) = 0;
  // What an agent's guard of memory did. Reported a second time it is dropped. Unavailable: send it again later.
  virtual absl::Status TakeTierAct(TierAct act) = 0;
  // Where time is the samples': a source has reached this time.
  virtual void SeeTime(Timestamp t) = 0;
  // While it holds, no window closes: a source is about to send data for it.
  virtual void HoldWindows(bool hold) = 0;
  // nullopt as long as the fleet does not know the job. `task`: its name, by which trials know it.
  virtual std::optional<StandingTerms> Standing(const TaskRef& ref, const std::string& task) const = 0;
  // Windows up to this one are stored; nullopt: none.
  virtual std::optional<WindowId> stored_through() const = 0;
};

}  // namespace taut::server
