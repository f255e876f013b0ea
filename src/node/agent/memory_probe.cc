#include "node/agent/memory_probe.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace taut::node {
namespace {

constexpr double kPage = 4096;
constexpr int64_t kConfirmedUs = 300'000'000;
// The limit is released after this many intervals without figures, because a stall would not be detected.
constexpr int64_t kBlindIntervals = 10;
// Readings further apart than both an interval and this time are a gap.
constexpr int64_t kGapUs = 5'000'000;
constexpr int kMostGaps = 3;
// An interval confirms an earlier need if the task ran within at most this multiple of the need.
constexpr double kConfirms = 1.1;

}  // namespace

std::optional<double> MemoryProbe::needed(int64_t now_us) const {
  if (!needed_.has_value() || now_us - needed_us_ > kConfirmedUs) return std::nullopt;
  return needed_;
}

void MemoryProbe::Drop() {
  ForgetLimit();
  span_.is_whole = false;  // the probe makes no step for a while, so the window is incomplete
}

void MemoryProbe::ForgetLimit() {
  // Small raises are part of the search for a need and leave the need unchanged. After large raises the need is
  // unknown.
  if (raised_.has_value()) {
    if (IsGrowing() || !ran_within_.has_value()) ForgetRun();
    if (ran_within_.has_value()) ran_within_ = std::max(*ran_within_, *limit_);
    raised_.reset();
  }
  limit_.reset();
  memory_max_.reset();
  before_.reset();
  integral_us_ = 0;
  backoffs_ = gaps_ = 0;
  is_carried_ = ran_within_.has_value();
}

void MemoryProbe::ForgetRun() {
  ran_within_.reset();
  raised_.reset();
  is_carried_ = false;
  span_.is_whole = false;
}

bool MemoryProbe::IsRunKnown(int64_t now_us) const {
  return ran_within_.has_value() && now_us - ran_us_ <= kCarriedUs;
}

// Handles an interval with stalls at or below the target.
void MemoryProbe::NoteRunWithin(double within, int64_t now_us) {
  const bool is_known = IsRunKnown(now_us);
  // Memory that the task regained while no limit was in force may not be needed.
  const bool is_confirmed =
      !is_carried_ || !is_known || raised_.has_value() || within <= *ran_within_ * kConfirms;
  if (!is_confirmed) return;
  if (is_known && within > *ran_within_) span_.most = std::max(span_.most, within);
  if (raised_.has_value()) span_.most = std::max(span_.most, within);
  ran_within_ = within;
  ran_us_ = now_us;
  raised_.reset();
  is_carried_ = false;
}

std::optional<double> MemoryProbe::TakeMostNeeded(int64_t now_us) {
  const Span span = std::exchange(span_, Span());
  if (!span.has_steps || !span.is_whole || IsGrowing() || !IsRunKnown(now_us)) return std::nullopt;
  const double allowed = raised_.has_value() ? *limit_ : 0;
  return std::max({span.most, *ran_within_, allowed});
}

ProbeStep MemoryProbe::Step(const ProbeReading& reading, int64_t now_us) {
  if (reading.usage.has_value()) {
    interval_peak_ = std::max(interval_peak_, *reading.usage);
    if (raised_.has_value()) raised_ = std::max(*raised_, *reading.usage);
  }
  const ProbeStep step = Move(reading, now_us);
  span_.has_steps = true;
  if (!IsRunKnown(now_us) && !limit_.has_value()) span_.is_whole = false;
  return step;
}

ProbeStep MemoryProbe::Release() {
  const bool was_set = limit_.has_value();
  ForgetLimit();
  return {was_set ? ProbeStep::Kind::kRelease : ProbeStep::Kind::kNone, 0};
}

void MemoryProbe::RestartInterval(int64_t now_us) {
  integral_us_ = 0;
  interval_peak_ = 0;
  since_us_ = now_us;
}

void MemoryProbe::NoteNeeded(double bytes, int64_t now_us) {
  needed_ = bytes;
  needed_us_ = now_us;
}

double MemoryProbe::Bounded(double bytes, const ProbeReading& reading) const {
  const double upper = std::min(options_.max_bytes, reading.high.value_or(options_.max_bytes));
  // If the owner's memory.high is below the minimum, the owner's value applies.
  const double bounded = std::min(std::max(bytes, options_.min_bytes), upper);
  return std::floor(bounded / kPage) * kPage;
}

