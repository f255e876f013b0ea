// Sellers that decide how much of a tier a pool sells. A sale is to a whole job and covers all resources. A
// replay of the pool compares the sellers.
//
// A step is a window of 5 minutes. Amounts are millicore-seconds and mebibyte-seconds of one step, as in a
// bill. `available` is the capacity minus the use by higher tiers, after the reclaim window
// (reclaim_window.h); NaN if not measured.
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
  kNone,         // nothing
  kUnreserved,   // the capacity that higher tiers have not bought
  kCloudrm,      // CloudrmQuota
  kMean,         // MeanQuota
  kGreedy,       // GreedyQuota
  kActuary,      // the amount that the actuary quotes
  kClairvoyant,  // knows the future use by higher tiers and the future requests of jobs
  kAll,          // everything that is requested
};
struct SellerPolicyInfo {
  SellerPolicy policy;
  std::string_view name;  // "greedy"
  std::string_view what;  // description in one line for users
};
// Returns all policies in the order in which they are shown.
std::span<const SellerPolicyInfo> SellerPolicies();
std::string_view Name(SellerPolicy policy);
// Returns the policy of this name; InvalidArgument with the list of names if there is none.
absl::StatusOr<SellerPolicy> SellerPolicyNamed(std::string_view name);

// Amounts that a job requests from a step on; negative: the job has no usage.
struct AskChange {
  int32_t step = 0;
  PoolAmounts ask = {};
};
// The future that the clairvoyant knows.
struct PoolFuture {
  PerResource<std::vector<double>> available;  // available amounts by Resource and step
  std::vector<int32_t> period;  // number of each step's period, in which availability is accounted; ascending
  std::span<const std::vector<AskChange>> asks;  // future requests of each job, ascending by step
};

struct TierSellerOptions {
  PoolAmounts capacity = {};
  int64_t availability_ppm = 980'000;  // promised, > 0; sellers of quantiles promise at least half
  int64_t horizon_steps = 288;         // horizon of the actuary's quotes
  int64_t reclaim_steps = 0;
};

// A job's request to run from now on.
struct SaleRequest {
  // The current step, and the job's last step, which only the clairvoyant reads.
  int64_t step = 0, last_step = 0;
  uint32_t job = 0;
  PoolAmounts ask = {};
  PoolAmounts sold = {};    // amounts currently sold to other jobs of the tier
  PoolAmounts bought = {};  // amounts currently bought by all higher tiers
};

class TierSeller {
 public:
  virtual ~TierSeller() = default;
  // Adds the next step. REQUIRES: called for every step from 0 on. Amounts are by Resource; NaN: not measured.
  virtual void Observe(const PerResource<double>& higher_use, const PerResource<double>& available) = 0;
  // Returns true if the job may be sold its request at request.step. REQUIRES: all steps before request.step
  // are observed.
  virtual bool Grants(const SaleRequest& request) = 0;
  // Reports that a request was sold.
  virtual void Sold(const SaleRequest&) {}
  // Returns the reason for the answer of Grants(), as a sentence without a full stop.
  virtual std::string Why(const SaleRequest& request) = 0;
};

// Creates a seller. Only the clairvoyant reads `future`, which must outlive the clairvoyant; for other
// policies `future` may be null. Returns InvalidArgument for options out of bounds.
absl::StatusOr<std::unique_ptr<TierSeller>> NewTierSeller(SellerPolicy policy,
                                                          const TierSellerOptions& options,
                                                          const PoolFuture* future);

}  // namespace taut::tools
