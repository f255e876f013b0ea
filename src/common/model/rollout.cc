#include "common/model/rollout.h"

#include "common/base/row_named.h"

namespace taut {
namespace {

constexpr std::string_view kModes[kNumModes] = {"off", "observe", "canary", "auto"};
constexpr DecisionKindRow kKinds[kNumDecisionKinds] = {
    {.name = "would_set", .action = "", .event = "LimitRecommended", .shows_recommendation = true},
    {.name = "set",
     .action = "limit_set",
     .event = "LimitSet",
     .sets_all_tasks = true,
     .shows_recommendation = true},
    {.name = "try", .action = "limit_tried", .event = "LimitTried", .shows_recommendation = true},
    {.name = "promote",
     .action = "limit_promoted",
     .event = "LimitPromoted",
     .sets_all_tasks = true,
     .shows_recommendation = true},
    {.name = "roll_back", .action = "limit_rolled_back", .event = "LimitRolledBack", .is_warning = true},
    {.name = "oom_raise",
     .action = "limit_raised_after_oom",
     .event = "LimitRaised",
     .sets_all_tasks = true,
     .shows_recommendation = true,
     .is_warning = true},
    {.name = "release", .action = "limit_released", .event = "LimitReleased", .sets_all_tasks = true}};
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

const DecisionKindRow& RowOf(DecisionKind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::string DecisionKindNames() { return RowNames(kKinds); }

std::string_view Name(Outcome outcome) { return kOutcomes[static_cast<size_t>(outcome)]; }

}  // namespace taut
