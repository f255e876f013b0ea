#include "brain/economy/price_change.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "brain/economy/metering.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

constexpr int64_t kEver = -kMaxBillSeconds;

const Price* PriceIn(const PriceTier& tier, int64_t time_s) {
  const std::optional<uint32_t> at = tier.PriceAt(time_s);
  return at.has_value() ? &tier.prices[*at] : nullptr;
}

std::string RateOrNone(const Price* price, Resource r) {
  return price == nullptr ? "no price" : RateText(*price, r);
}

// Returns the price at a time as text, such as "0.04 per core-hour, 0.005 per GiB-hour".
std::string RatesAt(const PriceTier& tier, int64_t time_s) {
  const Price* price = PriceIn(tier, time_s);
  if (price == nullptr) return "without a price";
  return RatesText(*price);
}

// Returns the changed rates as text, such as "0.04 per core-hour, was 0.031 per core-hour"; "" if the prices are
// equal.
std::string RateChange(const Price* before, const Price* after) {
  std::string out;
  for (const Resource r : kResources) {
    const std::string was = RateOrNone(before, r), is = RateOrNone(after, r);
    if (was == is || (before == nullptr && after == nullptr)) continue;
    StrAppend(&out, out.empty() ? "" : "; ", is, ", was ", was);
    if (before == nullptr || after == nullptr) break;  // a missing price lacks both resources
  }
  return out;
}

void AddRateChanges(const PriceTier& before, const PriceTier& after, int64_t now_s,
                    std::vector<PriceChange>& out) {
  std::set<int64_t> starts;
  for (const PriceTier* tier : {&before, &after}) {
    for (const Price& price : tier->prices) {
      if (price.from_s < now_s) starts.insert(price.from_s);
    }
  }
  for (auto start = starts.begin(); start != starts.end(); ++start) {
    const std::string change = RateChange(PriceIn(before, *start), PriceIn(after, *start));
    if (change.empty()) continue;
    const int64_t end_s = std::next(start) == starts.end() ? now_s : *std::next(start);
    const std::string what = StrCat("tier ", after.name, ": ", change);
    if (!out.empty() && out.back().to_s == *start && out.back().what == what) {
      out.back().to_s = end_s;
    } else {
      out.push_back({*start, end_s, what});
    }
  }
}

void AddTier(const PriceTier& before, const PriceTier& after, int64_t now_s, std::vector<PriceChange>& out) {
  const auto whole = [&](std::string_view what) {
    out.push_back({kEver, now_s, StrCat("tier ", after.name, ": ", what)});
  };
  if (before.rule != after.rule)
    whole(StrCat("charged by ", Name(after.rule), ", was by ", Name(before.rule)));
  if (before.service_credit_ppm != after.service_credit_ppm) whole("another service credit");
  AddRateChanges(before, after, now_s, out);
}

// Returns the rules as (pattern, bounds, name of the tier), which are the fields that determine a job's tier.
auto RulesOf(const Pricing& pricing) {
  std::vector<std::tuple<std::string, std::optional<int>, std::optional<int>, std::string>> out;
  for (const TierRule& rule : pricing.tier_rules)
    out.emplace_back(rule.match, rule.least_priority, rule.most_priority,
                     pricing.sheet.tiers[rule.tier].name);
  // Jobs without a matching rule belong to the first tier.
  if (!pricing.sheet.tiers.empty())
    out.emplace_back("*", std::nullopt, std::nullopt, pricing.sheet.tiers[0].name);
  return out;
}

bool SamePool(const std::optional<PoolPrices>& a, const std::optional<PoolPrices>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a.has_value() || (a->cores == b->cores && a->memory_bytes == b->memory_bytes &&
                            a->cost == b->cost && a->idle == b->idle);
}

}  // namespace

std::vector<PriceChange> ChangesBefore(const Pricing& before, const Pricing& after, int64_t now_s) {
  std::vector<PriceChange> out;
  const auto whole = [&](std::string what) { out.push_back({kEver, now_s, std::move(what)}); };
  if (before.sheet.currency != after.sheet.currency)
    whole(StrCat("in ", after.sheet.currency, ", was in ", before.sheet.currency));
  for (const PriceTier& tier : after.sheet.tiers) {
    if (const std::optional<uint16_t> was = before.sheet.TierNamed(tier.name); was.has_value())
      AddTier(before.sheet.tiers[*was], tier, now_s, out);
  }
  // A renamed tier may also have other prices.
  bool any_gone = false;
  for (const PriceTier& tier : before.sheet.tiers) {
    if (after.sheet.TierNamed(tier.name).has_value()) continue;
    any_gone = true;
    whole(StrCat("tier ", tier.name, ": no longer there, ", RatesAt(tier, now_s)));
  }
  for (const PriceTier& tier : after.sheet.tiers) {
    if (any_gone && !before.sheet.TierNamed(tier.name).has_value())
      whole(StrCat("tier ", tier.name, ": new, ", RatesAt(tier, now_s)));
  }
  if (RulesOf(before) != RulesOf(after)) whole("jobs find their tier by other rules");
  if (before.group_rules != after.group_rules) whole("jobs find their group by other rules");
  if (!SamePool(before.pool, after.pool)) whole("the pool has another capacity or cost");
  return out;
}

}  // namespace taut::brain
