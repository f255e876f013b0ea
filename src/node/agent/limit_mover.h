// Moves a limit from its present value to the ordered value: up at once, down in steps that stay above usage, with
// a growing delay after refusals. The mover also decides local raises after OOM kills and throttling. Arithmetic
// only: time is an argument, and the caller writes the limit and reports the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/byte_units.h"
#include "common/model/resource.h"

namespace taut::node {

struct MoverOptions {
  // A memory limit is lowered in steps, one step each step_interval_us. A step lowers the limit by at most
  // this share.
  double shrink_share = 0.2;
  int64_t step_interval_us = 1'000'000;
  // A step never lowers the limit below usage * (1 + margin_share) + margin_bytes.
  double margin_share = 0.1;
  // Fixed part of the margin. For small tasks it is at most most_margin_bytes_share of usage, because recommended
  // limits are only 15 % above usage and must be reachable.
  double margin_bytes = 4 * kMiB;
  double most_margin_bytes_share = 0.04;
  // Delay after a refusal. Each further refusal doubles the delay, up to the maximum.
  int64_t backoff_us = 2'000'000;
  int64_t max_backoff_us = 300'000'000;
  // After an OOM kill at L the limit is max(ratio * L, L + plus), as in the recommenders (docs/references.md,
  // C6).
  double oom_ratio = 1.2;
  double oom_plus_bytes = 100 * kMiB;
  // CPU: if more than this share of the periods since the last reading were throttled, the limit is
  // multiplied by throttle_ratio. Orders of a lower limit wait for throttle_hold_us.
  double throttled_share = 0.01;
  double throttle_ratio = 1.25;
  int64_t throttle_hold_us = int64_t{3600} * 1'000'000;

  // Returns the options for a node clock that runs `speed` times as fast: steady times divided by `speed`.
  MoverOptions AtSpeed(double speed) const;
};

// Lower bounds after an OOM kill or throttling. Orders that were decided before the event do not lower the limit
// below these bounds.
struct MoveFloors {
  std::optional<double> oom, throttle;  // floors of memory in bytes, and of CPU in cores
  std::optional<int64_t> oom_s;         // time of the last kill, seconds since 1970
  int64_t throttle_left_us = 0;         // remaining time of the hold
};

enum class MoveState : uint8_t {
  kIdle,      // the limit is at its target, or nothing was ordered
  kStepping,  // the limit is moving towards its target
  kHeld,      // stopped by usage, a floor, or the start-up grace
  kRefused    // refused by the kernel or engine; retried after the backoff or with a new target
};

enum class Obstacle : uint8_t { kNone, kUsage, kUsageUnknown, kOomFloor, kThrottleFloor, kStartup };

struct MoveStatus {
  MoveState state = MoveState::kIdle;
  Obstacle obstacle = Obstacle::kNone;  // reason for kHeld; kNone in other states
  bool is_final = false;                // true if refused and not retried until the target changes
};

// Moves the limit of one resource of one task. A target counts as reached if the limit differs from the target by
// at most 0.1 % or 4 KiB. It also counts as reached if the written value reads back within the kernel's rounding
// (64 KiB, 0.01 cores). Times are steady microseconds unless their names end in `_s`. Not thread-safe.
class LimitMover {
 public:
  // CPU limit that replaces an ordered limit and the floor of throttling (control of throttling). A change of the
  // target resets it.
  std::optional<double> steered;

  LimitMover(Resource resource, const MoverOptions& options) : resource_(resource), options_(options) {}

  // Sets the limit in force as read back (absent: none): at the start, after every write, and when another
  // program changed the limit.
  void SetCurrent(std::optional<double> limit);
  // Sets the target; nullopt: no limit. A target below the floor of throttling waits at the floor until the
  // hold ends. If `decided_s` is before the last OOM kill, the target waits at that kill's floor; absent
  // means that the caller checked MayFollow, and the kill's floor is deleted. A repeated target changes
  // nothing; a new target does not wait for the backoff of the last target.
  void SetTarget(std::optional<double> limit, std::optional<int64_t> decided_s = std::nullopt);
  // Removes the target: the limit stays at its present value. MayFollow is unaffected.
  void ClearTarget();
  // Returns the next value to write. Outer nullopt: no write is due now; inner nullopt: no limit. `usage` is the
  // present and `recent_peak` the highest usage of the last minute (bytes or cores); if either is absent, the
  // memory limit is not lowered. If no memory limit is in force, the first step sets the higher of the target and
  // usage with its margin. Steps that do not reach the target lower the limit by 1 % at least, so that slowly
  // falling usage does not cause a write each second.
  std::optional<std::optional<double>> Next(std::optional<double> usage, std::optional<double> recent_peak,
                                            int64_t now_us);
  // Reports a successful write. `held`: the value after the kernel's rounding, if it differs.
  void Wrote(std::optional<double> limit, int64_t now_us,
             std::optional<std::optional<double>> held = std::nullopt);
  // Reports a failed write. `final`: a retry is useless until the target changes.
  void Refused(int64_t now_us, bool final = false);
  // Call at a new start of the task: earlier refusals no longer apply.
  void ForgetRefusals() { refusals_ = 0; }
  // Prevents cuts until this time; raises are made at once.
  void HoldCutsUntil(int64_t steady_us) { cuts_from_us_ = steady_us; }

