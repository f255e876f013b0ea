// Tiers of a cell's pool by priority, and the tier of each job.
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
    // price file, which must outlive this object; null: the default tiers
    const brain::Pricing* pricing = nullptr;
    std::string default_tier =
        "production";  // tier of jobs for which neither quota nor price file has a tier
  };
  explicit JobTiers(const Options& options);

  // Returns the tiers by descending priority; never empty.
  std::span<const CapacityTier> tiers() const { return tiers_; }
  // Returns the index in tiers() of the tier with this name; nullopt if there is none.
  std::optional<size_t> TierNamed(std::string_view name) const;
  struct Found {
    size_t tier = 0;      // index of the tier; 0 if its name is unknown
    std::string unknown;  // unknown name; "" if the tier is known
  };
  // Returns the tier of a job: by the template quota.tier if the quota has one, else by the price file, else the
  // default tier. `scheme` belongs to the quota; null: no quota.
  Found Of(const JobRecord& job, const GroupScheme* scheme) const;
  // Returns true if Of() depends on the job's labels, and not only on the job's name.
  static bool ByLabels(const GroupScheme* scheme) { return scheme != nullptr && scheme->has_tier_template(); }

 private:
  const Options options_;
  std::vector<CapacityTier> tiers_;
};

}  // namespace taut::server
