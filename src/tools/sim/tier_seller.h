// How much of a tier a pool sells: the sellers compared by a replay of the pool, for whole jobs and both
// resources at once.
//
// A step is a window of 5 minutes; amounts are millicore-seconds and mebibyte-seconds of it, as a bill counts
// them. `available` is capacity less what the higher tiers use, after the reclaim window (reclaim_window.h);
// NaN where not measured.
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

// By Resource.
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
  kActuary,      // what the actuary quotes
  kClairvoyant,  // knows what higher tiers will use and jobs will ask for
  kAll,          // everything that is asked for
};
struct SellerPolicyInfo {
  SellerPolicy policy;
  std::string_view name;  // "greedy"
  std::string_view what;  // one line for people
};
// In the order in which they are shown.
std::span<const SellerPolicyInfo> SellerPolicies();
std::string_view Name(SellerPolicy policy);
// InvalidArgument naming the choices.
absl::StatusOr<SellerPolicy> SellerPolicyNamed(std::string_view name);

// From a step on; a negative amount: the job has no usage.
struct AskChange {
  int32_t step = 0;
  PoolAmounts ask = {};
};
// What the clairvoyant knows.
struct PoolFuture {
  PerResource<std::vector<double>> available;  // by Resource and step
  std::vector<int32_t> period;                 // of each step, in which availability is accounted; ascending
  std::span<const std::vector<AskChange>> asks;  // by job: what it will ask for, ascending by step
};

struct TierSellerOptions {
  PoolAmounts capacity = {};
  int64_t availability_ppm = 980'000;  // what is promised, > 0; sellers of quantiles promise at least half
  int64_t horizon_steps = 288;         // that quotes of the actuary are for
  int64_t reclaim_steps = 0;
};

// A job that wants to run from now on.
struct SaleRequest {
  int64_t step = 0, last_step = 0;  // now, and its last: only the clairvoyant reads that
  uint32_t job = 0;
  PoolAmounts ask = {};
  PoolAmounts sold = {};    // to others of the tier, now
  PoolAmounts bought = {};  // by all higher tiers, now
};

class TierSeller {
 public:
  virtual ~TierSeller() = default;
  // The next step, of all without gaps from step 0 on. By Resource; NaN: not measured.
  virtual void Observe(const PerResource<double>& higher_use, const PerResource<double>& available) = 0;
  // Whether the job may be sold what it asks for at request.step, of which everything before is observed.
  virtual bool Grants(const SaleRequest& request) = 0;
  // That it was sold.
  virtual void Sold(const SaleRequest&) {}
  // Why not, or why: a sentence without its stop.
  virtual std::string Why(const SaleRequest& request) = 0;
};

// `future`, which must outlive the seller, is only read by the clairvoyant and may else be null. InvalidArgument
// for options out of bounds.
absl::StatusOr<std::unique_ptr<TierSeller>> NewTierSeller(SellerPolicy policy,
                                                          const TierSellerOptions& options,
                                                          const PoolFuture* future);

}  // namespace taut::tools
