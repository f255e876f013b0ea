#include "node/agent/limit_mover.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "common/base/strings.h"
#include "common/model/oom_bump.h"
#include "common/model/units.h"

namespace taut::node {
namespace {

// Internally, no limit is an infinite limit.
constexpr double kNoLimit = std::numeric_limits<double>::infinity();
double Amount(std::optional<double> limit) { return limit.value_or(kNoLimit); }
std::optional<double> Limit(double amount) {
  return amount == kNoLimit ? std::nullopt : std::optional<double>(amount);
}

constexpr double kNear = 0.001, kNearBytes = 4096;
// Rounding by the kernel: whole pages (64 KiB at most), whole milliseconds of a 100 ms period.
constexpr double kRoundingBytes = 65'536, kRoundingCores = 0.01;
// Steps that do not reach the target are at least this large.
constexpr double kMinStepShare = 0.01;

bool Within(double a, double b, double tolerance) { return a == b || std::abs(a - b) <= tolerance; }

}  // namespace

MoverOptions MoverOptions::AtSpeed(double speed) const {
  MoverOptions faster = *this;
  for (int64_t* us :
       {&faster.step_interval_us, &faster.backoff_us, &faster.max_backoff_us, &faster.throttle_hold_us}) {
    *us = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(*us) / speed));
  }
  return faster;
}

double LimitMover::Tolerance(double goal) const {
  if (goal == kNoLimit) return 0;
  return std::max(kNear * goal, InBytes(resource_) ? kNearBytes : 0.0);
}

void LimitMover::SetCurrent(std::optional<double> limit) {
  current_ = limit;
  const double rounding = InBytes(resource_) ? kRoundingBytes : kRoundingCores;
  // 1.001 absorbs floating-point errors.
  if (written_ && !Within(*written_, Amount(limit), rounding * 1.001)) written_.reset();
}

void LimitMover::SetTarget(std::optional<double> limit, std::optional<int64_t> decided_s) {
  // An order that was decided after the kill takes the kill into account: the kill's floor is no longer needed.
  if (!decided_s || MayFollow(*decided_s)) oom_floor_.reset();
  if (has_target_ && target_ == limit) return;
  steered.reset();
  target_ = limit;
  has_target_ = true;
  refusals_ = 0;
}

void LimitMover::ClearTarget() {
  has_target_ = false;
  target_.reset();
  steered.reset();
  SetState(MoveState::kIdle, Obstacle::kNone);
}

void LimitMover::SetState(MoveState state, Obstacle obstacle) {
  state_ = state;
  obstacle_ = obstacle;
}

double LimitMover::Goal(int64_t now_us) {
  double goal = Amount(target_);
  obstacle_ = Obstacle::kNone;
  if (steered) return *steered;
  if (oom_floor_ && *oom_floor_ - goal > Tolerance(goal)) {
    goal = *oom_floor_;
    obstacle_ = Obstacle::kOomFloor;
  }
  if (throttle_floor_ && now_us >= hold_until_us_) throttle_floor_.reset();
  if (throttle_floor_ && *throttle_floor_ - goal > Tolerance(goal)) {
    goal = *throttle_floor_;
    obstacle_ = Obstacle::kThrottleFloor;
  }
  return goal;
}

bool LimitMover::IsThere(double goal) const {
  const double tolerance = Tolerance(goal);
  // Compare the goal with written_, too: a value that reads back rounded would otherwise be written again and
  // again.
  return Within(goal, Amount(current_), tolerance) || (written_ && Within(goal, *written_, tolerance));
}

