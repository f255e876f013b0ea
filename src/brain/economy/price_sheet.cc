#include "brain/economy/price_sheet.h"

#include <algorithm>
#include <limits>

#include "brain/economy/metering.h"
#include "common/base/row_named.h"
#include "common/base/strings.h"
#include "common/model/units.h"

namespace taut::brain {
namespace {

constexpr ChargeRuleInfo kRules[] = {
    {ChargeRule::kReservation, "reservation", "what was reserved, used or not"},
    {ChargeRule::kUsage, "usage", "what was used"},
    {ChargeRule::kUsageSlackTax, "usage_slack_tax",
     "what was used, and a share of the pool's slack in proportion to the request"},
    {ChargeRule::kMaxRequestUsage, "max_request_usage", "the larger of request and usage in each window"},
    {ChargeRule::kPeak, "peak", "the highest usage of each window, for all of the window"},
};

// Highest rate at which the cost of 10,000 cores for a month fits into Money. A higher rate must be a mistake in
// the price file.
constexpr Money kMostRate{int64_t{1'000'000} * 1'000'000};

constexpr size_t kMostTiers = std::numeric_limits<uint16_t>::max();

absl::Status Wrong(std::string_view what) {
  return absl::InvalidArgumentError(StrCat("price sheet: ", what));
}

// Returns " from 2026-02-01 00:00", or " from the beginning" for a price that has always been valid.
std::string FromText(int64_t from_s) {
  return from_s == -kMaxBillSeconds ? " from the beginning" : StrCat(" from ", FormatTime(from_s));
}

absl::Status CheckPpm(const PriceTier& tier, std::string_view what, int64_t ppm) {
  if (ppm >= 0 && ppm <= kWholePpm) return absl::OkStatus();
  return Wrong(
      StrCat("the ", what, " of tier \"", tier.name, "\" is ", ppm, " ppm; allowed are 0 to ", kWholePpm));
}

absl::Status CheckPrices(const PriceTier& tier) {
  if (tier.prices.empty()) return Wrong(StrCat("tier \"", tier.name, "\" has no price"));
  for (size_t i = 0; i < tier.prices.size(); ++i) {
    const Price& price = tier.prices[i];
    for (const Resource r : kResources) {
      if (price.rate(r) < Money{})
        return Wrong(StrCat("tier \"", tier.name, "\" has the ", Name(r), " price ", ToText(price.rate(r)),
                            FromText(price.from_s), "; it must not be negative"));
      if (kMostRate < price.rate(r))
        return Wrong(StrCat("tier \"", tier.name, "\" has the ", Name(r), " price ", ToText(price.rate(r)),
                            FromText(price.from_s), "; allowed are 0 to ", ToText(kMostRate)));
    }
    if (i == 0) continue;
    const int64_t before = tier.prices[i - 1].from_s;
    if (price.from_s == before)
      return Wrong(StrCat("tier \"", tier.name, "\" has two prices", FromText(before)));
    if (price.from_s < before)
      return Wrong(StrCat("tier \"", tier.name, "\" has a price", FromText(price.from_s), " after one",
                          FromText(before), "; expected in order of time"));
  }
  return absl::OkStatus();
}

absl::Status CheckTier(const PriceTier& tier) {
  absl::Status status = CheckPpm(tier, "obtainability", tier.obtainability_ppm);
  if (status.ok()) status = CheckPpm(tier, "availability", tier.availability_ppm);
  if (status.ok()) status = CheckPpm(tier, "service credit", tier.service_credit_ppm);
  if (status.ok()) status = CheckPrices(tier);
  return status;
}

}  // namespace

std::span<const ChargeRuleInfo> ChargeRules() { return kRules; }

std::string_view Name(ChargeRule rule) {
  for (const ChargeRuleInfo& info : kRules) {
    if (info.rule == rule) return info.name;
  }
  return "unknown";
}

absl::StatusOr<ChargeRule> ChargeRuleNamed(std::string_view name) {
  const auto row = RowNamed("charge rule", kRules, name);
  if (!row.ok()) return row.status();
  return (*row)->rule;
}

std::string RateText(const Price& price, Resource r) {
  return StrCat(ToText(price.rate(r)), " per ", UnitOf(r).large_one, "-hour");
}

std::string RatesText(const Price& price) {
  std::string out;
  for (const Resource r : kResources) StrAppend(&out, out.empty() ? "" : ", ", RateText(price, r));
  return out;
}

std::optional<uint32_t> PriceTier::PriceAt(int64_t time_s) const {
  const auto after = std::upper_bound(prices.begin(), prices.end(), time_s,
                                      [](int64_t t, const Price& price) { return t < price.from_s; });
  if (after == prices.begin()) return std::nullopt;
  return static_cast<uint32_t>(after - prices.begin() - 1);
}

std::optional<uint16_t> PriceSheet::TierNamed(std::string_view name) const {
  for (size_t i = 0; i < tiers.size(); ++i) {
    if (tiers[i].name == name) return static_cast<uint16_t>(i);
  }
  return std::nullopt;
}

absl::Status PriceSheet::Check(std::span<const std::string_view> required) const {
  if (tiers.empty()) return Wrong("it has no tier");
  if (tiers.size() > kMostTiers)
    return Wrong(StrCat("it has ", tiers.size(), " tiers; allowed are ", kMostTiers));
  for (const std::string_view name : required) {
    if (!TierNamed(name).has_value()) return Wrong(StrCat("tier \"", name, "\" is missing"));
  }
  for (size_t i = 0; i < tiers.size(); ++i) {
    const PriceTier& tier = tiers[i];
    if (tier.name.empty()) return Wrong(StrCat("tier ", i + 1, " has no name"));
    if (*TierNamed(tier.name) != i) return Wrong(StrCat("two tiers have the name \"", tier.name, "\""));
    if (absl::Status status = CheckTier(tier); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Returns the default tiers. The published obtainability and availability are about 1 for production, 0.98 for
// batch and 0 for free. The values of monitoring and mid have no source.
PriceSheet DefaultTiers() {
  PriceSheet sheet;
  const auto add = [&sheet](std::string_view name, int64_t slo_ppm, ChargeRule rule) {
    PriceTier tier;
    tier.name = name;
    tier.obtainability_ppm = slo_ppm;
    tier.availability_ppm = slo_ppm;
    tier.rule = rule;
    sheet.tiers.push_back(std::move(tier));
  };
  add("monitoring", 999'900, ChargeRule::kReservation);
  add("production", 999'900, ChargeRule::kReservation);
  add("mid", 990'000, ChargeRule::kMaxRequestUsage);
  add("batch", 980'000, ChargeRule::kUsage);
  add("free", 0, ChargeRule::kUsage);
  return sheet;
}

}  // namespace taut::brain
