#include "cli/focus_csv.h"

#include "absl/time/time.h"
#include "base/strings.h"
#include "cli/decisions.h"
#include "fmt/format.h"

namespace taut {
namespace {

constexpr std::string_view kHeader =
    "BilledCost,BillingAccountId,BillingAccountName,BillingCurrency,BillingPeriodEnd,BillingPeriodStart,"
    "ChargeCategory,ChargeClass,ChargeDescription,ChargeFrequency,ChargePeriodEnd,ChargePeriodStart,"
    "ConsumedQuantity,ConsumedUnit,ContractedCost,ContractedUnitPrice,EffectiveCost,InvoiceIssuerName,"
    "ListCost,"
    "ListUnitPrice,PricingCategory,PricingQuantity,PricingUnit,ProviderName,PublisherName,ResourceId,"
    "ResourceName,"
    "ResourceType,ServiceCategory,ServiceName,SkuId,SkuPriceId,SubAccountId,SubAccountName,x_Tier,x_"
    "ChargeRule\n";
constexpr std::string_view kIssuer = "Tautline";

std::string TimeText(int64_t s) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixSeconds(s), absl::UTCTimeZone());
}

// Core-hours or GiB-hours.
std::string HoursText(const BillLine& line) {
  const auto per_rate = static_cast<double>(QuantityPerRate(line.key.resource));
  return fmt::format("{:.6f}", static_cast<double>(line.quantity) / per_rate);
}

struct Row {
  std::string cost, category, description, frequency, quantity, unit, unit_price, job, group, sku, tier, rule;
};

std::string Text(const Row& row, const std::string& currency, const std::string& start,
                 const std::string& end) {
  const bool has_price = !row.unit_price.empty();
  const std::string group = CsvField(row.group), job = CsvField(row.job);
  return fmt::format(
      "{cost},pool,pool,{currency},{end},{start},{category},,{description},{frequency},{end},{start},{"
      "quantity},{unit},"
      "{cost},{price},{cost},{issuer},{cost},{price},{pricing},{quantity},{unit},{issuer},{issuer},{job},{"
      "job},"
      "Workload,Compute,Tautline pool,{sku},{sku},{group},{group},{tier},{rule}\n",
      fmt::arg("cost", row.cost), fmt::arg("currency", currency), fmt::arg("end", end),
      fmt::arg("start", start), fmt::arg("category", row.category),
      fmt::arg("description", CsvField(row.description)), fmt::arg("frequency", row.frequency),
      fmt::arg("quantity", row.quantity), fmt::arg("unit", row.unit), fmt::arg("price", row.unit_price),
      fmt::arg("issuer", kIssuer), fmt::arg("pricing", has_price ? "Standard" : "Other"),
      fmt::arg("job", job), fmt::arg("sku", CsvField(row.sku)), fmt::arg("group", group),
      fmt::arg("tier", CsvField(row.tier)), fmt::arg("rule", row.rule));
}

}  // namespace

void AppendFocusCsv(const Bill& bill, const Pricing& pricing, const BillPeriod& period,
                    std::span<const JobInfo> jobs, const std::function<void(const std::string&)>& append) {
  append(std::string(kHeader));
  const std::string start = TimeText(period.start_s), end = TimeText(period.end_s);
  const std::string currency = CsvField(pricing.sheet.currency);
  const auto put = [&](const Row& row) { append(Text(row, currency, start, end)); };
  for (const JobBill& job : bill.jobs) {
    Row of_job;
    of_job.job = jobs[job.job].name;
    of_job.group = pricing.GroupOf(of_job.job);
    for (const BillLine& line : job.lines) {
      const PriceTier& tier = pricing.sheet.tiers[line.key.tier];
      Row row = of_job;
      row.cost = ToText(line.amount);
      row.category = "Usage";
      row.frequency = "Usage-Based";
      row.description = StrCat(Name(line.key.resource), " of tier ", tier.name, " by ", Name(tier.rule), ", ",
                               Name(line.key.kind));
      row.quantity = HoursText(line);
      row.unit = line.key.resource == Resource::kCpu ? "Core-Hours" : "GiB-Hours";
      row.unit_price = ToText(line.rate);
      row.sku = StrCat(tier.name, "-", Name(line.key.resource), "-", line.key.price + 1);
      row.tier = tier.name;
      row.rule = Name(tier.rule);
      put(row);
      if (line.credit.micros == 0) continue;
      row.cost = ToText({-line.credit.micros});
      row.category = "Credit";
      row.description = StrCat("the SLO of tier ", tier.name, " was missed");
      row.quantity = row.unit = row.unit_price = "";
      put(row);
    }
    for (const auto& [cost, what] : {std::pair{job.sums.idle, "share of the pool's idle cost"},
                                     std::pair{job.sums.overhead, "share of the pool's overhead"}}) {
      if (cost.micros == 0) continue;
      Row row = of_job;
      row.cost = ToText(cost);
      row.category = "Adjustment";
      row.frequency = "Recurring";
      row.description = what;
      put(row);
    }
  }
}

}  // namespace taut
