// Acts of a machine's memory guard on tasks, as reported, stored and shown (docs/agent/reference.md, "Tiers").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/model/tier.h"

namespace taut {

enum class TierActKind : uint8_t {
  kThrottle,    // memory.high was set
  kRelease,     // memory.high was restored to its value before the throttle
  kKill,        // all processes of the task received SIGKILL
  kKillFailed,  // the kill failed: the kernel or the agent refused
  kKernelKill   // the kernel killed processes: a limit above the task was met, or the machine was full
};
inline constexpr size_t kTierActKinds = 5;
// Returns "throttle", "release", "kill", "kill_failed" or "kernel_kill".
std::string_view Name(TierActKind kind);

// Names are as reported; the job may be unknown. Machine, job, task, kind and at_us identify an act: a report
// that repeats them is a duplicate.
struct TierAct {
  int64_t time_s = 0;  // time of the act in seconds; never far in the future
  int64_t at_us = 0;   // time by the agent's clock, microseconds since 1970
  std::string machine, job, task;
  Tier tier = Tier::kFree;
  TierActKind kind = TierActKind::kThrottle;
  bool observed = false;  // true if the agent only observes and did not act
  // Bytes of the task before the act; `high` is present for a throttle. Absent: unknown.
  std::optional<double> usage, request, high;
  // Memory of the machine, or of the group that is guarded in place of the machine: bytes, and pressure (PSI) as a
  // share of time.
  std::optional<double> free, total, some, full;
  std::string text;  // human-readable reason

  bool operator==(const TierAct&) const = default;
};

// Returns the tier with this name; nullopt if no tier has this name.
std::optional<Tier> ParseTier(std::string_view name);
// Returns "throttle of shop/batch, task host1/a (batch)".
std::string Describe(const TierAct& act);

}  // namespace taut