std::optional<std::optional<double>> LimitMover::Next(std::optional<double> usage,
                                                      std::optional<double> recent_peak, int64_t now_us) {
  if (!has_target_) {
    SetState(MoveState::kIdle, Obstacle::kNone);
    return std::nullopt;
  }
  const double goal = Goal(now_us);
  if (IsThere(goal)) {
    SetState(obstacle_ == Obstacle::kNone ? MoveState::kIdle : MoveState::kHeld, obstacle_);
    return std::nullopt;
  }
  if (refusals_ > 0 && (final_ || now_us < retry_us_)) {
    SetState(MoveState::kRefused, obstacle_);
    return std::nullopt;
  }
  // This check precedes the checks for memory alone, because the grace prevents cuts of both CPU and memory.
  if (now_us < cuts_from_us_ && goal < Amount(current_)) {
    SetState(MoveState::kHeld, Obstacle::kStartup);
    return std::nullopt;
  }
  if (ThrottlesAtLimit(resource_) || goal > Amount(current_)) {
    SetState(refusals_ > 0 ? MoveState::kRefused : MoveState::kStepping, obstacle_);
    return Limit(goal);
  }
  // Each of the two figures alone may be outdated.
  const bool known = usage && recent_peak;
  return StepDown(goal, known ? std::optional<double>(std::max(*usage, *recent_peak)) : std::nullopt, now_us);
}

std::optional<std::optional<double>> LimitMover::StepDown(double goal, std::optional<double> usage,
                                                          int64_t now_us) {
  if (!usage) {
    SetState(MoveState::kHeld, Obstacle::kUsageUnknown);
    return std::nullopt;
  }
  usage_ = *usage;
  const double more = std::min(options_.margin_bytes, *usage * options_.most_margin_bytes_share);
  const double safe = *usage * (1 + options_.margin_share) + more;
  double next = std::max(goal, safe);
  if (current_) {
    next = std::max(next, *current_ * (1 - options_.shrink_share));
    const double smallest = std::min(kMinStepShare, options_.shrink_share);
    // While usage falls slowly, a small step would be followed by another small step each second: wait for a
    // larger step.
    if (next != goal && next > *current_ * (1 - smallest)) {
      SetState(MoveState::kHeld, Obstacle::kUsage);
      return std::nullopt;
    }
  }
  SetState(refusals_ > 0 ? MoveState::kRefused : MoveState::kStepping, obstacle_);
  // Set the state before the wait for the interval, so that the limit is reported as stepping and not as idle.
  if (wrote_us_ && now_us - *wrote_us_ < options_.step_interval_us) return std::nullopt;
  return std::optional<double>(next);
}

void LimitMover::Wrote(std::optional<double> limit, int64_t now_us,
                       std::optional<std::optional<double>> held) {
  current_ = held.value_or(limit);
  written_ = Amount(limit);
  wrote_us_ = now_us;
  refusals_ = 0;
  if (!has_target_) {
    SetState(MoveState::kIdle, Obstacle::kNone);
  } else if (!IsThere(Goal(now_us))) {
    SetState(MoveState::kStepping, obstacle_);
  } else {
    SetState(obstacle_ == Obstacle::kNone ? MoveState::kIdle : MoveState::kHeld, obstacle_);
  }
}

void LimitMover::Refused(int64_t now_us, bool final) {
  ++refusals_;
  final_ = final;
  // Double the wait without overflow: wait_us_ + min(wait_us_, max) is at most twice the maximum.
  wait_us_ = refusals_ == 1 ? options_.backoff_us : wait_us_ + std::min(wait_us_, options_.max_backoff_us);
  wait_us_ = std::min(wait_us_, options_.max_backoff_us);
  retry_us_ = now_us + wait_us_;
  SetState(MoveState::kRefused, obstacle_);
}

MoveFloors LimitMover::floors(int64_t now_us) const {
  MoveFloors out;
  out.oom = oom_floor_;
  out.oom_s = oom_s_;
  if (throttle_floor_ && now_us < hold_until_us_) {
    out.throttle = throttle_floor_;
    out.throttle_left_us = hold_until_us_ - now_us;
  }
  return out;
}

void LimitMover::Restore(const MoveFloors& floors, int64_t now_us) {
  oom_floor_ = floors.oom;
  oom_s_ = floors.oom_s;
  throttle_floor_.reset();
  const int64_t left_us = std::clamp<int64_t>(floors.throttle_left_us, 0, options_.throttle_hold_us);
  if (!floors.throttle || left_us == 0) return;
  throttle_floor_ = floors.throttle;
  hold_until_us_ = now_us + left_us;
}

