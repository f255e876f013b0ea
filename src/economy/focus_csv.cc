#include "economy/focus_csv.h"

#include <algorithm>
#include <utility>

#include "base/csv_field.h"
#include "base/strings.h"
#include "base/utc_text.h"
#include "fmt/format.h"

namespace taut {
namespace {

constexpr std::string_view kHeader =
    "BilledCost,BillingAccountId,BillingAccountName,BillingCurrency,BillingPeriodEnd,BillingPeriodStart,"
    "ChargeCategory,ChargeClass,ChargeDescription,ChargeFrequency,ChargePeriodEnd,ChargePeriodStart,"
    "ConsumedQuantity,ConsumedUnit,ContractedCost,ContractedUnitPrice,EffectiveCost,InvoiceIssuerName,"
    "ListCost,ListUnitPrice,PricingCategory,PricingQuantity,PricingUnit,ProviderName,PublisherName,"
    "ResourceId,ResourceName,ResourceType,ServiceCategory,ServiceName,SkuId,SkuPriceId,SubAccountId,"
    "SubAccountName,x_Tier,x_ChargeRule\n";
constexpr std::string_view kIssuer = "Tautline";

// Core-hours or GiB-hours.
std::string FocusHours(const BillLine& line) {
  const auto per_rate = static_cast<double>(QuantityPerRate(line.key.resource));
  return fmt::format("{:.6f}", static_cast<double>(line.quantity) / per_rate);
}

}  // namespace

// Names of jobs, groups and tiers are fields already.
struct FocusCsv::Row {
  std::string job, group;
  std::string cost, category, description, frequency, quantity, unit, unit_price, sku, tier;
  std::string_view rule;
  int64_t start_s, end_s;  // of the charge
};

FocusCsv::FocusCsv(const PriceSheet& sheet, const FocusPeriods& periods)
    : sheet_(sheet),
      periods_(periods),
      currency_(CsvField(sheet.currency)),
      billing_start_(UtcText(periods.billing_start_s)),
      billing_end_(UtcText(periods.billing_end_s)) {}

std::string_view FocusCsv::Header() { return kHeader; }

std::string FocusCsv::TextOf(const Row& row) const {
  return fmt::format(
      "{cost},pool,pool,{currency},{billing_end},{billing_start},{category},,{description},{frequency},"
      "{charge_end},{charge_start},{quantity},{unit},"
      "{cost},{price},{cost},{issuer},{cost},{price},{pricing},{quantity},{unit},{issuer},{issuer},"
      "{job},{job},Workload,Compute,Tautline pool,{sku},{sku},{group},{group},{tier},{rule}\n",
      fmt::arg("cost", row.cost), fmt::arg("currency", currency_), fmt::arg("billing_end", billing_end_),
      fmt::arg("billing_start", billing_start_), fmt::arg("charge_end", UtcText(row.end_s)),
      fmt::arg("charge_start", UtcText(row.start_s)), fmt::arg("category", row.category),
      fmt::arg("description", CsvField(row.description)), fmt::arg("frequency", row.frequency),
      fmt::arg("quantity", row.quantity), fmt::arg("unit", row.unit), fmt::arg("price", row.unit_price),
      fmt::arg("issuer", kIssuer), fmt::arg("pricing", row.unit_price.empty() ? "Other" : "Standard"),
      fmt::arg("job", row.job), fmt::arg("sku", row.sku), fmt::arg("group", row.group),
      fmt::arg("tier", row.tier), fmt::arg("rule", row.rule));
}

std::string FocusCsv::RowsOf(const JobBill& bill, std::string_view job, std::string_view group) const {
  std::string out;
  Row of_job;
  of_job.job = CsvField(job);
  of_job.group = CsvField(group);
  of_job.start_s = periods_.charge_start_s;
  of_job.end_s = periods_.charge_end_s;
  for (const BillLine& line : bill.lines) {
    const PriceTier& tier = sheet_.tiers[line.key.tier];
    Row row = of_job;
    row.cost = ToText(line.amount);
    row.category = "Usage";
    row.frequency = "Usage-Based";
    row.description = StrCat(Name(line.key.resource), " of tier ", tier.name, " by ", Name(tier.rule), ", ",
                             Name(line.key.kind));
    row.quantity = FocusHours(line);
    row.unit = InCores(line.key.resource) ? "Core-Hours" : "GiB-Hours";
    row.unit_price = ToText(line.rate);
    row.sku = CsvField(StrCat(tier.name, "-", Name(line.key.resource), "-", line.key.price + 1));
    row.tier = CsvField(tier.name);
    row.rule = Name(tier.rule);
    row.start_s = std::max(row.start_s, tier.prices[line.key.price].from_s);
    if (line.key.price + 1 < tier.prices.size())
      row.end_s = std::min(row.end_s, tier.prices[line.key.price + 1].from_s);
    out += TextOf(row);
    if (line.credit.micros == 0) continue;
    row.cost = ToText({-line.credit.micros});
    row.category = "Credit";
    row.description = StrCat("the SLO of tier ", tier.name, " was missed");
    row.quantity = row.unit = row.unit_price = "";
    out += TextOf(row);
  }
  for (const auto& [cost, what] : {std::pair{bill.sums.idle, "share of the pool's idle cost"},
                                   std::pair{bill.sums.overhead, "share of the pool's overhead"}}) {
    if (cost.micros == 0) continue;
    Row row = of_job;
    row.cost = ToText(cost);
    row.category = "Adjustment";
    row.frequency = "Recurring";
    row.description = what;
    out += TextOf(row);
  }
  return out;
}

}  // namespace taut
