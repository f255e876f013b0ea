// Between a recommended number of tasks and an order: modes, maintenance windows, and other programs that set
// the number. Arithmetic only.
//
// A higher number never waits: it can only help the job. A lower one waits for a maintenance window, for
// replicas.change_period since the last change. After a rise that took a fall back it waits for replicas.settle,
// which doubles with each such rise in a row. Mode canary is mode auto: a trial of some tasks has no meaning
// for their number. The policies themselves skip small changes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "brain/rollout/gate.h"
#include "brain/rollout/job_policy.h"
#include "common/base/bytes.h"

namespace taut::brain {

// The changes of a number of tasks that take each other back.
struct ReplicaDamping {
  int64_t last_rise_s = INT64_MIN, last_fall_s = INT64_MIN;
  uint8_t reversals = 0;  // rises within kReversalSeconds of a fall, in a row

  void NoteChange(int before, int after, int64_t now_s);
  // How long a lower number waits after the last rise.
  double HoldSeconds(double settle_s) const;
  void Save(ByteWriter& out) const;
  void Load(ByteReader& in);
};

struct ReplicaGateState {
  std::optional<int> in_force;  // ordered by Tautline; absent: the owner's number stands
  std::optional<int> shown;     // mode observe: what was said last
  int64_t last_change_s = INT64_MIN;
  // The job has run `in_force` tasks since it was ordered.
  bool reached = false;
  // Windows in a row, after that, with another number of tasks; before that, with one that moved away from it.
  // Windows in which tasks started do not count.
  uint8_t elsewhere = 0;
  // Windows since a number was reached last; orders that are not reached follow each other.
  uint8_t unreached = 0;
  int nearest = -1;      // before it is reached: the least distance to it; -1: not known; not saved
  bool rolling = false;  // in the last window tasks started beside those of the order; not saved
  int64_t step_back_until_s = INT64_MIN;
  ReplicaDamping damping;  // saved by itself: older states lack it

  // What a policy takes as the number of tasks: the ordered or shown one, so that it sees what it asked for
  // also while tasks start or stop, or where nothing is carried out.
  std::optional<int> assumed() const { return in_force.has_value() ? in_force : shown; }

  void Save(ByteWriter& out) const;
  // DataLoss for bytes that Save cannot have written.
  absl::Status Load(ByteReader& in);
};

// Another program has set the number if it differs from the ordered one for kForeignWindows after it was reached,
// or if it was not reached in kUnreachedWindows and has moved away from it for kForeignWindows; no order is given
// for kStepBackSeconds then. Both are longer for tasks that take more than one window to start. A window in
// which tasks started does not count: in a rollout old and new tasks are measured side by side.
inline constexpr int kForeignWindows = 2, kUnreachedWindows = 3;
inline constexpr int64_t kStepBackSeconds = 3600;
// A rise so soon after a fall takes it back. The hold doubles with each, and is at most this many times
// replicas.settle: an hour, of 5 minutes.
inline constexpr int64_t kReversalSeconds = 3 * 3600;
inline constexpr double kMostSettles = 12;
// Texts of the settings.
inline constexpr std::string_view kWait = "minimum time from any change to a lower number of tasks";
inline constexpr std::string_view kSettleHelp =
    "time that a lower number of tasks waits after a rise that took a fall of the last 3 hours back; "
    "doubled, up to "
    "12 times it, with each such rise in a row; 0s: off";
// An order that an actuator reports as failed is given again after this time, unless another one was given.
inline constexpr int64_t kRepeatFailedSeconds = 3600;

// Of a window that was measured.
struct RunningTasks {
  int running = 0;
  int started = 0;          // of them, those that did not run in the window before
  int startup_windows = 1;  // that a task needs to start
  int64_t now_s = 0;        // the end of the window
};

// What was ordered when another program turned out to set the number.
struct ReplicaStepBack {
  int ordered = 0, running = 0;
  int64_t time_s = 0, until_s = 0;
};
std::string Describe(const ReplicaStepBack& step_back);

struct ReplicaProposal {
  int64_t now_s = 0;
  int running = 0;                 // tasks in the window closed last, as noted
  std::optional<int> recommended;  // absent: none yet
  bool repeats = false;            // the order in force was not carried out and is due once more
};

// Before DecideReplicas. Present: no order is given for a time from now on.
std::optional<ReplicaStepBack> NoteRunning(const RunningTasks& tasks, ReplicaGateState& state);

// Takes the verdict into `state`. Its `before` and `after` are numbers of tasks.
Verdict DecideReplicas(const JobPolicy& policy, const ReplicaProposal& proposal, ReplicaGateState& state);

// A decision made before a stop and stored: brings `state` to where DecideReplicas left it then.
void Redo(const Decision& decision, ReplicaGateState& state);

}  // namespace taut::brain