std::optional<double> LimitMover::RaiseTo(double raised) {
  if (raised - Amount(current_) <= Tolerance(raised)) return std::nullopt;
  if (has_target_ && Amount(target_) >= raised) {
    // A write of this raise was refused before: Next retries it after the backoff.
    return refusals_ > 0 ? std::nullopt : std::optional<double>(raised);
  }
  target_ = raised;
  has_target_ = true;
  refusals_ = 0;
  return raised;
}

std::optional<double> LimitMover::OnOom(std::optional<double> limit, std::optional<double> upper,
                                        int64_t at_s, std::optional<double> owner) {
  assert(KillsAtLimit(resource_));
  const std::optional<double> killed_at = limit ? limit : current_;
  if (!killed_at) return std::nullopt;
  const bool had_less = owner && *killed_at < *owner - Tolerance(*owner);
  const double bumped = OomBump(*killed_at, options_.oom_ratio, options_.oom_plus_bytes);
  const double wanted = had_less ? std::max(bumped, *owner) : bumped;
  const double raised = std::min(wanted, Amount(upper));
  oom_floor_ = std::max(raised, oom_floor_.value_or(0));
  floor_is_of_growth_ = false;
  oom_s_ = std::max(at_s, oom_s_.value_or(at_s));
  return RaiseTo(raised);
}

std::optional<double> LimitMover::OnThrottled(uint64_t periods, uint64_t throttled,
                                              std::optional<double> upper, int64_t now_us) {
  assert(ThrottlesAtLimit(resource_));
  if (!current_ ||
      static_cast<double>(throttled) <= options_.throttled_share * static_cast<double>(periods)) {
    return std::nullopt;
  }
  const double raised = std::min(*current_ * options_.throttle_ratio, Amount(upper));
  const bool held = throttle_floor_ && now_us < hold_until_us_;
  throttle_floor_ = held ? std::max(*throttle_floor_, raised) : raised;
  hold_until_us_ = now_us + options_.throttle_hold_us;
  return RaiseTo(raised);
}

bool LimitMover::MayFollow(int64_t decided_s) const { return !oom_s_ || decided_s >= *oom_s_; }

std::string LimitMover::WhyNotFollowed() const {
  return floor_is_of_growth_ ? "decided before the limit was raised for usage that grows"
                             : "decided before the OOM kill after which the limit was raised";
}

std::string LimitMover::Sentence() const {
  const auto text = [this](double amount) {
    return amount == kNoLimit ? std::string("no limit") : FormatAmount(resource_, amount);
  };
  switch (state_) {
    case MoveState::kIdle:
      return "";
    case MoveState::kStepping:
      return StrCat("in progress from ", text(Amount(current_)), " to ", text(Amount(target_)));
    case MoveState::kRefused:
      if (final_) return "refused; not retried until another limit is ordered";
      return StrCat("refused ", refusals_, refusals_ == 1 ? " time" : " times", "; retry after ",
                    FormatDuration((wait_us_ + 999'999) / 1'000'000));
    case MoveState::kHeld:
      break;
  }
  switch (obstacle_) {
    case Obstacle::kNone:
    case Obstacle::kUsage:
      return StrCat("usage ", text(usage_), " and its margin are above the ordered limit");
    case Obstacle::kUsageUnknown:
      return "usage is unknown: a memory limit is not lowered without it";
    case Obstacle::kOomFloor:
      return StrCat("raised to ", text(*oom_floor_),
                    floor_is_of_growth_ ? " for usage that grows" : " after an OOM kill",
                    "; waiting for an order decided after it");
    case Obstacle::kThrottleFloor:
      return StrCat("raised to ", text(*throttle_floor_), " after throttling; lower orders wait");
    case Obstacle::kStartup:
      return "the task has just started; its limit is not lowered during startup_grace";
  }
  return "";
}

}  // namespace taut::node
