// How a limit gets from where it is to where it was ordered: up at once, down in steps that keep clear of
// usage, with patience when the kernel refuses; and what a node may do by itself when a task is killed or
// throttled. Arithmetic only: time is an argument, and the caller writes the limit and reports the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/byte_units.h"
#include "common/model/resource.h"

namespace taut::node {

struct MoverOptions {
  // Memory, down: a step takes off at most this share of the limit, one each step_interval_us.
  double shrink_share = 0.2;
  int64_t step_interval_us = 1'000'000;
  // and never goes below usage * (1 + margin_share) + margin_bytes.
  double margin_share = 0.1;
  // Of small tasks no more than a share: limits are recommended 15 % above the usage, and have to be reached.
  double margin_bytes = 4 * kMiB;
  double most_margin_bytes_share = 0.04;
  // After a refusal: twice as long each time, up to max.
  int64_t backoff_us = 2'000'000;
  int64_t max_backoff_us = 300'000'000;
  // After an OOM kill at L: max(ratio * L, L + plus), as the recommenders do (docs/references.md, C6).
  double oom_ratio = 1.2;
  double oom_plus_bytes = 100 * kMiB;
  // CPU: if more than this share of the periods since the last look were throttled, the limit is raised by
  // this much, and no lower order is applied during that time.
  double throttled_share = 0.01;
  double throttle_ratio = 1.25;
  int64_t throttle_hold_us = int64_t{3600} * 1'000'000;

  // The same where a node's clock runs `speed` times as fast: steady times are shorter by that.
  MoverOptions AtSpeed(double speed) const;
};

// What an OOM kill or throttling left behind, which no older order goes below.
struct MoveFloors {
  std::optional<double> oom, throttle;
  std::optional<int64_t> oom_s;  // when the last kill was
  int64_t throttle_left_us = 0;  // of the hold, from now on
};

enum class MoveState : uint8_t {
  kIdle,      // where it should be, or nothing was ordered
  kStepping,  // on its way
  kHeld,      // usage is in the way, a floor of our own, or the task has only just started
  kRefused    // the kernel or engine said no; tried again after the backoff, or with another target
};

enum class Obstacle : uint8_t { kNone, kUsage, kUsageUnknown, kOomFloor, kThrottleFloor, kStartup };

struct MoveStatus {
  MoveState state = MoveState::kIdle;
  Obstacle obstacle = Obstacle::kNone;  // of kHeld
  bool is_final = false;                // refused, and not tried again before the target is another one
};

// One task, one resource. A limit within 0.1 % or 4 KiB of where it should be is there, and so is what reads
// back as written but for the kernel's rounding (64 KiB, 0.01 cores). Steady time in microseconds throughout.
// Not thread-safe.
class LimitMover {
 public:
  LimitMover(Resource resource, const MoverOptions& options) : resource_(resource), options_(options) {}

  // What is in force, as read back (absent: no limit). At the start, after every write, and when another
  // program changed it.
  void SetCurrent(std::optional<double> limit);
  // Where to go. nullopt: no limit. An order below the floor after throttling waits at the floor until the
  // hold is over. `decided_s`: if the order was decided before the last OOM kill, it waits at that kill's
  // floor; absent: the caller asked MayFollow, and the kill's floor is gone. The same order again changes
  // nothing, a new one is not made to wait for the backoff of the one before.
  void SetTarget(std::optional<double> limit, std::optional<int64_t> decided_s = std::nullopt);
  // Nothing is ordered any more: the limit stays where it is. MayFollow keeps its answer.
  void ClearTarget();
  // What the next write should be, given usage now and its highest in the last minute (bytes or cores;
  // absent, one or both: not known, then memory does not go down). nullopt: nothing to do now. The inner
  // optional is the limit (absent: none). From no memory limit at all the first step goes to the target or to
  // usage with its margin. Steps that do not arrive take off 1 % at least, so that usage that falls slowly is
  // not followed with a write each second.
  std::optional<std::optional<double>> Next(std::optional<double> usage, std::optional<double> recent_peak,
                                            int64_t now_us);
  // How the write went. `held`: what the kernel made of it, if that is not the same.
  void Wrote(std::optional<double> limit, int64_t now_us,
             std::optional<std::optional<double>> held = std::nullopt);
  // `final`: trying the same again is of no use; only another target is tried.
  void Refused(int64_t now_us, bool final = false);
  // A new start of the task: what was refused to the last one is tried again.
  void ForgetRefusals() { refusals_ = 0; }
  // Until then limits only go up.
  void HoldCutsUntil(int64_t steady_us) { cuts_from_us_ = steady_us; }