  // Return the floors for the ledger, and restore them. Restore() does not move the limit before the next target.
  MoveFloors floors(int64_t now_us) const;
  void Restore(const MoveFloors& floors, int64_t now_us);
  // Lowers the recorded time of a kill to `now_s` if it is later: the clock may have been set back.
  void NotAfter(int64_t now_s) {
    if (oom_s_.has_value() && *oom_s_ > now_s) oom_s_ = now_s;
  }

  // Handles an OOM kill at `limit` (absent: the limit in force). Returns the limit to set at once: the raise after
  // a kill, or `owner` if the task was killed below `owner` and `owner` is higher; at most `upper`. Returns
  // nullopt if there is nothing to raise: there is no limit, `upper` is reached, or Next already retries the
  // raise. The result becomes target and floor; orders decided before `at_s` (seconds of the cell's clock) do not
  // undo it. Memory only.
  std::optional<double> OnOom(std::optional<double> limit, std::optional<double> upper, int64_t at_s,
                              std::optional<double> owner = {});
  // Raises the limit as OnOom does, without a kill, because usage will soon reach the limit in force.
  std::optional<double> OnGrowth(std::optional<double> upper, int64_t at_s) {
    const std::optional<double> raised = OnOom({}, upper, at_s);
    floor_is_of_growth_ = raised.has_value();
    return raised;
  }
  // Handles the periods and throttled periods since the last call. Returns the limit to set at once, as OnOom
  // does. CPU only.
  std::optional<double> OnThrottled(uint64_t periods, uint64_t throttled, std::optional<double> upper,
                                    int64_t now_us);
  // Returns false if an order decided at this time is superseded by a local raise.
  bool MayFollow(int64_t decided_s) const;
  // Returns the reason for not following an order that a local raise superseded.
  std::string WhyNotFollowed() const;

  // State as of the last Next, Wrote or Refused.
  MoveStatus status() const {
    return {.state = state_, .obstacle = obstacle_, .is_final = state_ == MoveState::kRefused && final_};
  }
  // Describes the state: "usage 212 MiB and its margin are above the ordered limit"; "" if idle.
  std::string Sentence() const;
  std::optional<double> current() const { return current_; }
  // Returns the target. Outer nullopt: nothing is ordered; inner nullopt: no limit is ordered.
  std::optional<std::optional<double>> target() const {
    if (!has_target_) return std::nullopt;
    return target_;
  }

 private:
  // Returns the target, or a higher floor; obstacle_ then names this floor.
  double Goal(int64_t now_us);
  double Tolerance(double goal) const;
  bool IsThere(double goal) const;
  std::optional<std::optional<double>> StepDown(double goal, std::optional<double> usage, int64_t now_us);
  void SetState(MoveState state, Obstacle obstacle);
  // Makes `raised` the target if the target is lower. Returns `raised`, or nullopt if the limit in force is not
  // lower.
  std::optional<double> RaiseTo(double raised);

  Resource resource_;
  MoverOptions options_;
  std::optional<double> current_, target_;
  bool has_target_ = false;
  // Value of the last write, as long as the value read back may be its rounding. Infinite: no limit.
  std::optional<double> written_;
  std::optional<int64_t> wrote_us_;
  MoveState state_ = MoveState::kIdle;
  Obstacle obstacle_ = Obstacle::kNone;
  double usage_ = 0;  // higher of usage and recent peak at the last StepDown with both figures
  std::optional<double> oom_floor_, throttle_floor_;
  std::optional<int64_t> oom_s_;
  bool floor_is_of_growth_ = false;  // true if OnGrowth() set oom_floor_; not saved: false after a restart
  int64_t hold_until_us_ = 0;
  int refusals_ = 0;  // number of refusals since the last success
  bool final_ = false;
  int64_t cuts_from_us_ = 0;
  int64_t wait_us_ = 0, retry_us_ = 0;
};

}  // namespace taut::node
