#include "economy/price_sheet.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace taut {
namespace {

constexpr std::array<std::pair<ChargeRule, std::string_view>, 5> kRules = {{
    {ChargeRule::kReservation, "reservation"},
    {ChargeRule::kUsage, "usage"},
    {ChargeRule::kUsageSlackTax, "usage_slack_tax"},
    {ChargeRule::kMaxRequestUsage, "max_request_usage"},
    {ChargeRule::kPeak, "peak"},
}};

absl::Status CheckTier(const Tier& tier) {
  const auto bad = [&tier](std::string_view what) {
    return absl::InvalidArgumentError(StrCat("tier ", tier.name, ": ", what));
  };
  if (tier.prices.empty()) return bad("it has no prices");
  for (size_t i = 0; i < tier.prices.size(); ++i) {
    const PriceFrom& price = tier.prices[i];
    if (price.rates.core_hour.micros < 0 || price.rates.gib_hour.micros < 0)
      return bad("a price is negative");
    if (i > 0 && price.from_s <= tier.prices[i - 1].from_s) {
      return bad("its prices do not ascend by date: each holds until the next one's date");
    }
  }
  for (const int64_t promise : {tier.obtainability_ppm, tier.availability_ppm}) {
    if (promise < 0 || promise > kPartsPerMillion) return bad("a promise is outside 0 to 1");
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view Name(ChargeRule rule) {
  for (const auto& [value, name] : kRules) {
    if (value == rule) return name;
  }
  return "?";
}

absl::StatusOr<ChargeRule> ParseChargeRule(std::string_view name) {
  std::string all;
  for (const auto& [value, known] : kRules) {
    if (known == name) return value;
    StrAppend(&all, all.empty() ? "" : ", ", known);
  }
  return absl::InvalidArgumentError(StrCat("\"", name, "\" is not a charge rule; expected one of ", all));
}

absl::StatusOr<PriceSheet> PriceSheet::Make(std::string currency, std::vector<Tier> tiers) {
  if (tiers.empty()) return absl::InvalidArgumentError("there are no tiers");
  for (size_t i = 0; i < tiers.size(); ++i) {
    if (tiers[i].name.empty()) return absl::InvalidArgumentError(StrCat("tier ", i + 1, " has no name"));
    if (absl::Status s = CheckTier(tiers[i]); !s.ok()) return s;
    for (size_t j = 0; j < i; ++j) {
      if (tiers[j].name == tiers[i].name)
        return absl::InvalidArgumentError(StrCat("tier ", tiers[i].name, ": it is there twice"));
    }
  }
  PriceSheet out;
  out.currency_ = std::move(currency);
  out.tiers_ = std::move(tiers);
  return out;
}

absl::StatusOr<size_t> PriceSheet::FindTier(std::string_view name) const {
  std::string all;
  for (size_t i = 0; i < tiers_.size(); ++i) {
    if (tiers_[i].name == name) return i;
    StrAppend(&all, all.empty() ? "" : ", ", tiers_[i].name);
  }
  return absl::InvalidArgumentError(StrCat("\"", name, "\" is not a tier; expected one of ", all));
}

int PriceSheet::PriceAt(size_t tier, int64_t time_s) const {
  const std::vector<PriceFrom>& prices = tiers_[tier].prices;
  const auto after = std::ranges::upper_bound(prices, time_s, {}, &PriceFrom::from_s);
  return static_cast<int>(after - prices.begin()) - 1;
}

}  // namespace taut
