// What the guard of a machine's memory did to a task, as it is reported, stored and shown
// (docs/agent/reference.md, "Tiers").
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
  kRelease,     // memory.high is again what it was before the throttle
  kKill,        // all processes of the task got SIGKILL
  kKillFailed,  // they should have, and the kernel or the agent refused
  kKernelKill  // the kernel killed processes of it at a limit above the task, or for want of the machine's memory
};
inline constexpr size_t kTierActKinds = 5;
// "throttle", "release", "kill", "kill_failed", "kernel_kill".
std::string_view Name(TierActKind kind);

// Names are as reported: the job need not be known. One act is that of its machine, job, task, kind and at_us;
// reported twice it is the same.
struct TierAct {
  int64_t time_s = 0;  // never far in the future
  int64_t at_us = 0;   // by the agent's clock
  std::string machine, job, task;
  Tier tier = Tier::kFree;
  TierActKind kind = TierActKind::kThrottle;
  bool observed = false;  // nothing was done: the agent observes
  // Bytes of the task, as it was before; `high` of a throttle. Absent: not known.
  std::optional<double> usage, request, high;
  // Of the machine, or the group that stands for it: bytes, and pressure (PSI) as a share of time.
  std::optional<double> free, total, some, full;
  std::string text;  // why

  bool operator==(const TierAct&) const = default;
};

// The tier of this name; nullopt: there is none.
std::optional<Tier> ParseTier(std::string_view name);
// "throttle of shop/batch, task host1/a (batch)".
std::string Describe(const TierAct& act);

}  // namespace taut
