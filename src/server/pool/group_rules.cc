#include "server/pool/group_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base/strings.h"

namespace taut::server {
namespace {

absl::StatusOr<NameTemplate> ParseTemplate(std::string_view what, const std::string& text) {
  absl::StatusOr<NameTemplate> parsed = NameTemplate::Parse(text);
  if (parsed.ok()) return parsed;
  return absl::InvalidArgumentError(StrCat(what, ": ", Message(parsed.status())));
}

bool IsCounted(const JobView& job, int64_t from_s) {
  return job.record != nullptr && !job.whole_machine && job.last_seen_s >= from_s && job.tasks > 0;
}

// Returns the amount over all tasks in units of 1/`per_one` core or byte, rounded up. Ignores rounding errors of
// float, so that 1.1 cores are 1100 millicores. Clamps the amount to 2^50, which exceeds every pool, so that sums
// do not overflow.
int64_t AmountOf(const JobView& job, float per_task, double per_one) {
  constexpr double kMost = double{int64_t{1} << 50};
  if (!(per_task > 0)) return 0;
  const double amount = std::min(kMost, double{per_task} * job.tasks * per_one);
  const double nearest = std::round(amount);
  const bool exact = std::abs(amount - nearest) <= amount * double{std::numeric_limits<float>::epsilon()};
  return static_cast<int64_t>(exact ? nearest : std::ceil(amount));
}

float CountedPerTask(const JobAmounts& a) { return a.limit >= 0 ? a.limit : a.peak >= 0 ? a.peak : a.usage; }

}  // namespace

absl::StatusOr<GroupRules> GroupRules::Make(const GroupRuleOptions& options) {
  absl::StatusOr<NameTemplate> group = ParseTemplate("quota.group", options.group);
  if (!group.ok()) return group.status();
  if (options.tier.empty()) return GroupRules(*std::move(group), std::nullopt, options.default_tier);
  absl::StatusOr<NameTemplate> tier = ParseTemplate("quota.tier", options.tier);
  if (!tier.ok()) return tier.status();
  return GroupRules(*std::move(group), *std::move(tier), options.default_tier);
}

GroupRules::Place GroupRules::Of(const JobRecord& job) const {
  std::vector<LabelView> labels;
  labels.reserve(job.labels.size());
  for (const auto& [name, value] : job.labels) labels.push_back({name, value});
  Place place;
  place.group = group_.Render(labels).value_or("");
  if (tier_.has_value()) place.tier = tier_->Render(labels).value_or("");
  if (place.tier.empty()) place.tier = default_tier_;
  return place;
}

bool AnySeen(const FleetView& view, int64_t from_s) {
  return std::ranges::any_of(view.jobs, [from_s](const JobView& job) { return IsCounted(job, from_s); });
}

std::vector<brain::JobUse> UseOf(const FleetView& view, const GroupRules& rules, int64_t from_s) {
  std::vector<brain::JobUse> out;
  for (const JobView& job : view.jobs) {
    if (!IsCounted(job, from_s)) continue;
    GroupRules::Place place = rules.Of(*job.record);
    const JobAmounts &cpu = job.of(Resource::kCpu), &memory = job.of(Resource::kMemory);
    out.push_back({job.record->name, std::move(place.group), std::move(place.tier),
                   AmountOf(job, CountedPerTask(cpu), 1000), AmountOf(job, CountedPerTask(memory), 1),
                   AmountOf(job, cpu.usage, 1000), AmountOf(job, memory.usage, 1), job.last_seen_s});
  }
  return out;
}

}  // namespace taut::server
