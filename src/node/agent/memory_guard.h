// Decides which tasks are throttled and killed before a machine, or the group that is guarded in its place,
// runs out of memory. The lowest tier is throttled and then killed; production is never killed for other
// tasks. Arithmetic only: time is an argument, and the caller acts and reports the result. See
// docs/algorithms/overcommit.md, "Memory of a machine".
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
  // Free memory below throttle_below is a shortage. Below kill_below, tasks are killed. Below last_below, tasks
  // are killed without any wait.
  FreeThreshold throttle_below{0.10, 4 * kGiB};
  FreeThreshold kill_below{0.05, 2 * kGiB};
  FreeThreshold last_below{0.02, 512 * kMiB};
  // Memory pressure (PSI, share of time) alone proves no shortage, because a single task at its own limit
  // causes pressure. PSI `some` of at least pressure_some is a shortage only if less than twice
  // throttle_below is free. PSI `full` of at least pressure_full starts kills only if less than
  // throttle_below is free. A bound of 0 is ignored.
  double pressure_some = 0.2, pressure_full = 0.1;
  // Time for throttling to take effect before a kill, and before the next tier is throttled. Tasks that
  // cannot be throttled are killed without this wait.
  int64_t after_us = 5'000'000;
  // While less than twice throttle_below is free, the guard predicts from the rate of the last second when free
  // memory is used up. A prediction within ahead_us starts kills without a wait; a prediction within after_us is a
  // shortage. 0: no prediction.
  int64_t ahead_us = 1'000'000;
  // Longest wait for the memory of one victim before the next kill. The wait ends earlier if the memory is
  // free earlier.
  int64_t settle_us = 5'000'000;
  // Time without a shortage, with at least 1.5 times throttle_below free, after which throttling ends.
  int64_t calm_us = 30'000'000;
  int kills_per_minute = 6;
};

// A candidate for an act.
struct GuardTask {
  uint64_t id = 0;
  Tier tier = Tier::kProduction;
  double usage = 0;               // usage in bytes
  std::optional<double> request;  // bytes; absent: all usage counts as over the request
  bool can_throttle = false;

  double over() const { return usage - request.value_or(0); }
};

enum class GuardActKind : uint8_t {
  kThrottle,  // set memory.high to `high`
  kRelease,   // restore memory.high
  kKill
};
struct GuardAct {
  GuardActKind kind = GuardActKind::kThrottle;
  uint64_t task = 0;
  double high = 0;
  std::string why;  // reason with figures: "free 10.0 MiB of 256 MiB is below ..."
};

// Decides the acts of one machine or group. Times are steady microseconds, ascending. Not thread-safe.
class MemoryGuard {
 public:
  explicit MemoryGuard(const GuardOptions& options) : options_(options) {}

  // Returns the acts to do now, in order; at most one kill. `tasks` must be all candidates. No act affects a task
  // of production or monitoring, or a task that uses less than 1 MiB. Each act counts as done unless Refused
  // follows. O(tasks * log tasks).
  std::vector<GuardAct> Step(const MemoryNow& now, std::span<const GuardTask> tasks, int64_t now_us);
  // Reports that an act failed. A throttle or kill of this task is not retried for a minute; the next task is
  // tried.
  void Refused(GuardActKind kind, uint64_t task, int64_t now_us);
  // Forgets the throttle of this task, because another program changed its memory.high.
  void Drop(uint64_t task) { throttled_.erase(task); }

  // Adds a reading between two Steps, to compute the rate at which free memory falls.
  void Note(const MemoryNow& now, int64_t now_us);
  // Returns true if Step should run now with this reading, which Note has received.
  bool IsUrgent(const MemoryNow& now) const;
  // Amounts of free memory at which a notification is useful: ten steps from twice throttle_below down.
  std::vector<FreeThreshold> WatchedThresholds() const;
  // True if less than twice throttle_below is free, as of the last Note or Step: the caller then reads more often.
  bool is_near() const { return is_near_; }
  bool is_short() const { return short_since_us_.has_value(); }
  bool IsThrottled(uint64_t task) const { return throttled_.contains(task); }
  // True if memory is running out, killing is enabled, and no task may be killed; as of the last Step.
  bool is_helpless() const { return is_helpless_; }

 private:
  struct Victim {
    uint64_t task = 0;
    double usage = 0;
    int64_t killed_us = 0;
  };

  void NoteState(const MemoryNow& now, int64_t now_us);
  std::string ShortReason(const MemoryNow& now) const;  // reason of a shortage; "": none
  // Returns the reason why a task must be killed; "" if no task must be killed. Sets `is_last` if the kill must
  // not wait.
  std::string EndReason(const MemoryNow& now, bool& is_last) const;
  // Bytes a second by which free memory falls; absent if free memory does not fall or there are too few
  // readings.
  std::optional<double> FallRate() const;
  // Returns the text of a prediction that memory is used up within this time; "" if no such prediction is
  // made.
  std::string AheadText(const MemoryNow& now, int64_t within_us) const;
  void Throttle(std::span<const GuardTask* const> ranked, int64_t now_us, std::vector<GuardAct>& out);
  void Kill(const MemoryNow& now, std::span<const GuardTask* const> ranked, int64_t now_us,
            std::vector<GuardAct>& out);
  void Release(std::vector<GuardAct>& out);
  // True while the memory of the last victim is expected to become free.
  bool IsSettling(std::span<const GuardTask* const> ranked, int64_t now_us) const;
  bool IsRefused(const std::map<uint64_t, int64_t>& refused, uint64_t task, int64_t now_us) const;

  GuardOptions options_;
  // Readings of the last second and the newest reading before that second, ascending.
  struct FreeAt {
    int64_t at_us = 0;
    double free = 0;
  };
  std::deque<FreeAt> readings_;
  double total_ = 0;  // total memory at readings_
  bool is_near_ = false;
  std::string short_why_;  // reason for the shortage, as of the last Step; "": none
  std::optional<int64_t> short_since_us_, calm_since_us_;
  std::optional<Tier> throttled_up_to_;  // tier up to which tasks are throttled, since throttled_tier_us_
  int64_t throttled_tier_us_ = 0;
  std::map<uint64_t, int64_t> throttled_;                        // task id: time of the throttle
  std::map<uint64_t, int64_t> throttle_refused_, kill_refused_;  // task id: time of the refusal
  std::optional<Victim> victim_;
  std::deque<int64_t> kills_us_;  // times of kills in the last minute
  bool is_helpless_ = false;
};

// Returns true if `a` is killed before `b`: the task of the lower tier, then the task further over its request in
// bytes (the kubelet's rank), then the lower id.
bool GoesBefore(const GuardTask& a, const GuardTask& b);
// Describes a candidate: "batch task uses 120 MiB, 100 MiB over its request of 20 MiB".
std::string OverText(const GuardTask& task);

}  // namespace taut::node
