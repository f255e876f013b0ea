#include "tools/sim/tier_quota.h"

#include <algorithm>
#include <cmath>

#include "common/base/byte_units.h"
#include "common/base/time.h"

namespace taut::tools {

TierQuota::TierQuota(brain::QuotaTree tree, std::string_view tier, std::span<const std::string> groups)
    : tree_(std::move(tree)),
      tier_(tier),
      tier_index_(tree_.TierNamed(tier).value_or(0)),
      groups_(groups.begin(), groups.end()) {}

absl::Status TierQuota::Check(uint32_t group) const { return tree_.GroupNamed(groups_[group]).status(); }

brain::QuotaVector TierQuota::AmountsOf(const PoolAmounts& amounts) const {
  brain::QuotaVector out;
  for (const Resource r : kResources) {
    const std::string_view name = r == Resource::kCpu ? brain::kQuotaCpu : brain::kQuotaMemory;
    if (!tree_.ResourceNamed(name).has_value()) continue;
    const double unit = 1 / (InCores(r) ? 1 : UnitOf(r).accounted);
    const double amount =
        static_cast<double>(amounts[static_cast<size_t>(r)]) / static_cast<double>(kWindowSeconds) * unit;
    out.Set(name,
            static_cast<int64_t>(std::min(std::ceil(amount), static_cast<double>(brain::kMaxQuotaAmount))));
  }
  return out;
}

bool TierQuota::Fits(uint32_t group, const PoolAmounts& ask) const {
  const absl::StatusOr<int32_t> node = tree_.GroupNamed(groups_[group]);
  const brain::QuotaVector amounts = AmountsOf(ask);
  return std::ranges::all_of(amounts.amounts(), [&](const brain::QuotaAmount& a) {
    return tree_.lane(tier_index_, *tree_.ResourceNamed(a.resource)).Fits(*node, a.amount);
  });
}

absl::StatusOr<brain::AdmissionVerdict> TierQuota::Decide(uint32_t group, const PoolAmounts& ask) const {
  brain::AdmissionRequest request;
  request.group = groups_[group];
  request.tier = tier_;
  request.per_task = AmountsOf(ask);
  return brain::DecideAdmission(tree_, request);
}

absl::Status TierQuota::Change(uint32_t group, const PoolAmounts& from, const PoolAmounts& to) {
  if (from == to) return absl::OkStatus();
  if (absl::Status s = tree_.Remove({groups_[group], tier_, AmountsOf(from)}); !s.ok()) return s;
  return tree_.Add({groups_[group], tier_, AmountsOf(to)});
}

}  // namespace taut::tools
