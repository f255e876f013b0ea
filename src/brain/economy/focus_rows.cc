#include "brain/economy/focus_rows.h"

#include <algorithm>
#include <utility>

#include "common/base/strings.h"

namespace taut::brain {
namespace {

template <const std::string_view& text>
FocusCell Constant(const FocusRow&) {
  return {.text = text, .number = {}};
}
template <auto member>
FocusCell TextOf(const FocusRow& row) {
  return {.text = row.*member, .number = {}};
}
template <auto member>
FocusCell TimeOf(const FocusRow& row) {
  return {.text = {}, .number = row.periods.*member};
}
FocusCell CostOf(const FocusRow& row) { return {.text = {}, .number = row.cost.micros}; }
FocusCell PriceOf(const FocusRow& row) {
  if (!row.unit_price.has_value()) return {};
  return {.text = {}, .number = row.unit_price->micros};
}
FocusCell QuantityOf(const FocusRow& row) { return {.text = {}, .number = row.quantity_millionths}; }
FocusCell PricingCategoryOf(const FocusRow& row) {
  return {.text = row.unit_price.has_value() ? "Standard" : "Other", .number = {}};
}
FocusCell Empty(const FocusRow&) { return {}; }

constexpr std::string_view kPool = "pool", kIssuer = "Tautline", kWorkload = "Workload", kCompute = "Compute",
                           kService = "Tautline pool";
constexpr FocusKind kText = FocusKind::kText, kMoney = FocusKind::kMoney, kQuantity = FocusKind::kQuantity,
                    kTime = FocusKind::kTime;

constexpr FocusColumn kColumns[] = {
    {"BilledCost", kMoney, false, CostOf},
    {"BillingAccountId", kText, false, Constant<kPool>},
    {"BillingAccountName", kText, false, Constant<kPool>},
    {"BillingCurrency", kText, true, TextOf<&FocusRow::currency>},
    {"BillingPeriodEnd", kTime, false, TimeOf<&FocusPeriods::billing_end_s>},
    {"BillingPeriodStart", kTime, false, TimeOf<&FocusPeriods::billing_start_s>},
    {"ChargeCategory", kText, false, TextOf<&FocusRow::category>},
    {"ChargeClass", kText, true, Empty},
    {"ChargeDescription", kText, false, TextOf<&FocusRow::description>},
    {"ChargeFrequency", kText, false, TextOf<&FocusRow::frequency>},
    {"ChargePeriodEnd", kTime, false, TimeOf<&FocusPeriods::charge_end_s>},
    {"ChargePeriodStart", kTime, false, TimeOf<&FocusPeriods::charge_start_s>},
    {"ConsumedQuantity", kQuantity, true, QuantityOf},
    {"ConsumedUnit", kText, true, TextOf<&FocusRow::unit>},
    {"ContractedCost", kMoney, false, CostOf},
    {"ContractedUnitPrice", kMoney, true, PriceOf},
    {"EffectiveCost", kMoney, false, CostOf},
    {"InvoiceIssuerName", kText, false, Constant<kIssuer>},
    {"ListCost", kMoney, false, CostOf},
    {"ListUnitPrice", kMoney, true, PriceOf},
    {"PricingCategory", kText, false, PricingCategoryOf},
    {"PricingQuantity", kQuantity, true, QuantityOf},
    {"PricingUnit", kText, true, TextOf<&FocusRow::unit>},
    {"ProviderName", kText, false, Constant<kIssuer>},
    {"PublisherName", kText, false, Constant<kIssuer>},
    {"ResourceId", kText, true, TextOf<&FocusRow::job>},
    {"ResourceName", kText, true, TextOf<&FocusRow::job>},
    {"ResourceType", kText, false, Constant<kWorkload>},
    {"ServiceCategory", kText, false, Constant<kCompute>},
    {"ServiceName", kText, false, Constant<kService>},
    {"SkuId", kText, true, TextOf<&FocusRow::sku>},
    {"SkuPriceId", kText, true, TextOf<&FocusRow::sku>},
    {"SubAccountId", kText, true, TextOf<&FocusRow::group>},
    {"SubAccountName", kText, true, TextOf<&FocusRow::group>},
    {"x_Tier", kText, true, TextOf<&FocusRow::tier>},
    {"x_ChargeRule", kText, true, TextOf<&FocusRow::rule>},
};

// Returns core-hours or GiB-hours in millionths, rounded to the nearest, halves up. The result is at most 2^64 /
// 3.6 and fits.
int64_t HoursInMillionths(const BillLine& line) {
  const uint64_t per_rate = QuantityPerRate(line.key.resource);
  __extension__ using Wide = unsigned __int128;
  return static_cast<int64_t>((Wide{line.quantity} * 1'000'000 + per_rate / 2) / per_rate);
}

}  // namespace

std::span<const FocusColumn> FocusColumns() { return kColumns; }

void FocusRows::Visit(const JobBill& bill, std::string_view job, std::string_view group,
                      absl::FunctionRef<void(const FocusRow&)> visit) const {
  FocusRow of_job;
  of_job.periods = periods_;
  of_job.job = job;
  of_job.group = group;
  of_job.currency = sheet_.currency;
  for (const BillLine& line : bill.lines) {
    const PriceTier& tier = sheet_.tiers[line.key.tier];
    FocusRow row = of_job;
    row.cost = line.amount;
    row.category = "Usage";
    row.frequency = "Usage-Based";
    row.description = StrCat(Name(line.key.resource), " of tier ", tier.name, " by ", Name(tier.rule), ", ",
                             Name(line.key.kind));
    row.quantity_millionths = HoursInMillionths(line);
    row.unit = InCores(line.key.resource) ? "Core-Hours" : "GiB-Hours";
    row.unit_price = line.rate;
    row.sku = StrCat(tier.name, "-", Name(line.key.resource), "-", line.key.price + 1);
    row.tier = tier.name;
    row.rule = Name(tier.rule);
    int64_t& start_s = row.periods.charge_start_s;
    start_s = std::max(start_s, tier.prices[line.key.price].from_s);
    if (line.key.price + 1 < tier.prices.size())
      row.periods.charge_end_s = std::min(row.periods.charge_end_s, tier.prices[line.key.price + 1].from_s);
    visit(row);
    if (line.credit.micros == 0) continue;
    row.cost = {-line.credit.micros};
    row.category = "Credit";
    row.description = StrCat("the SLO of tier ", tier.name, " was missed");
    row.unit = "";
    row.quantity_millionths.reset();
    row.unit_price.reset();
    visit(row);
  }
  for (const auto& [cost, what] : {std::pair{bill.sums.idle, "share of the pool's idle cost"},
                                   std::pair{bill.sums.overhead, "share of the pool's overhead"}}) {
    if (cost.micros == 0) continue;
    FocusRow row = of_job;
    row.cost = cost;
    row.category = "Adjustment";
    row.frequency = "Recurring";
    row.description = what;
    visit(row);
  }
}

}  // namespace taut::brain
