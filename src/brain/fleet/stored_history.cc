#include "brain/fleet/stored_history.h"

#include "common/model/oom_counts.h"

namespace taut::brain {
namespace {

// Iterates over kills in the order of time.
class RecordedOoms {
 public:
  explicit RecordedOoms(std::span<const OomRecord> ooms) : ooms_(ooms) {}

  // Returns the kills before `end_s` that no earlier call returned.
  std::span<const OomRecord> Before(int64_t end_s) {
    const auto end =
        std::find_if(ooms_.begin(), ooms_.end(), [&](const OomRecord& o) { return o.time_s >= end_s; });
    const auto n = static_cast<size_t>(end - ooms_.begin());
    const std::span<const OomRecord> next = ooms_.first(n);
    ooms_ = ooms_.subspan(n);
    return next;
  }

 private:
  std::span<const OomRecord> ooms_;
};

// Tracks the limit in force on all tasks. Times must ascend.
class AppliedLimits {
 public:
  AppliedLimits(std::span<const Decision> decisions, Resource resource)
      : rest_(decisions), resource_(resource) {}

  // Returns the limit in force at `time_s`; absent: the owner's limit is in force, or the limit is unknown.
  std::optional<double> At(int64_t time_s) {
    for (; !rest_.empty() && rest_.front().time_s <= time_s; rest_ = rest_.subspan(1)) {
      const Decision& d = rest_.front();
      const bool sets = RowOf(d.kind).sets_all_tasks && d.outcome == Outcome::kApplied;
      if (sets && d.target == Target(resource_)) limit_ = d.after;
    }
    return limit_;
  }

 private:
  std::span<const Decision> rest_;
  Resource resource_;
  std::optional<double> limit_;
};

// Position of a lane in its history.
struct Position {
  int32_t day = INT32_MIN;   // last started day; INT32_MIN: none
  WindowId last{INT32_MIN};  // newest window; INT32_MIN: none
  double peak = 0;           // peak in the newest window; used for kills without a known limit
};

void TakeKills(std::span<const OomRecord> ooms, const Position& at, JobStepper stepper) {
  for (const OomRecord& oom : ooms) {
    if (IsAside(oom)) continue;
    WindowId window = WindowId::Of(Timestamp::FromSeconds(oom.time_s));
    if (at.last.index != INT32_MIN) window = std::clamp(window, at.last, at.last.next());
    window = std::max(window, WindowId{at.day * kWindowsPerDay});
    stepper.ObserveKill({window, oom.task, oom.limit.value_or(at.peak)});
  }
}

}  // namespace

void StepHistory(const StoredHistory& history, DaySignals& signals, ManagedLane& lane,
                 const HistorySteps& steps) {
  JobStepper stepper(history.resource, lane);
  Position at;
  const auto start = [&](int32_t day) {
    if (day > at.day) stepper.StartDay(at.day = day);
  };
  RecordedOoms recorded(KillsAtLimit(history.resource) ? history.ooms : std::span<const OomRecord>());
  AppliedLimits applied(history.decisions, history.resource);
  for (const JobDay& day : history.days) {
    signals.Build(day, history.resource, history.memory_signal);
    start(day.day);
    for (Signal s : signals.signals()) {
      if (!s.cut_at.has_value()) s.cut_at = applied.At(s.window.start_s());
      const std::span<const OomRecord> killed = recorded.Before(s.window.next().start_s());
      steps.begins(s, killed);
      TakeKills(killed, at, stepper);
      steps.closes(s, killed);
      at.last = s.window;
      at.peak = s.usage_peak.value_or(s.peak);  // kills depend on usage and not on needs
    }
    if (day.day < history.open_day) stepper.EndDay(day.day);
  }
  if (history.open_day != INT32_MAX) start(history.open_day);
  if (at.day != INT32_MIN) TakeKills(recorded.Before(INT64_MAX), at, stepper);
}

}  // namespace taut::brain
