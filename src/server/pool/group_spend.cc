#include "server/pool/group_spend.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace taut::server {
namespace {

// Finds the group that pays for each job. Reads the store once per job.
class PayingGroups {
 public:
  PayingGroups(History& history, const FleetView& view, const GroupScheme& scheme,
               const brain::BudgetAccounts& accounts)
      : history_(history), view_(view), scheme_(scheme), accounts_(accounts) {}

  uint32_t Of(JobId id) {
    const auto [it, is_new] = by_job_.try_emplace(id.value, 0);
    if (!is_new) return it->second;
    const auto [group, is_new_group] = numbers_.try_emplace(Find(id), static_cast<uint32_t>(names_.size()));
    if (is_new_group) names_.push_back(group->first);
    return it->second = group->second;
  }
  const std::string& name(uint32_t group) const { return names_[group]; }

 private:
  std::string Find(JobId id) {
    std::string group;
    if (const JobView* known = view_.Find(id); known != nullptr) {
      group = scheme_.GroupOf(*known->record);
    } else if (const absl::StatusOr<JobRecord> gone = history_.Job(id); gone.ok()) {
      group = scheme_.GroupOf(*gone);
    }
    if (group.empty()) return kNoGroup;
    std::string paying = scheme_.NearestAbove(
        group, [this](std::string_view name) { return accounts_.Find(brain::GroupHolder(name)) != nullptr; });
    return paying.empty() ? group : paying;
  }

  History& history_;
  const FleetView& view_;
  const GroupScheme& scheme_;
  const brain::BudgetAccounts& accounts_;
  absl::flat_hash_map<uint32_t, uint32_t> by_job_;
  std::map<std::string, uint32_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace

absl::StatusOr<GroupDays> ReadGroupDays(History& history, const FleetView& view, const GroupScheme& scheme,
                                        const brain::BudgetAccounts& accounts, int64_t from_s, int64_t to_s) {
  GroupDays out;
  PayingGroups groups(history, view, scheme, accounts);
  std::map<std::pair<uint32_t, int64_t>, PerResource<uint64_t>> quantities;
  const absl::Status read = history.ReadAccount(
      WindowId::Of(Timestamp::FromSeconds(from_s)), WindowId::Of(Timestamp::FromSeconds(to_s)),
      [&](const AccountSpan& span, std::span<const AccountEntry> entries) {
        const int64_t day_s = int64_t{span.first.day()} * kDaySeconds;
        if (!entries.empty()) out.first_s = std::min(out.first_s.value_or(INT64_MAX), span.first.start_s());
        for (const AccountEntry& e : entries) {
          PerResource<uint64_t>& sums = quantities[{groups.Of(e.job), day_s}];
          for (const Resource r : kResources) sums[static_cast<size_t>(r)] += e.amounts(r).billed;
        }
      });
  if (!read.ok()) return read;
  for (const auto& [key, sums] : quantities) {
    const brain::Price* price = brain::ValueAt(accounts.prices(), key.second);
    if (price == nullptr && !accounts.prices().empty()) price = &accounts.prices().front().second;
    if (price == nullptr) continue;
    brain::GroupDay& day = out.days.emplace_back(brain::GroupDay{groups.name(key.first), key.second, {}});
    for (const Resource r : kResources) {
      const absl::StatusOr<brain::Money> cost =
          brain::PriceTimes(price->rate(r), sums[static_cast<size_t>(r)], brain::QuantityPerRate(r));
      if (!cost.ok()) return cost.status();
      if (absl::Status s = brain::AddTo(day.amount, *cost); !s.ok()) return s;
    }
  }
  return out;
}

}  // namespace taut::server
