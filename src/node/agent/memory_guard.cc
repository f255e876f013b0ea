#include "node/agent/memory_guard.h"

#include <algorithm>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::node {
namespace {

constexpr double kLeastUsage = kMiB;  // a task with less usage is not throttled or killed
constexpr double kCutShare = 0.1;     // share of the usage that a throttle cuts, down to the request
constexpr double kCalmFactor = 1.5;
constexpr int64_t kMinuteUs = 60'000'000;
constexpr int64_t kRateUs = 1'000'000;     // time over which a rate is computed
constexpr int64_t kLeastRateUs = 100'000;  // no rate is computed over shorter times
constexpr double kNearFactor = 2;          // is_near(): free memory below this multiple of throttle_below

std::string PercentText(double share) { return fmt::format("{:.3g} %", share * 100); }

std::string FreeText(const MemoryNow& now) {
  return StrCat("free ", FormatBytes(std::max(now.free, 0.0)), " of ", FormatBytes(now.total));
}

// Returns a text if free memory is below the threshold, or if pressure is at least `most` while less than
// `pressed_free` is free; otherwise "".
std::string BelowText(const MemoryNow& now, const FreeThreshold& below, double pressed_free,
                      std::optional<double> pressure, double most, std::string_view name) {
  const double least = below.Of(now.total);
  if (now.free < least) return StrCat(FreeText(now), " is below ", FormatBytes(least));
  if (most > 0 && pressure.value_or(0) >= most && now.free < pressed_free) {
    return StrCat(FreeText(now), " is below ", FormatBytes(pressed_free), " and memory pressure (", name,
                  ") ", PercentText(*pressure), " is at least ", PercentText(most));
  }
  return "";
}

// A task over its request loses a tenth of its usage, but not below the request. Any other task keeps its
// usage but cannot grow.
double ThrottledHigh(const GuardTask& task) {
  if (task.over() <= 0) return task.usage;
  return std::max(task.request.value_or(0), task.usage * (1 - kCutShare));
}

}  // namespace

bool GoesBefore(const GuardTask& a, const GuardTask& b) {
  if (a.tier != b.tier) return a.tier < b.tier;
  if (a.over() != b.over()) return a.over() > b.over();
  return a.id < b.id;
}

std::string OverText(const GuardTask& task) {
  const std::string uses = StrCat(Name(task.tier), " task uses ", FormatBytes(task.usage));
  if (!task.request.has_value()) return StrCat(uses, " and has no request");
  const std::string_view side = task.over() > 0 ? " over" : " below";
  return StrCat(uses, ", ", FormatBytes(std::abs(task.over())), side, " its request of ",
                FormatBytes(*task.request));
}

bool MemoryGuard::IsRefused(const std::map<uint64_t, int64_t>& refused, uint64_t task, int64_t now_us) const {
  const auto it = refused.find(task);
  return it != refused.end() && now_us - it->second < kMinuteUs;
}

void MemoryGuard::Note(const MemoryNow& now, int64_t now_us) {
  if (now.total != total_) readings_.clear();  // the limit changed: older readings cannot be compared
  total_ = now.total;
  if (readings_.empty() || readings_.back().at_us < now_us) {
    readings_.push_back({now_us, now.free});
  } else {
    readings_.back().free = now.free;
  }
  // Keep one reading that is older than a second: without this reading the rate would cover less than a second.
  while (readings_.size() > 1 && now_us - readings_[1].at_us >= kRateUs) readings_.pop_front();
  is_near_ = now.free < kNearFactor * options_.throttle_below.Of(now.total);
}

std::optional<double> MemoryGuard::FallRate() const {
  if (readings_.empty()) return std::nullopt;
  const FreeAt &first = readings_.front(), &last = readings_.back();
  const double seconds = static_cast<double>(last.at_us - first.at_us) / 1e6;
  if (last.at_us - first.at_us < kLeastRateUs || last.free >= first.free) return std::nullopt;
  return (first.free - last.free) / seconds;
}

