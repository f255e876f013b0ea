// What the tiers of a pool promise and cost, and since when.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/money.h"
#include "common/model/resource.h"

namespace taut::brain {

// Which quantity of a job is charged. The first is what Autopilot §2.3 reports of Google.
enum class ChargeRule : uint8_t {
  kReservation,      // what was bought, used or not
  kUsage,            // what was used
  kUsageSlackTax,    // what was used, and a share of the pool's slack in proportion to the request
  kMaxRequestUsage,  // the larger of request and usage, window by window (the OpenCost specification)
  kPeak,             // the highest usage of each window, for all of the window
};
struct ChargeRuleInfo {
  ChargeRule rule;
  std::string_view name;  // "max_request_usage"
  std::string_view what;  // one line for people
};
std::span<const ChargeRuleInfo> ChargeRules();
std::string_view Name(ChargeRule rule);
// InvalidArgument naming the choices.
absl::StatusOr<ChargeRule> ChargeRuleNamed(std::string_view name);

// Quantities are counted in millicore-seconds and mebibyte-seconds (1 PiB of memory for a month is 2.9e15 of
// 1.8e19 that fit), priced by the core-hour and the gibibyte-hour.
inline constexpr uint64_t kMillicoreSecondsPerCoreHour = 1000 * 3600;
inline constexpr uint64_t kMebibyteSecondsPerGibibyteHour = 1024 * 3600;
constexpr uint64_t QuantityPerRate(Resource r) {
  return InCores(r) ? kMillicoreSecondsPerCoreHour : kMebibyteSecondsPerGibibyteHour;
}

// Valid in [from_s, the next price's from_s); the last has no end.
struct Price {
  int64_t from_s = 0;  // of the Unix epoch
  Money per_core_hour, per_gib_hour;
  Money rate(Resource r) const { return r == Resource::kCpu ? per_core_hour : per_gib_hour; }
  bool operator==(const Price&) const = default;
};

struct PriceTier {
  std::string name;
  // The SLO, in parts per million (papers: budget and quota): the chance that quota is granted when wanted,
  // and that a running task is not reclaimed.
  int64_t obtainability_ppm = 0, availability_ppm = 0;
  ChargeRule rule = ChargeRule::kReservation;
  // The share of the charge of a window that is credited if the SLO was missed in it.
  int64_t service_credit_ppm = 0;
  std::vector<Price> prices;  // ascending by from_s

  // The index of the price at that time; none before the first. O(log n).
  std::optional<uint32_t> PriceAt(int64_t time_s) const;
};

// The default tiers' names, by descending priority.
inline constexpr std::string_view kDefaultTierNames[] = {"monitoring", "production", "mid", "batch", "free"};

struct PriceSheet {
  std::string currency = "USD";  // or the name of an internal unit; for people
  std::vector<PriceTier> tiers;  // by descending priority; other names than the default ones may be used

  std::optional<uint16_t> TierNamed(std::string_view name) const;
  // InvalidArgument naming the first thing that is wrong: a tier of `required` that is missing, no tier, a
  // tier without a name or with that of another, an SLO or a service credit outside 0 to 1'000'000 ppm, no
  // price, prices out of order or from the same second, a negative price. A sheet that passes can be billed.
  absl::Status Check(std::span<const std::string_view> required = {}) const;
};

// The default tiers with their SLOs and rules, without prices.
PriceSheet DefaultTiers();

}  // namespace taut::brain
