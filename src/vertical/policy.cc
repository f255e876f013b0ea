#include "vertical/policy.h"

#include <vector>

#include "base/strings.h"

namespace taut {
namespace {

constexpr PolicyInfo kPolicies[] = {
    {Policy::kStatic, "static", "the owner's limit, whatever the usage"},
    {Policy::kPeak, "peak", "the highest usage of the last days and a margin"},
    {Policy::kVpa, "vpa", "what the Kubernetes VPA would set with its defaults"},
    {Policy::kMovingWindow, "moving_window", "Autopilot's decayed statistics of the usage, by job class"},
    {Policy::kEnsemble, "ensemble", "Autopilot's many simple models, the least costly lately in charge"},
    {Policy::kAnalogs, "analogs",
     "what similar job-days of the whole fleet did next, at an ordered OOM risk"},
    {Policy::kWorkFunction, "work_function",
     "the limit moves when another would have cost a change less, at an ordered share of throttled work"},
    {Policy::kCombined, "combined", "memory by analogs, CPU by work_function"},
    {Policy::kKrr, "krr", "what a daily report of KRR's simple strategy would set; only in a replay", true},
    {Policy::kCrane, "crane", "what a daily recommendation of Crane would set; only in a replay", true},
};

absl::StatusOr<Policy> Parse(std::string_view name, bool of_jobs) {
  std::vector<std::string_view> names;
  bool replay_only = false;
  for (const PolicyInfo& p : kPolicies) {
    const bool allowed = !of_jobs || !p.replay_only;
    if (p.name == name && allowed) return p.policy;
    if (p.name == name) replay_only = true;
    if (allowed) names.push_back(p.name);
  }
  if (replay_only) {
    return absl::InvalidArgumentError(
        StrCat("recommender \"", name, "\" runs only in taut replay; there are ", fmt::join(names, ", ")));
  }
  return absl::InvalidArgumentError(
      StrCat("no recommender \"", name, "\"; there are ", fmt::join(names, ", ")));
}

}  // namespace

std::span<const PolicyInfo> Policies() { return kPolicies; }

std::string_view Name(Policy p) { return kPolicies[static_cast<size_t>(p)].name; }

Policy PolicyFor(Policy p, Resource r) {
  if (p != Policy::kCombined) return p;
  return r == Resource::kCpu ? Policy::kWorkFunction : Policy::kAnalogs;
}

absl::StatusOr<Policy> ParsePolicy(std::string_view name) { return Parse(name, /*of_jobs=*/false); }
absl::StatusOr<Policy> ParseJobPolicy(std::string_view name) { return Parse(name, /*of_jobs=*/true); }

}  // namespace taut
