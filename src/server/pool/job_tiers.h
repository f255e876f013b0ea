// The tiers of a cell's pool, by priority, and which of them a job is of.
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
  double promise = 0;  // share of the time that what is sold is available, of the SLO
};

class JobTiers {
 public:
  struct Options {
    const brain::Pricing* pricing = nullptr;  // of the price file, outlives this; null: the default tiers
    std::string default_tier = "production";  // of jobs for which neither quota nor price file says one
  };
  explicit JobTiers(const Options& options);

  // By descending priority; never empty.
  std::span<const CapacityTier> tiers() const { return tiers_; }
  std::optional<size_t> TierNamed(std::string_view name) const;
  struct Found {
    size_t tier = 0;      // the first where the name is none of tiers()
    std::string unknown;  // that name
  };
  // By the template quota.tier if there is one, else by the price file, else the default tier. `scheme`: of the
  // quota, null for none.
  Found Of(const JobRecord& job, const GroupScheme* scheme) const;
  // Whether Of needs more of a job than its name.
  static bool ByLabels(const GroupScheme* scheme) { return scheme != nullptr && scheme->has_tier_template(); }

 private:
  const Options options_;
  std::vector<CapacityTier> tiers_;
};

}  // namespace taut::server
