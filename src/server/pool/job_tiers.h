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
  double promise = 0;  // promised share of the time in which sold capacity is available
};

class JobTiers {
 public:
  struct Options {
    const brain::Pricing* pricing = nullptr;  // of the price file, outlives this; null: the default tiers
    std::string default_tier = "production";  // of jobs for which neither quota nor price file names a tier
  };
  explicit JobTiers(const Options& options);

  // Returns the tiers by descending priority; never empty.
  std::span<const CapacityTier> tiers() const { return tiers_; }
  // Returns the index in tiers(); nullopt if there is no such tier.
  std::optional<size_t> TierNamed(std::string_view name) const;
  struct Found {
    size_t tier = 0;      // the first tier if the name is unknown
    std::string unknown;  // the unknown name; "" if the tier is known
  };
  // Returns the job's tier: by the template quota.tier if there is one, else by the price file, else the
  // default tier. `scheme`: of the quota, null if there is none.
  Found Of(const JobRecord& job, const GroupScheme* scheme) const;
  // Returns true if Of needs the job's labels beside its name.
  static bool ByLabels(const GroupScheme* scheme) { return scheme != nullptr && scheme->has_tier_template(); }

 private:
  const Options options_;
  std::vector<CapacityTier> tiers_;
};

}  // namespace taut::server
