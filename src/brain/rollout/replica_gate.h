// Decides whether a recommended number of tasks becomes an order: modes, maintenance windows, and other programs
// that set the number. No I/O.
//
// A higher number never waits, since it can only help the job. A lower number waits for a maintenance window and
// for replicas.change_period since the last change. After a rise that reversed a fall, a lower number also waits
// for replicas.settle, which doubles with each consecutive reversal. Mode canary equals mode auto, since a trial
// on some tasks has no meaning for their number. The policies themselves skip small changes.
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

// Reversals: rises of a number of tasks that undo a recent fall. Times are seconds since the epoch.
struct ReplicaDamping {
  int64_t last_rise_s = INT64_MIN, last_fall_s = INT64_MIN;
  uint8_t reversals = 0;  // consecutive rises within kReversalSeconds of a fall

  // Records a change of the number, and counts a reversal if the change reverses the last fall.
  void NoteChange(int before, int after, int64_t now_s);
  // Returns the seconds for which a lower number waits after the last rise.
  double HoldSeconds(double settle_s) const;
  void Save(ByteWriter& out) const;
  void Load(ByteReader& in);
};

// State of the gate for one job. Times are seconds since the epoch; INT64_MIN: never.
struct ReplicaGateState {
  std::optional<int> in_force;  // number ordered by Tautline; absent: the owner's number stands
  std::optional<int> shown;     // last number shown in observe mode
  int64_t last_change_s = INT64_MIN;
  // True if the job has run `in_force` tasks at some time since the order.
  bool reached = false;
  // Consecutive windows that suggest another program. Once the number was reached, these are windows with another
  // number; before, windows in which the number of tasks moved away from the order. Windows in which tasks started
  // do not count.
  uint8_t elsewhere = 0;
  // Windows since an ordered number was last reached. A new order does not reset the count, because consecutive
  // orders may all remain unreached.
  uint8_t unreached = 0;
  int nearest = -1;  // least distance to the ordered number so far; -1: unknown; not saved
  // tasks started in the last window after the number was reached, as in a rollout; not saved
  bool rolling = false;
  int64_t step_back_until_s = INT64_MIN;
  ReplicaDamping damping;  // saved separately, because older states have no damping

  // Returns the number of tasks that a policy assumes: the ordered or shown number. The policy thus uses its own
  // result while tasks start or stop, or if no order is carried out.
  std::optional<int> assumed() const { return in_force.has_value() ? in_force : shown; }

  void Save(ByteWriter& out) const;
  // Returns DataLoss for bytes that Save cannot have written.
  absl::Status Load(ByteReader& in);
};

// Another program has set the number if the number differs from the order for kForeignWindows after the order was
// reached. The same is concluded if the order was not reached in kUnreachedWindows and the number moved away from
// the order for kForeignWindows. After that, no order is sent for kStepBackSeconds. Both counts are longer for
// tasks that take several windows to start. A window in which tasks started does not count, since a rollout has
// old and new tasks at once.
inline constexpr int kForeignWindows = 2, kUnreachedWindows = 3;
inline constexpr int64_t kStepBackSeconds = 3600;
// A rise within kReversalSeconds after a fall reverses the fall. Each reversal doubles the hold, up to
// kMostSettles times replicas.settle (an hour for 5 minutes).
inline constexpr int64_t kReversalSeconds = 3 * 3600;
inline constexpr double kMostSettles = 12;
// Help texts of the settings.
inline constexpr std::string_view kWait = "minimum time from any change to a lower number of tasks";
inline constexpr std::string_view kSettleHelp =
    "time that a lower number of tasks waits after a rise that took a fall of the last 3 hours back; "
    "doubled, up to 12 times it, with each such rise in a row; 0s: off";
// Time after which an order that an actuator reported as failed is repeated, unless another order was sent.
inline constexpr int64_t kRepeatFailedSeconds = 3600;

// Tasks in a measured window.
struct RunningTasks {
  int running = 0;
  int started = 0;          // tasks that did not run in the previous window
  int startup_windows = 1;  // windows that a task takes to start
  int64_t now_s = 0;        // end of the window
};

// The order at the time when another program was found to set the number.
struct ReplicaStepBack {
  int ordered = 0, running = 0;
  int64_t time_s = 0, until_s = 0;
};
// Returns one sentence for people.
std::string Describe(const ReplicaStepBack& step_back);

// Facts of a decision.
struct ReplicaProposal {
  int64_t now_s = 0;
  int running = 0;                 // tasks in the last closed window
  std::optional<int> recommended;  // absent: none yet
  bool repeats = false;            // the order in force was not carried out and is due again
};

// Records a measured window; call before DecideReplicas. Returns a value if a time without orders begins, because
// another program sets the number.
std::optional<ReplicaStepBack> NoteRunning(const RunningTasks& tasks, ReplicaGateState& state);

// Decides and updates `state`. The verdict's `before` and `after` are numbers of tasks.
Verdict DecideReplicas(const JobPolicy& policy, const ReplicaProposal& proposal, ReplicaGateState& state);

// Applies a stored decision: `state` is then as DecideReplicas left it.
void Redo(const Decision& decision, ReplicaGateState& state);

}  // namespace taut::brain
