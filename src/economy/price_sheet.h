// What a pool charges: tiers, each with what it promises, what is counted, and prices that hold from a date on.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "economy/money.h"

namespace taut {

// What of a job is charged (papers: Autopilot §2.3 by reservation; OpenCost max(request, usage)). More use never
// costs a job less, except where the slack tax has several prices: use at a low one leaves less slack to be taxed
// at a high one.
enum class ChargeRule : uint8_t {
  kReservation,    // what was reserved for it: the limits of its tasks
  kUsage,          // what it used
  kUsageSlackTax,  // what it used, and a share of what the pool had and no job used, in proportion to limits
  kMaxRequestUsage,  // the larger of the request and the usage of each entry
  kPeak              // its largest usage in the period, for as long as it was there
};
std::string_view Name(ChargeRule rule);
absl::StatusOr<ChargeRule> ParseChargeRule(std::string_view name);

struct Rates {
  Money core_hour, gib_hour;
  bool operator==(const Rates&) const = default;
};
// Holds from `from_s` (seconds since 1970) until the next one's.
struct PriceFrom {
  int64_t from_s = 0;
  Rates rates;
};

inline constexpr int64_t kPartsPerMillion = 1'000'000;

struct Tier {
  std::string name;
  ChargeRule rule = ChargeRule::kReservation;
  // Promises, in parts per million: that quota is granted when it is wanted, and that a running task is not
  // reclaimed.
  int64_t obtainability_ppm = kPartsPerMillion, availability_ppm = kPartsPerMillion;
  std::vector<PriceFrom> prices;  // ascending by from_s
};

// Immutable.
class PriceSheet {
 public:
  // InvalidArgument names the tier and what is wrong with it: a name that is empty or there twice, no price,
  // prices that do not ascend, a negative price, a promise outside 0 to 1.
  static absl::StatusOr<PriceSheet> Make(std::string currency, std::vector<Tier> tiers);

  const std::string& currency() const { return currency_; }
  std::span<const Tier> tiers() const { return tiers_; }
  // InvalidArgument with the names that there are.
  absl::StatusOr<size_t> FindTier(std::string_view name) const;
  // Which of the tier's prices holds at this time; -1: before the first.
  int PriceAt(size_t tier, int64_t time_s) const;

 private:
  std::string currency_;
  std::vector<Tier> tiers_;
};

}  // namespace taut
