#include "tools/cli/replay_mode.h"

#include <algorithm>

#include "brain/rollout/rules.h"
#include "common/base/strings.h"
#include "fmt/format.h"

namespace taut::tools {
namespace {

constexpr std::string_view kKeys[] = {
    "min_change",      "change_period",           "maintenance",           "canary.share",
    "canary.duration", "canary.min_task_windows", "canary.max_extra_over", "version",
    "watch_version"};

absl::Status SetPolicy(const std::string& assignment, brain::JobPolicy& policy) {
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos) {
    return absl::InvalidArgumentError(StrCat("--policy: expected key=value, not \"", assignment, "\""));
  }
  const std::string key = assignment.substr(0, equals);
  if (std::ranges::find(kKeys, key) == std::end(kKeys)) {
    return absl::InvalidArgumentError(
        fmt::format("--policy: \"{}\": expected one of {}", key, Join(kKeys, ", ")));
  }
  const absl::Status s = brain::SetJobSetting(key, assignment.substr(equals + 1), policy);
  return s.ok() ? s : absl::InvalidArgumentError(StrCat("--policy: ", Message(s)));
}

}  // namespace

absl::StatusOr<std::optional<brain::JobPolicy>> ReplayMode(const std::string& mode,
                                                           std::span<const std::string> policy) {
  if (mode == "recommend") {
    if (policy.empty()) return std::nullopt;
    return absl::InvalidArgumentError("--policy: has no effect with --mode recommend");
  }
  if (mode != "observe" && mode != "canary" && mode != "auto") {
    return absl::InvalidArgumentError(
        StrCat("--mode: \"", mode, "\": expected recommend, observe, canary or auto"));
  }
  brain::JobPolicy out;
  if (absl::Status s = brain::SetJobSetting("mode", mode, out); !s.ok()) return s;
  for (const std::string& assignment : policy) {
    if (absl::Status s = SetPolicy(assignment, out); !s.ok()) return s;
  }
  return out;
}

}  // namespace taut::tools