std::string MemoryGuard::AheadText(const MemoryNow& now, int64_t within_us) const {
  const std::optional<double> rate = options_.ahead_us > 0 ? FallRate() : std::nullopt;
  if (!rate.has_value() || now.free >= kNearFactor * options_.throttle_below.Of(now.total)) return "";
  const double left_s = std::max(now.free, 0.0) / *rate;
  if (left_s * 1e6 >= static_cast<double>(within_us)) return "";
  return StrCat(FreeText(now), " falls by ", FormatBytes(*rate), " a second and would be used up in ",
                fmt::format("{:.2g}", left_s), " s");
}

void MemoryGuard::NoteState(const MemoryNow& now, int64_t now_us) {
  Note(now, now_us);
  const double least = options_.throttle_below.Of(now.total);
  short_why_ = ShortReason(now);
  if (!short_why_.empty()) {
    calm_since_us_.reset();
    if (!short_since_us_.has_value()) short_since_us_ = now_us;
    return;
  }
  // A shortage ends only after calm_us with enough free memory: after a single good reading, releases and
  // throttles would alternate.
  if (now.free < kCalmFactor * least) {
    calm_since_us_.reset();
  } else if (!calm_since_us_.has_value()) {
    calm_since_us_ = now_us;
  }
  if (calm_since_us_.has_value() && now_us - *calm_since_us_ >= options_.calm_us) {
    short_since_us_.reset();
    throttled_up_to_.reset();
  }
}

std::vector<FreeThreshold> MemoryGuard::WatchedThresholds() const {
  constexpr int kSteps = 10;
  std::vector<FreeThreshold> out;
  for (int i = kSteps; i > 0; --i) {
    const double part = kNearFactor * i / kSteps;
    out.push_back({options_.throttle_below.share * part, options_.throttle_below.bytes * part});
  }
  return out;
}

bool MemoryGuard::IsUrgent(const MemoryNow& now) const {
  bool is_last = false;
  return (options_.kill && !EndReason(now, is_last).empty()) || (!is_short() && !ShortReason(now).empty());
}

std::string MemoryGuard::ShortReason(const MemoryNow& now) const {
  const double least = options_.throttle_below.Of(now.total);
  std::string why =
      BelowText(now, options_.throttle_below, kNearFactor * least, now.some, options_.pressure_some, "some");
  return why.empty() ? AheadText(now, options_.after_us) : why;
}

std::string MemoryGuard::EndReason(const MemoryNow& now, bool& is_last) const {
  is_last = now.free < options_.last_below.Of(now.total);
  if (!is_last) {
    std::string ahead = AheadText(now, options_.ahead_us);
    is_last = !ahead.empty();
    if (is_last) return ahead;
  }
  return BelowText(now, options_.kill_below, options_.throttle_below.Of(now.total), now.full,
                   options_.pressure_full, "full");
}

std::vector<GuardAct> MemoryGuard::Step(const MemoryNow& now, std::span<const GuardTask> tasks,
                                        int64_t now_us) {
  std::vector<const GuardTask*> ranked;
  for (const GuardTask& task : tasks) {
    if (!IsProduction(task.tier) && task.usage >= kLeastUsage) ranked.push_back(&task);
  }
  std::sort(ranked.begin(), ranked.end(),
            [](const GuardTask* a, const GuardTask* b) { return GoesBefore(*a, *b); });
  const auto forget_gone = [&tasks](std::map<uint64_t, int64_t>& by_task) {
    std::erase_if(by_task, [&tasks](const auto& e) {
      return std::none_of(tasks.begin(), tasks.end(), [&e](const GuardTask& t) { return t.id == e.first; });
    });
  };
  // Ids are never reused, so an entry of an ended task would stay forever.
  for (auto* by_task : {&throttled_, &throttle_refused_, &kill_refused_}) forget_gone(*by_task);
  while (!kills_us_.empty() && now_us - kills_us_.front() >= kMinuteUs) kills_us_.pop_front();

  NoteState(now, now_us);
  std::vector<GuardAct> out;
  is_helpless_ = false;
  if (!short_since_us_.has_value()) {
    Release(out);
    return out;
  }
  if (options_.throttle) Throttle(ranked, now_us, out);
  if (options_.kill) Kill(now, ranked, now_us, out);
  return out;
}