  // For the ledger, and back from it. Restore does not move anything: a target does.
  MoveFloors floors(int64_t now_us) const;
  void Restore(const MoveFloors& floors, int64_t now_us);
  // Clocks go back too: nothing happened after `now_s`.
  void NotAfter(int64_t now_s) {
    if (oom_s_.has_value() && *oom_s_ > now_s) oom_s_ = now_s;
  }

  // A task was killed at `limit` (absent: the one in force). The limit to set at once: the owner's, if the task
  // was killed under less, or the raise after a kill, if that is more. It is at most `upper`;
  // nullopt if there is nothing to raise (no limit, or `upper` is reached, or Next tries it again already
  // after a refusal). It becomes target and floor:
  // orders decided before `at_s` (the cell's clock) do not undo it.
  std::optional<double> OnOom(std::optional<double> limit, std::optional<double> upper, int64_t at_s,
                              std::optional<double> owner = {});
  // Usage will soon reach the limit in force. As OnOom, but nothing was killed.
  std::optional<double> OnGrowth(std::optional<double> upper, int64_t at_s) {
    const std::optional<double> raised = OnOom({}, upper, at_s);
    floor_is_of_growth_ = raised.has_value();
    return raised;
  }
  // Periods and throttled periods since the last look, with the limit in force. As OnOom.
  std::optional<double> OnThrottled(uint64_t periods, uint64_t throttled, std::optional<double> upper,
                                    int64_t now_us);
  // May this order, decided then, be followed? Else it is superseded by a raise of our own.
  bool MayFollow(int64_t decided_s) const;
  // Why an order that was decided before that raise is not followed.
  std::string WhyNotFollowed() const;

  // As of the last Next, Wrote or Refused.
  MoveStatus status() const {
    return {.state = state_, .obstacle = obstacle_, .is_final = state_ == MoveState::kRefused && final_};
  }
  // "usage 212 MiB and its margin are in the way": of the state; "" if idle.
  std::string Sentence() const;
  std::optional<double> current() const { return current_; }
  // Absent: nothing is ordered. The inner optional is the limit (absent: none).
  std::optional<std::optional<double>> target() const {
    if (!has_target_) return std::nullopt;
    return target_;
  }

 private:
  // Where to go, a floor's height if the target is below it: then obstacle_ says which.
  double Goal(int64_t now_us);
  double Tolerance(double goal) const;
  bool IsThere(double goal) const;
  std::optional<std::optional<double>> StepDown(double goal, std::optional<double> usage, int64_t now_us);
  void SetState(MoveState state, Obstacle obstacle);
  // Makes it the target if that is lower, and returns it; nullopt if the limit in force is not lower.
  std::optional<double> RaiseTo(double raised);

  Resource resource_;
  MoverOptions options_;
  std::optional<double> current_, target_;
  bool has_target_ = false;
  // As written, as long as what reads back may be that, rounded. Infinite: no limit.
  std::optional<double> written_;
  std::optional<int64_t> wrote_us_;
  MoveState state_ = MoveState::kIdle;
  Obstacle obstacle_ = Obstacle::kNone;
  double usage_ = 0;  // now or of the last minute, as of the last Next that knew it
  std::optional<double> oom_floor_, throttle_floor_;
  std::optional<int64_t> oom_s_;
  bool floor_is_of_growth_ = false;  // not saved: after a restart of the agent it is of a kill
  int64_t hold_until_us_ = 0;
  int refusals_ = 0;  // since the last success
  bool final_ = false;
  int64_t cuts_from_us_ = 0;
  int64_t wait_us_ = 0, retry_us_ = 0;
};

}  // namespace taut::node
