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
};

}  // namespace

std::span<const PolicyInfo> Policies() { return kPolicies; }

std::string_view Name(Policy p) { return kPolicies[static_cast<size_t>(p)].name; }

Policy PolicyFor(Policy p, Resource r) {
  if (p != Policy::kCombined) return p;
  return r == Resource::kCpu ? Policy::kWorkFunction : Policy::kAnalogs;
}

absl::StatusOr<Policy> ParsePolicy(std::string_view name) {
  for (const PolicyInfo& p : kPolicies) {
    if (p.name == name) return p.policy;
  }
  std::vector<std::string_view> names;
  for (const PolicyInfo& p : kPolicies) names.push_back(p.name);
  return absl::InvalidArgumentError(
      StrCat("no recommender \"", name, "\"; there are ", fmt::join(names, ", ")));
}

}  // namespace taut