// Throttles one tier at a time, from the lowest. The next tier follows when throttling had time to take
// effect and memory is still short. Tasks of a throttled tier that appear later are throttled when they
// appear.
void MemoryGuard::Throttle(std::span<const GuardTask* const> ranked, int64_t now_us,
                           std::vector<GuardAct>& out) {
  if (short_why_.empty()) return;
  for (const GuardTask* task : ranked) {
    if (!task->can_throttle || throttled_.contains(task->id) ||
        IsRefused(throttle_refused_, task->id, now_us)) {
      continue;
    }
    if (!throttled_up_to_.has_value() || task->tier > *throttled_up_to_) {
      if (throttled_up_to_.has_value() && now_us - throttled_tier_us_ < options_.after_us) break;
      throttled_up_to_ = task->tier;
      throttled_tier_us_ = now_us;
    }
    throttled_[task->id] = now_us;
    out.push_back(
        {GuardActKind::kThrottle, task->id, ThrottledHigh(*task), StrCat(short_why_, "; ", OverText(*task))});
  }
}

bool MemoryGuard::IsSettling(std::span<const GuardTask* const> ranked, int64_t now_us) const {
  if (!victim_.has_value() || now_us - victim_->killed_us >= options_.settle_us) return false;
  // Only the next reading of `free` includes the victim's memory.
  if (now_us == victim_->killed_us) return true;
  constexpr double kLeft = 0.1;
  return std::any_of(ranked.begin(), ranked.end(), [&](const GuardTask* task) {
    return task->id == victim_->task && task->usage > kLeft * victim_->usage;
  });
}

void MemoryGuard::Kill(const MemoryNow& now, std::span<const GuardTask* const> ranked, int64_t now_us,
                       std::vector<GuardAct>& out) {
  bool is_last = false;
  const std::string why = EndReason(now, is_last);
  if (why.empty() || IsSettling(ranked, now_us)) return;
  if (kills_us_.size() >= static_cast<size_t>(options_.kills_per_minute)) return;
  // Tasks whose kill was refused are skipped without a wait: the next task in rank is killed instead.
  const auto it = std::find_if(ranked.begin(), ranked.end(), [&](const GuardTask* task) {
    return !IsRefused(kill_refused_, task->id, now_us);
  });
  if (it == ranked.end()) {
    is_helpless_ = true;
    return;
  }
  const GuardTask& task = **it;
  // The time for the throttle to take effect begins with the later of throttle and shortage.
  const auto throttled = throttled_.find(task.id);
  const int64_t since_us =
      throttled == throttled_.end() ? *short_since_us_ : std::max(throttled->second, *short_since_us_);
  const bool waits = !is_last && options_.throttle && task.can_throttle;
  if (waits && now_us - since_us < options_.after_us) return;
  kills_us_.push_back(now_us);
  victim_ = {task.id, task.usage, now_us};
  out.push_back({GuardActKind::kKill, task.id, 0, StrCat(why, "; ", OverText(task))});
}

void MemoryGuard::Release(std::vector<GuardAct>& out) {
  for (const auto& [id, since] : throttled_) {
    out.push_back({GuardActKind::kRelease, id, 0, "memory is free again"});
  }
  throttled_.clear();
}

void MemoryGuard::Refused(GuardActKind kind, uint64_t task, int64_t now_us) {
  if (kind == GuardActKind::kThrottle) {
    throttled_.erase(task);
    throttle_refused_[task] = now_us;
  } else if (kind == GuardActKind::kKill) {
    kill_refused_[task] = now_us;
    if (victim_.has_value() && victim_->task == task) {
      victim_.reset();
      // A kill that failed does not count in the kills per minute.
      if (!kills_us_.empty()) kills_us_.pop_back();
    }
  }
}

}  // namespace taut::node
