// What to do before a machine, or the group that stands for it, runs out of memory: the lowest tier is
// throttled and then killed, production never for others' sake. Arithmetic only: time is an argument, and the
// caller acts and reports how it went. docs/algorithms/overcommit.md, "Memory of a machine".
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/byte_units.h"
#include "common/model/tier.h"
#include "node/agent/memory_source.h"

namespace taut::node {

struct GuardOptions {
  bool throttle = false, kill = false;
  // Memory is short below `throttle_below`, and ends below `kill_below`; below `last_below` nothing is waited
  // for any more.
  FreeThreshold throttle_below{0.10, 4 * kGiB};
  FreeThreshold kill_below{0.05, 2 * kGiB};
  FreeThreshold last_below{0.02, 512 * kMiB};
  // Pressure (PSI, share of time) alone says nothing of the machine, as one task at its own limit makes it.
  // This much of `some` makes memory short if less than twice throttle_below is free; this much of `full`
  // makes it end if less than throttle_below is free. 0: not looked at.
  double pressure_some = 0.2, pressure_full = 0.1;
  // Time that throttling has before anything is killed, and before the next tier is throttled. What cannot be
  // throttled is killed at once.
  int64_t after_us = 5'000'000;
  // Memory ends, and nothing is waited for, if at the rate of the last second it is used up in this time; it is
  // short if it is used up in after_us. Both only while less than twice throttle_below is free. 0: neither.
  int64_t ahead_us = 1'000'000;
  // Time in which the memory of one victim comes back before the next is killed, unless it is back sooner.
  int64_t settle_us = 5'000'000;
  // Time without a shortage, with half as much again free as throttle_below, after which throttling ends.
  int64_t calm_us = 30'000'000;
  int kills_per_minute = 6;
};

// A task that may be acted on.
struct GuardTask {
  uint64_t id = 0;
  Tier tier = Tier::kProduction;
  double usage = 0;               // bytes
  std::optional<double> request;  // absent: all of its usage is over
  bool can_throttle = false;

  double over() const { return usage - request.value_or(0); }
};

enum class GuardActKind : uint8_t {
  kThrottle,  // memory.high = `high`
  kRelease,   // memory.high as it was
  kKill
};
struct GuardAct {
  GuardActKind kind = GuardActKind::kThrottle;
  uint64_t task = 0;
  double high = 0;
  std::string why;  // with the figures: "free 10.0 MiB of 256 MiB is below ..."
};

// Steady time in microseconds throughout, ascending. Not thread-safe.
class MemoryGuard {
 public:
  explicit MemoryGuard(const GuardOptions& options) : options_(options) {}

  // What to do now, in this order; at most one kill. `tasks` are all that there are; those of production and
  // monitoring, and those that use less than 1 MiB, are never acted on. Each act counts as done unless
  // Refused says otherwise. O(tasks * log tasks).
  std::vector<GuardAct> Step(const MemoryNow& now, std::span<const GuardTask> tasks, int64_t now_us);
  // It could not be done. A throttle or kill is not tried again for a minute; the next task's turn comes.
  void Refused(GuardActKind kind, uint64_t task, int64_t now_us);
  // The throttle of this task is gone: another program changed its memory.high.
  void Drop(uint64_t task) { throttled_.erase(task); }

  // A reading between two Steps, for the rate. Time as for Step.
  void Note(const MemoryNow& now, int64_t now_us);
  // Whether a Step with this reading, which Note has, may not wait.
  bool IsUrgent(const MemoryNow& now) const;
  // Amounts of free memory whose passing is news: in steps from twice throttle_below down to nothing.
  std::vector<FreeThreshold> WatchedThresholds() const;
  // Less than twice throttle_below is free: readings are to come faster. As of the last Note or Step.
  bool is_near() const { return is_near_; }
  bool is_short() const { return short_since_us_.has_value(); }
  bool IsThrottled(uint64_t task) const { return throttled_.contains(task); }
  // Memory ends, killing is on, and there is no task that may be killed. As of the last Step.
  bool is_helpless() const { return is_helpless_; }

 private:
  struct Victim {
    uint64_t task = 0;
    double usage = 0;
    int64_t killed_us = 0;
  };

  void NoteState(const MemoryNow& now, int64_t now_us);
  std::string ShortReason(const MemoryNow& now) const;  // "" if it is not
  // "" if it does not. `is_last`: nothing is waited for.
  std::string EndReason(const MemoryNow& now, bool& is_last) const;
  // Bytes a second by which free memory falls; absent: it does not, or not enough readings.
  std::optional<double> FallRate() const;
  // "" if memory is not used up within this time.
  std::string AheadText(const MemoryNow& now, int64_t within_us) const;
  void Throttle(std::span<const GuardTask* const> ranked, int64_t now_us, std::vector<GuardAct>& out);
  void Kill(const MemoryNow& now, std::span<const GuardTask* const> ranked, int64_t now_us,
            std::vector<GuardAct>& out);
  void Release(std::vector<GuardAct>& out);
  // Whether the memory of the last victim still has to come back.
  bool IsSettling(std::span<const GuardTask* const> ranked, int64_t now_us) const;
  bool IsRefused(const std::map<uint64_t, int64_t>& refused, uint64_t task, int64_t now_us) const;

  GuardOptions options_;
  // Of the last second and the newest before it, ascending.
  struct FreeAt {
    int64_t at_us = 0;
    double free = 0;
  };
  std::deque<FreeAt> readings_;
  double total_ = 0;  // of readings_
  bool is_near_ = false;
  std::string short_why_;  // of the last Step: why memory is short; "": it is not, or no longer
  std::optional<int64_t> short_since_us_, calm_since_us_;
  std::optional<Tier> throttled_up_to_;  // since throttled_tier_us_
  int64_t throttled_tier_us_ = 0;
  std::map<uint64_t, int64_t> throttled_;                        // since when
  std::map<uint64_t, int64_t> throttle_refused_, kill_refused_;  // when
  std::optional<Victim> victim_;
  std::deque<int64_t> kills_us_;  // of the last minute
  bool is_helpless_ = false;
};

// Lowest tier first, in a tier the furthest over its request first (bytes, as the kubelet ranks); then by id.
bool GoesBefore(const GuardTask& a, const GuardTask& b);
// "batch task uses 120 MiB, 100 MiB over its request of 20 MiB".
std::string OverText(const GuardTask& task);

}  // namespace taut::node
