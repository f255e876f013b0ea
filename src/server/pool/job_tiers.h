// Tiers of a cell's pool, by priority, and the tier of each job.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "brain/economy/pricing.h"
#include "brain/economy/tier_sale.h"
#include "common/model/rollout.h"
#include "server/pool/group_scheme.h"

namespace taut::server {

struct CapacityTier {
  std::string name;
  brain::TierSale sale = brain::TierSale::kReserved;
  double promise = 0;  // share of the time in which sold capacity is available
};

class JobTiers {
 public:
  struct Options {
    const brain::Pricing* pricing = nullptr;  // must outlive this object; null: the default tiers
    std::string default_tier =
        "production";  // tier of jobs for which neither quota nor price file has a tier
  };
  explicit JobTiers(const Options& options);

  // Returns the tiers by descending priority; never empty.
  std::span<const CapacityTier> tiers() const { return tiers_; }
  // Returns the index in tiers() of the tier with this name; nullopt if there is none.
  std::optional<size_t> TierNamed(std::string_view name) const;
  struct Found {
    size_t tier = 0;      // the first tier if the name is unknown
    std::string unknown;  // the unknown name; "" if the tier is known
  };
  // Returns the job's tier: by the template quota.tier if the quota has one, else by the price file, else the
  // default tier. `scheme`: scheme of the quota, null without a quota.
  Found Of(const JobRecord& job, const GroupScheme* scheme) const;
  // Returns true if Of uses the job's labels, and not only the job's name.
  static bool ByLabels(const GroupScheme* scheme) { return scheme != nullptr && scheme->has_tier_template(); }

 private:
  const Options options_;
  std::vector<CapacityTier> tiers_;
};

}  // namespace taut::server
