#include "server/pool/group_spend.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace taut::server {
namespace {

// Finds the groups of each job. Reads the store once per job. Each distinct set of groups has a number.
class GroupsOfJobs {
 public:
  GroupsOfJobs(History& history, const FleetView& view, const SpendingRules& rules)
      : history_(history), view_(view), rules_(rules) {}

  uint32_t Of(JobId id) {
    const auto [it, is_new] = by_job_.try_emplace(id.value, 0);
    if (!is_new) return it->second;
    const auto [groups, is_new_set] = numbers_.try_emplace(Find(id), static_cast<uint32_t>(sets_.size()));
    if (is_new_set) sets_.push_back(&groups->first);
    return it->second = groups->second;
  }
  // Returns the set of groups with this number. Totals count a job in the first group of its set.
  const std::vector<std::string>& groups(uint32_t number) const { return *sets_[number]; }

 private:
  std::vector<std::string> Find(JobId id) {
    JobRecord record;  // record; without labels if the store has none
    if (const JobView* known = view_.Find(id); known != nullptr) {
      record = *known->record;
    } else if (absl::StatusOr<JobRecord> gone = history_.Job(id); gone.ok()) {
      record = *std::move(gone);
    }
    std::vector<std::string> out;
    if (rules_.scheme != nullptr) out.push_back(OfQuota(record));
    for (const LabelGroup& group : rules_.labels) {
      if (group.Has(record)) out.push_back(group.name);
    }
    if (out.empty()) out.emplace_back(kNoGroup);
    return out;
  }
  std::string OfQuota(const JobRecord& record) const {
    const std::string group = rules_.scheme->GroupOf(record);
    if (group.empty()) return kNoGroup;
    std::string paying = rules_.scheme->NearestAbove(group, [this](std::string_view name) {
      return rules_.accounts.Find(brain::GroupHolder(name)) != nullptr;
    });
    return paying.empty() ? group : paying;
  }

  History& history_;
  const FleetView& view_;
  const SpendingRules& rules_;
  absl::flat_hash_map<uint32_t, uint32_t> by_job_;
  std::map<std::vector<std::string>, uint32_t> numbers_;
  std::vector<const std::vector<std::string>*> sets_;
};

absl::StatusOr<brain::Money> CostOf(const PerResource<uint64_t>& sums, const brain::Price& price) {
  brain::Money out;
  for (const Resource r : kResources) {
    const absl::StatusOr<brain::Money> cost =
        brain::PriceTimes(price.rate(r), sums[static_cast<size_t>(r)], brain::QuantityPerRate(r));
    if (!cost.ok()) return cost.status();
    if (absl::Status s = brain::AddTo(out, *cost); !s.ok()) return s;
  }
  return out;
}

void AddSums(const PerResource<uint64_t>& from, PerResource<uint64_t>& to) {
  for (size_t r = 0; r < to.size(); ++r) to[r] += from[r];
}

}  // namespace

absl::StatusOr<GroupDays> ReadGroupDays(History& history, const FleetView& view, const SpendingRules& rules,
                                        int64_t from_s, int64_t to_s) {
  GroupDays out;
  GroupsOfJobs jobs(history, view, rules);
  std::map<std::pair<uint32_t, int64_t>, PerResource<uint64_t>> quantities;
  const absl::Status read = history.ReadAccount(
      WindowId::Of(Timestamp::FromSeconds(from_s)), WindowId::Of(Timestamp::FromSeconds(to_s)),
      [&](const AccountSpan& span, std::span<const AccountEntry> entries) {
        const int64_t day_s = int64_t{span.first.day()} * kDaySeconds;
        if (!entries.empty()) out.first_s = std::min(out.first_s.value_or(INT64_MAX), span.first.start_s());
        for (const AccountEntry& e : entries) {
          PerResource<uint64_t>& sums = quantities[{jobs.Of(e.job), day_s}];
          for (const Resource r : kResources) sums[static_cast<size_t>(r)] += e.amounts(r).billed;
        }
      });
  if (!read.ok()) return read;
  // Quantities by group and day: the whole quantity, and its part that another group's quantity also includes.
  std::map<std::pair<std::string_view, int64_t>, std::array<PerResource<uint64_t>, 2>> by_group;
  for (const auto& [key, sums] : quantities) {
    const std::vector<std::string>& groups = jobs.groups(key.first);
    for (size_t i = 0; i < groups.size(); ++i) {
      auto& [all, again] = by_group[{groups[i], key.second}];
      AddSums(sums, all);
      if (i > 0) AddSums(sums, again);
    }
  }
  const brain::Timeline<brain::Price>& prices = rules.accounts.prices();
  for (const auto& [key, sums] : by_group) {
    const brain::Price* price = brain::ValueAt(prices, key.second);
    if (price == nullptr && !prices.empty()) price = &prices.front().second;
    if (price == nullptr) continue;
    const absl::StatusOr<brain::Money> all = CostOf(sums[0], *price), again = CostOf(sums[1], *price);
    if (!all.ok()) return all.status();
    if (!again.ok()) return again.status();
    out.days.push_back({std::string(key.first), key.second, *all, *again});
  }
  return out;
}

}  // namespace taut::server
