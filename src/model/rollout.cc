#include "model/rollout.h"

namespace taut {
namespace {

constexpr std::string_view kModes[kNumModes] = {"off", "observe", "canary", "auto"};
constexpr std::string_view kKinds[kNumDecisionKinds] = {"would_set", "set",       "try",    "promote",
                                                        "roll_back", "oom_raise", "release"};
constexpr std::string_view kOutcomes[kNumOutcomes] = {"pending", "applied", "dry_run", "failed",
                                                      "superseded"};

}  // namespace

std::string_view Name(Mode mode) { return kModes[static_cast<size_t>(mode)]; }

std::optional<Mode> ParseMode(std::string_view name) {
  for (size_t i = 0; i < kNumModes; ++i) {
    if (kModes[i] == name) return static_cast<Mode>(i);
  }
  return std::nullopt;
}

std::string_view Name(DecisionKind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::string_view Name(Outcome outcome) { return kOutcomes[static_cast<size_t>(outcome)]; }

}  // namespace taut