ProbeStep MemoryProbe::Scale(double factor, const ProbeReading& reading) {
  const double scaled = Bounded(*limit_ * (1 + factor), reading);
  if (scaled == *limit_) return {};
  limit_ = scaled;
  return {ProbeStep::Kind::kSet, scaled};
}

ProbeStep MemoryProbe::Move(const ProbeReading& reading, int64_t now_us) {
  if (!reading.stall_us.has_value() || !reading.usage.has_value()) {
    // A missing figure interrupts the interval: the next difference would cover an unknown time.
    total_us_.reset();
    const bool is_blind = read_us_.has_value() && now_us - *read_us_ > kBlindIntervals * options_.interval_us;
    return is_blind ? Release() : ProbeStep();
  }
  const std::optional<uint64_t> total_before = std::exchange(total_us_, reading.stall_us);
  const std::optional<int64_t> read_before = std::exchange(read_us_, now_us);
  if (total_before.has_value() && *reading.stall_us < *total_before) {
    is_found_ = false;
    needed_.reset();
    ForgetRun();  // the stall total is from another run of the task
    return Release();
  }
  if (!limit_.has_value()) return Begin(reading, now_us);
  if (reading.memory_max != memory_max_) {
    is_found_ = false;
    needed_.reset();
    return Release();
  }
  const bool has_gap = !total_before.has_value() || !read_before.has_value() || now_us <= *read_before ||
                       now_us - *read_before > std::max(options_.interval_us, kGapUs);
  if (has_gap) {
    RestartInterval(now_us);
    if (++gaps_ < kMostGaps) return {};
    rests_until_us_ = now_us + options_.rest_us;
    return Release();
  }
  gaps_ = 0;
  integral_us_ += static_cast<double>(*reading.stall_us - *total_before);
  // Back off at once and not at the interval's end, because a stalling task must not wait.
  if (integral_us_ > options_.target_us) return BackOff(reading, now_us);
  if (now_us - since_us_ < options_.interval_us) return {};
  // While the machine is short of memory, stalls have another cause: do not lower the limit.
  if (reading.may_tighten) return Tighten(reading, now_us);
  RestartInterval(now_us);
  return {};
}

ProbeStep MemoryProbe::Begin(const ProbeReading& reading, int64_t now_us) {
  if (rests_until_us_.has_value() && now_us < *rests_until_us_) return {};
  rests_until_us_.reset();
  // A task below the minimum is not probed, because the task would grow against a limit.
  if (!reading.may_tighten || *reading.usage < options_.min_bytes) return {};
  const double limit = Bounded(*reading.usage, reading);
  if (limit < std::floor(options_.min_bytes / kPage) * kPage) return {};  // the owner's limit is lower
  limit_ = limit;
  memory_max_ = reading.memory_max;
  RestartInterval(now_us);
  return {ProbeStep::Kind::kSet, limit};
}

ProbeStep MemoryProbe::BackOff(const ProbeReading& reading, int64_t now_us) {
  is_found_ = true;
  // The need is at least the memory within which the task ran before. If this memory is unknown, the need is at
  // least the limit that the task outgrew.
  NoteNeeded(std::max(needed_.value_or(0), before_.value_or(*limit_)), now_us);
  raised_ = std::max({raised_.value_or(0), *reading.usage, before_.value_or(*limit_)});
  before_.reset();
  const double error = integral_us_ / options_.target_us;
  const double share = error / options_.coeff_backoff;
  RestartInterval(now_us);
  if (++backoffs_ >= options_.most_backoffs) {
    rests_until_us_ = now_us + options_.rest_us;
    // The task stalled at every limit: the result is meaningless.
    is_found_ = false;
    needed_.reset();
    ForgetRun();
    return Release();
  }
  return Scale(std::min(share * share * options_.max_backoff, options_.max_backoff), reading);
}

ProbeStep MemoryProbe::Tighten(const ProbeReading& reading, int64_t now_us) {
  backoffs_ = 0;
  const double within = std::min(*limit_, *reading.usage);
  is_found_ |= *limit_ <= options_.min_bytes;
  if (is_found_) NoteNeeded(std::min(needed_.value_or(within), within), now_us);
  // After a raise use the highest usage since then, so that a burst that has ended still counts.
  const double peak = std::max({interval_peak_, *reading.usage, raised_.value_or(0)});
  NoteRunWithin(std::min(*limit_, peak), now_us);
  const double error = options_.target_us / std::max(integral_us_, 1.0);
  const double share = error / options_.coeff_probe;
  before_ = within;
  RestartInterval(now_us);
  return Scale(-std::min(share * share * options_.max_probe, options_.max_probe), reading);
}

}  // namespace taut::node
