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
  const double per_hour = line.resource == Resource::kCpu ? 1000.0 * 3600 : 1024.0 * 1024 * 3600;
  return fmt::format("{:.6f}", static_cast<double>(line.quantity) / per_hour);
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

void AppendFocusCsv(const PoolBill& bill, const Pricing& pricing, const BillOptions& options,
                    std::span<const JobInfo> jobs, const std::function<void(const std::string&)>& append) {
  append(std::string(kHeader));
  const std::string start = TimeText(options.start_s), end = TimeText(options.end_s);
  const std::string currency = CsvField(pricing.sheet.currency());
  for (size_t job = 0; job < jobs.size(); ++job) {
    Row row;
    row.job = jobs[job].name;
    row.group = pricing.GroupOf(row.job);
    for (const BillLine& line : bill.jobs[job].lines) {
      const Tier& tier = pricing.sheet.tiers()[line.tier];
      const Rates& rates = tier.prices[line.price].rates;
      const bool is_cpu = line.resource == Resource::kCpu;
      row.cost = ToText(line.amount);
      row.category = "Usage";
      row.frequency = "Usage-Based";
      row.description = StrCat(Name(line.resource), " of tier ", tier.name, " by ", Name(tier.rule));
      row.quantity = HoursText(line);
      row.unit = is_cpu ? "Core-Hours" : "GiB-Hours";
      row.unit_price = ToText(is_cpu ? rates.core_hour : rates.gib_hour);
      row.sku = StrCat(tier.name, "-", Name(line.resource), "-", line.price + 1);
      row.tier = tier.name;
      row.rule = Name(tier.rule);
      append(Text(row, currency, start, end));
    }
    if (bill.jobs[job].idle.micros == 0) continue;
    Row idle;
    idle.job = row.job;
    idle.group = row.group;
    idle.cost = ToText(bill.jobs[job].idle);
    idle.category = "Adjustment";
    idle.frequency = "Recurring";
    idle.description = "share of the pool's idle cost";
    append(Text(idle, currency, start, end));
  }
}

}  // namespace taut
