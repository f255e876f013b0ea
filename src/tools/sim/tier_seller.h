// Sellers that decide how much of a tier a pool sells. A sale covers all resources of one job. A replay of the
// pool compares sellers.
//
// A step is a window of 5 minutes. Amounts are millicore-seconds and mebibyte-seconds of one step, as in a bill.
// `available` is the capacity minus the usage of higher tiers, after the reclaim delay (reclaim_window.h); NaN if
// not measured.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/metering.h"
#include "common/model/resource.h"

namespace taut::tools {

// Amounts by Resource.
using PoolAmounts = PerResource<int64_t>;
inline void Plus(PoolAmounts& to, const PoolAmounts& more, int64_t sign = 1) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += sign * more[i];
}

enum class SellerPolicy : uint8_t {
  kNone,         // sells nothing
  kUnreserved,   // sells capacity that higher tiers have not bought
  kCloudrm,      // sells CloudrmQuota()
  kMean,         // sells MeanQuota()
  kGreedy,       // sells GreedyQuota()
  kActuary,      // sells the quote of the actuary
  kClairvoyant,  // knows future usage of higher tiers and future requests
  kAll,          // sells all that is requested
};
struct SellerPolicyInfo {
  SellerPolicy policy;
  std::string_view name;  // name such as "greedy"
  std::string_view what;  // description for users, one line
};
// Returns all policies in the order of the output.
std::span<const SellerPolicyInfo> SellerPolicies();
std::string_view Name(SellerPolicy policy);
// Returns the policy with this name; InvalidArgument, with the known names, for an unknown name.
absl::StatusOr<SellerPolicy> SellerPolicyNamed(std::string_view name);

// Amounts that a job requests from a step on; negative if the job has no usage.
struct AskChange {
  int32_t step = 0;
  PoolAmounts ask = {};
};
// Data about the future for the clairvoyant policy.
struct PoolFuture {
  PerResource<std::vector<double>> available;  // available amounts by resource and step
  // Number of the period by step, ascending; availability is accounted by period
  std::vector<int32_t> period;
  std::span<const std::vector<AskChange>> asks;  // requests of each job, ascending by step
};

struct TierSellerOptions {
  PoolAmounts capacity = {};
  // Promised availability, > 0. The actuary promises at least one half.
  int64_t availability_ppm = 980'000;
  int64_t horizon_steps = 288;  // horizon of the actuary's quotes
  int64_t reclaim_steps = 0;
};

// A request of a job to run from now on.
struct SaleRequest {
  // The current step, and the job's last step, which only the clairvoyant policy may use.
  int64_t step = 0, last_step = 0;
  uint32_t job = 0;
  PoolAmounts ask = {};
  PoolAmounts sold = {};    // amounts now sold to other jobs of the tier
  PoolAmounts bought = {};  // amounts now bought by all higher tiers
};

class TierSeller {
 public:
  virtual ~TierSeller() = default;
  // Adds the next step, with amounts by resource; NaN if not measured. REQUIRES: called once per step, from step 0
  // on.
  virtual void Observe(const PerResource<double>& higher_use, const PerResource<double>& available) = 0;
  // Returns true if the seller sells the request at request.step. REQUIRES: all earlier steps were observed.
  virtual bool Grants(const SaleRequest& request) = 0;
  // Informs the seller that a granted request was sold.
  virtual void Sold(const SaleRequest&) {}
  // Returns the reason for the result of Grants(), as a sentence without a full stop.
  virtual std::string Why(const SaleRequest& request) = 0;
};

// Creates a seller. Only the clairvoyant policy uses `future`, which must outlive the seller; null is allowed for
// other policies. Returns InvalidArgument if an option is out of bounds.
absl::StatusOr<std::unique_ptr<TierSeller>> NewTierSeller(SellerPolicy policy,
                                                          const TierSellerOptions& options,
                                                          const PoolFuture* future);

}  // namespace taut::tools
