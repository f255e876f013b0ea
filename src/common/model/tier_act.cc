#include "common/model/tier_act.h"

#include "common/base/strings.h"

namespace taut {

std::string_view Name(TierActKind kind) {
  switch (kind) {
    case TierActKind::kThrottle:
      return "throttle";
    case TierActKind::kRelease:
      return "release";
    case TierActKind::kKill:
      return "kill";
    case TierActKind::kKillFailed:
      return "kill_failed";
    case TierActKind::kKernelKill:
      return "kernel_kill";
  }
  return "";
}

std::optional<Tier> ParseTier(std::string_view name) {
  for (size_t i = 0; i < kTiers; ++i) {
    if (Name(static_cast<Tier>(i)) == name) return static_cast<Tier>(i);
  }
  return std::nullopt;
}

std::string Describe(const TierAct& act) {
  return StrCat(act.observed ? "observed, not done: " : "", Name(act.kind), " of ", act.job, ", task ",
                act.task, " (", Name(act.tier), ")");
}

}  // namespace taut
