#include "node/agent/tier_options.h"

#include <algorithm>

#include "common/base/pattern.h"

namespace taut::node {
namespace {

bool Fits(const TaskTierRule& rule, const FoundTask& task) {
  if (!rule.job.empty() && !FitsPattern(task.job, rule.job)) return false;
  return rule.label.empty() || std::any_of(task.labels.begin(), task.labels.end(), [&](const auto& label) {
           return label.first == rule.label && FitsPattern(label.second, rule.label_is);
         });
}

}  // namespace

TaskTier TierOf(const TierOptions& options, const FoundTask& task, const TaskRule& rule) {
  std::optional<Tier> tier = rule.tier;
  std::optional<double> request = rule.memory_request;
  for (const TaskTierRule& r : options.rules) {
    if (!Fits(r, task)) continue;
    if (r.tier.has_value()) tier = r.tier;
    if (r.memory_request.has_value()) request = r.memory_request;
    break;
  }
  return {tier.value_or(options.fallback), request};
}

}  // namespace taut::node
