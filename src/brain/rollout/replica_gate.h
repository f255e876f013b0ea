// Decides whether a recommended number of tasks becomes an order: modes, maintenance windows, and other programs
// that set the number. No I/O.
//
// A higher number never waits, because it can only help the job. A lower number waits for a maintenance window
// and for replicas.change_period since the last change. After a rise that reversed a fall, a lower number also
// waits for replicas.settle, which doubles with each consecutive reversal. Mode canary equals mode auto, because
// a trial on some tasks has no meaning for the number of tasks. The policies themselves skip small changes.
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

// Counts reversals, which are rises of a number of tasks after a recent fall. Times are seconds since the epoch.
struct ReplicaDamping {
  int64_t last_rise_s = INT64_MIN, last_fall_s = INT64_MIN;
  uint8_t reversals = 0;  // number of consecutive rises within kReversalSeconds of a fall

  // Records a change of the number. Counts a reversal if a rise follows a recent fall.
  void NoteChange(int before, int after, int64_t now_s);
  // Returns the seconds for which a lower number waits after the last rise. The first reversal waits for
  // `settle_s`.
  double HoldSeconds(double settle_s) const;
  void Save(ByteWriter& out) const;
  void Load(ByteReader& in);
};

// State of the gate for one job. Times are seconds since the epoch; INT64_MIN: never.
struct ReplicaGateState {
  std::optional<int> in_force;  // number ordered by Tautline; absent if the owner's number is in force
  std::optional<int> shown;     // last number shown in observe mode
  int64_t last_change_s = INT64_MIN;
  // True if `in_force` tasks have run at some time since the order.
  bool reached = false;
  // Number of consecutive windows that indicate that another program sets the number of tasks. After an order was
  // reached, windows with another number count. Before an order is reached, windows in which the number moved away
  // from the order count. Windows in which tasks started do not count.
  uint8_t elsewhere = 0;
  // Number of windows since an order was last reached. A new order does not reset the count, because consecutive
  // orders may all remain unreached.
  uint8_t unreached = 0;
  int nearest = -1;  // least distance to the ordered number so far; -1: no window measured; not saved
  // true if tasks started in the last window after the order was reached, as in a rollout; not saved
  bool rolling = false;
  int64_t step_back_until_s = INT64_MIN;
  ReplicaDamping damping;  // saved separately, because older states do not contain it

  // Returns the number of tasks that a policy assumes to run: the ordered number, else the shown number. A
  // policy thus does not react to tasks that are starting or stopping, or to an order that no actuator carries
  // out.
  std::optional<int> assumed() const { return in_force.has_value() ? in_force : shown; }

  void Save(ByteWriter& out) const;
  // Returns DataLoss for bytes that Save cannot have written.
  absl::Status Load(ByteReader& in);
};

// Another program is assumed to set the number in two cases:
// - an order was reached, and the number then differs from the order for kForeignWindows;
// - an order was not reached in kUnreachedWindows, and the number moved away from the order for kForeignWindows.
// No order is then sent for kStepBackSeconds. Both counts are longer for tasks that take several windows to start.
// A window in which tasks started does not count, because a rollout has old and new tasks at once.
inline constexpr int kForeignWindows = 2, kUnreachedWindows = 3;
inline constexpr int64_t kStepBackSeconds = 3600;
// A rise within kReversalSeconds after a fall is a reversal. Each reversal doubles the hold, up to kMostSettles
// times replicas.settle (an hour for 5 minutes).
inline constexpr int64_t kReversalSeconds = 3 * 3600;
inline constexpr double kMostSettles = 12;
// Help texts of the settings.
inline constexpr std::string_view kWait = "minimum time from any change to a lower number of tasks";
inline constexpr std::string_view kSettleHelp =
    "time that a lower number of tasks waits after a rise that took a fall of the last 3 hours back; "
    "doubled, up to 12 times it, with each such rise in a row; 0s: off";
// Time after which an order that an actuator reported as failed is repeated, unless another order was sent.
inline constexpr int64_t kRepeatFailedSeconds = 3600;

// The number of tasks in a measured window.
struct RunningTasks {
  int running = 0;
  int started = 0;          // tasks that did not run in the previous window
  int startup_windows = 1;  // number of windows that a task takes to start
  int64_t now_s = 0;        // end of the window, seconds since the epoch
};

// The order that was abandoned because another program sets the number. Times are seconds since the epoch.
struct ReplicaStepBack {
  int ordered = 0, running = 0;
  int64_t time_s = 0, until_s = 0;
};
// Returns one sentence about the abandoned order, for people.
std::string Describe(const ReplicaStepBack& step_back);

// The input of DecideReplicas.
struct ReplicaProposal {
  int64_t now_s = 0;
  int running = 0;                 // tasks in the last closed window
  std::optional<int> recommended;  // recommended number; absent before the first recommendation
  bool repeats = false;            // true if the order in force was not carried out and is due again
};

// Records a measured window. Call before DecideReplicas. Returns a value if another program was found to set the
// number, which begins a time without orders.
std::optional<ReplicaStepBack> NoteRunning(const RunningTasks& tasks, ReplicaGateState& state);

// Returns the decision and updates `state`. The verdict's `before` and `after` are numbers of tasks.
Verdict DecideReplicas(const JobPolicy& policy, const ReplicaProposal& proposal, ReplicaGateState& state);

// Applies a stored decision. Afterwards `state` equals the state after DecideReplicas.
void Redo(const Decision& decision, ReplicaGateState& state);

}  // namespace taut::brain
