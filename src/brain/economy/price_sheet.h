// Promises and prices of a pool's tiers, with the times from which prices are valid.
#pragma once

#include <algorithm>
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

// The quantity of a job that is charged. Autopilot §2.3 reports kReservation for Google.
enum class ChargeRule : uint8_t {
  kReservation,      // the reservation that was bought, used or not
  kUsage,            // the usage
  kUsageSlackTax,    // the usage, and a share of the pool's slack in proportion to the request
  kMaxRequestUsage,  // the larger of request and usage, per entry (OpenCost specification)
  kPeak,             // the highest usage in each entry, for the entry's whole time
};
struct ChargeRuleInfo {
  ChargeRule rule;
  std::string_view name;  // name, such as "max_request_usage"
  std::string_view what;  // human-readable description of one line
};
// Returns all rules.
std::span<const ChargeRuleInfo> ChargeRules();
std::string_view Name(ChargeRule rule);
// Returns InvalidArgument with the choices for an unknown name.
absl::StatusOr<ChargeRule> ChargeRuleNamed(std::string_view name);

// Units of quantities are millicore-seconds and mebibyte-seconds. 1 PiB of memory for a month is 2.9e15, and 64
// bits hold 1.8e19. Prices are per core-hour and per gibibyte-hour.
inline constexpr uint64_t kMillicoreSecondsPerCoreHour = 1000 * 3600;
inline constexpr uint64_t kMebibyteSecondsPerGibibyteHour = 1024 * 3600;
// Returns the quantity that costs one rate of the resource.
constexpr uint64_t QuantityPerRate(Resource r) {
  return InCores(r) ? kMillicoreSecondsPerCoreHour : kMebibyteSecondsPerGibibyteHour;
}

// A price that is valid in [from_s, from_s of the next price); the last price has no end.
struct Price {
  int64_t from_s = 0;             // seconds since the epoch
  PerResource<Money> per_hour{};  // price of a core-hour, or of a GiB-hour
  Money rate(Resource r) const { return per_hour[IndexOf(r)]; }
  bool has_negative() const {
    return std::ranges::any_of(per_hour, [](Money money) { return money < Money{}; });
  }
  bool operator==(const Price&) const = default;
};

// Returns the rate of one resource as text, such as "0.04 per core-hour".
std::string RateText(const Price& price, Resource r);
// Returns the rates of all resources: "0.04 per core-hour, 0.005 per GiB-hour".
std::string RatesText(const Price& price);

// A tier with its SLO, charge rule and prices.
struct PriceTier {
  std::string name;
  // The SLO in parts per million. Obtainability is the probability that requested quota is granted, availability
  // the probability that a running task is not reclaimed.
  int64_t obtainability_ppm = 0, availability_ppm = 0;
  ChargeRule rule = ChargeRule::kReservation;
  // Share of a window's charge that is credited if the job misses its SLO in the window.
  int64_t service_credit_ppm = 0;
  std::vector<Price> prices;  // prices, ascending by from_s

  // Returns the index of the price in force at the time; nullopt before the first price. O(log n).
  std::optional<uint32_t> PriceAt(int64_t time_s) const;
};

// Names of the default tiers, by descending priority.
inline constexpr std::string_view kDefaultTierNames[] = {"monitoring", "production", "mid", "batch", "free"};

// All tiers of a pool, in one currency.
struct PriceSheet {
  std::string currency = "USD";  // currency for display; may be an internal unit
  std::vector<PriceTier> tiers;  // tiers by descending priority; names may differ from the default names

  std::optional<uint16_t> TierNamed(std::string_view name) const;
  // Checks whether the sheet can be used for bills. Returns InvalidArgument with the first error:
  // - no tier, a missing tier of `required`, an empty or repeated tier name,
  // - an SLO or service credit outside [0, 1'000'000] ppm,
  // - no price, a negative price, prices out of order or two prices at one second.
  absl::Status Check(std::span<const std::string_view> required = {}) const;
};

// Returns the default tiers with their SLOs and rules, without prices.
PriceSheet DefaultTiers();

}  // namespace taut::brain
