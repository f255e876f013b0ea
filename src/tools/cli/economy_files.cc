#include "tools/cli/economy_files.h"

#include <map>
#include <utility>

#include "common/base/byte_units.h"
#include "common/base/csv_field.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/report/economy_tables.h"

namespace taut::tools {
namespace {

// Converts a quantity to cores or bytes. The printed value parses to the same double.
double CoresOrBytes(Resource r, int64_t quantity) { return AmountOfStep(r, quantity) * UnitOf(r).large; }

Json SoldJson(const PoolAmounts& wanted, const PoolLines& sums) {
  Json out = Json::object();
  for (const Resource r : kResources) {
    const size_t i = IndexOf(r);
    out[StrCat(RowOf(r).price_key, "s")] = {{"sold", HoursOf(r, wanted[i])},
                                            {"ran", HoursOf(r, sums.allocation[i])},
                                            {"used", HoursOf(r, sums.usage[i])}};
  }
  return out;
}

double ShareOfPpm(int64_t ppm) { return static_cast<double>(ppm) / static_cast<double>(brain::kWholePpm); }

Json TierJson(const brain::PriceTier& tier, brain::TierSale sale, const EconomyTier& of) {
  const TierTotals& t = of.totals;
  const auto share = [](bool any, double value) { return any ? Json(value) : Json(nullptr); };
  Json out = {{"tier", tier.name},
              {"sale", Name(sale)},
              {"availability_promised", ShareOfPpm(tier.availability_ppm)},
              {"availability_kept", share(t.wanted_steps > 0, t.available_share())},
              {"job_months", t.job_periods},
              {"job_months_kept", t.job_periods_kept},
              {"obtainability_promised", ShareOfPpm(tier.obtainability_ppm)},
              {"obtainability_kept", share(t.jobs > 0, t.obtained_share())},
              {"jobs", t.jobs},
              {"granted_at_once", t.at_once},
              {"granted_later", t.later},
              {"never_granted", t.never},
              {"reclaimed", t.reclaims},
              {"charges", ToText(of.charges)},
              {"credits", ToText(of.credits)},
              {"strict_net", ToText(of.strict_net())}};
  out.update(SoldJson(t.wanted, t.sums));
  return out;
}

// Charges and credits of one group in one tier.
struct TierCharges {
  brain::Money charges, credits;
  brain::Money total() const { return {charges.micros - credits.micros}; }
};
// Calls `take` for every bill, ordered by group and tier.
void ForEachBill(const EconomyPolicy& policy,
                 const std::function<void(uint32_t group, uint16_t tier, const TierCharges&)>& take) {
  for (const brain::GroupBill& group : policy.bill.groups) {
    std::map<uint16_t, TierCharges> of_tier;
    for (const brain::BillLine& line : group.lines) {
      TierCharges& of = of_tier[line.key.tier];
      of.charges.micros += line.amount.micros;
      of.credits.micros += line.credit.micros;
    }
    for (const auto& [tier, of] : of_tier) take(group.group, tier, of);
  }
}

}  // namespace

const std::string_view kDecisionsHead =
    "time_s,policy,tier,group,job,decision,cpu_cores,memory_bytes,reason\n";

std::string DecisionRow(const EconomyDecision& decision, int64_t start_s, const EconomyNames& names) {
  const SaleDecision& sale = decision.sale;
  const std::string& job = (*names.jobs)[sale.job].name;
  return fmt::format("{},{},{},{},{},{},{},{},{}\n", start_s + int64_t{sale.step} * kWindowSeconds,
                     decision.policy.has_value() ? Name(*decision.policy) : "*",
                     CsvField(names.sheet->tiers[decision.tier].name),
                     CsvField(names.groups[names.billed[sale.job].group]), CsvField(job), Name(sale.event),
                     CoresOrBytes(Resource::kCpu, sale.ask[0]), CoresOrBytes(Resource::kMemory, sale.ask[1]),
                     CsvField(sale.reason));
}

void AppendBills(const EconomyResult& result, const EconomyNames& names, const AppendRow& append) {
  append("policy,group,tier,charges,credits,total\n");
  for (const EconomyPolicy& policy : result.policies) {
    ForEachBill(policy, [&](uint32_t group, uint16_t tier, const TierCharges& of) {
      append(fmt::format("{},{},{},{},{},{}\n", Name(policy.policy), CsvField(names.groups[group]),
                         CsvField(names.sheet->tiers[tier].name), ToText(of.charges), ToText(of.credits),
                         ToText(of.total())));
    });
  }
}

void AppendLines(const EconomyResult& result, const AppendRow& append) {
  append("time_s,policy,resource,usage,allocation,reservation,reserved,capacity\n");
  for (const EconomyPolicy& policy : result.policies) {
    for (size_t step = 0; step < result.measured.size(); ++step) {
      if (!result.measured[step]) continue;
      const int64_t time_s = result.start_s + static_cast<int64_t>(step) * kWindowSeconds;
      for (const Resource r : kResources) {
        const size_t i = IndexOf(r);
        const PoolLines& lines = policy.lines[step];
        append(fmt::format("{},{},{},{},{},{},{},{}\n", time_s, Name(policy.policy), Name(r),
                           CoresOrBytes(r, lines.usage[i]), CoresOrBytes(r, lines.allocation[i]),
                           CoresOrBytes(r, lines.reservation[i]), CoresOrBytes(r, result.reserved[step][i]),
                           CoresOrBytes(r, result.capacity[i])));
      }
    }
  }
}

Json EconomyJson(const EconomyResult& result, const EconomyNames& names) {
  Json policies = Json::array();
  for (const EconomyPolicy& policy : result.policies) {
    const EconomySums below = SumsBelow(policy, result.tiers);
    Json one = {{"policy", Name(policy.policy)},          {"charges", ToText(below.charges)},
                {"credits", ToText(below.credits)},       {"net", ToText(below.net())},
                {"strict_net", ToText(below.strict_net)}, {"bills_total", ToText(policy.bill.sums.total)}};
    one.update(SoldJson(below.wanted, below.sums));
    Json tiers = Json::array();
    for (size_t tier = 0; tier < policy.tiers.size(); ++tier)
      tiers.push_back(TierJson(names.sheet->tiers[tier], result.tiers[tier], policy.tiers[tier]));
    one["tiers"] = std::move(tiers);
    Json bills = Json::array();
    ForEachBill(policy, [&](uint32_t group, uint16_t tier, const TierCharges& of) {
      bills.push_back({{"group", names.groups[group]},
                       {"tier", names.sheet->tiers[tier].name},
                       {"charges", ToText(of.charges)},
                       {"credits", ToText(of.credits)},
                       {"total", ToText(of.total())}});
    });
    one["bills"] = std::move(bills);
    policies.push_back(std::move(one));
  }
  return {{"currency", names.sheet->currency},
          {"start_s", result.start_s},
          {"sold_from_s", result.start_s + int64_t{result.count_from} * kWindowSeconds},
          {"end_s", result.start_s + static_cast<int64_t>(result.measured.size()) * kWindowSeconds},
          {"capacity_cores", CoresOrBytes(Resource::kCpu, result.capacity[0])},
          {"capacity_bytes", CoresOrBytes(Resource::kMemory, result.capacity[1])},
          {"policies", std::move(policies)}};
}

}  // namespace taut::tools
