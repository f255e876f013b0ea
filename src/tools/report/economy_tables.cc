#include "tools/report/economy_tables.h"

#include <algorithm>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::tools {
namespace {

constexpr std::string_view kEveryPolicy = "every policy";

std::string ShareText(double share, int decimals = 2) {
  return fmt::format("{:.{}f} %", 100 * share, decimals);
}
std::string PpmText(int64_t ppm) {
  return fmt::format("{:.6g} %", 100 * static_cast<double>(ppm) / static_cast<double>(brain::kWholePpm));
}
std::string RatioText(int64_t part, int64_t whole, int decimals = 1) {
  if (whole <= 0) return "-";
  return ShareText(static_cast<double>(part) / static_cast<double>(whole), decimals);
}
std::string WholeText(double value) { return FormatCount(static_cast<uint64_t>(value + 0.5)); }

const EconomyPolicy* Clairvoyant(const EconomyResult& result) {
  const auto at = std::ranges::find(result.policies, SellerPolicy::kClairvoyant, &EconomyPolicy::policy);
  return at != result.policies.end() ? &*at : nullptr;
}

std::vector<std::string> TierRow(std::string_view policy, const brain::PriceTier& tier,
                                 const EconomyTier& of) {
  const TierTotals& t = of.totals;
  const auto count = [](uint64_t n) { return FormatCount(n); };
  return {std::string(policy),
          tier.name,
          PpmText(tier.availability_ppm),
          t.wanted_steps > 0 ? ShareText(t.available_share()) : "-",
          RatioText(static_cast<int64_t>(t.job_periods_kept), static_cast<int64_t>(t.job_periods)),
          PpmText(tier.obtainability_ppm),
          t.jobs > 0 ? ShareText(t.obtained_share()) : "-",
          count(t.jobs),
          count(t.later),
          count(t.never),
          count(t.reclaims)};
}

}  // namespace

const char* const kEconomyLegend =
    "sold: what granted jobs asked for while they had usage; ran: the share of it that ran; used: that\n"
    "was used; credits: given back for months in which a job ran less than promised; strict net: only\n"
    "months that were kept earn, and others cost what they would have earned. months kept: of granted\n"
    "jobs; obtained: jobs granted at once or within --patience; waited: granted later; never: not before\n"
    "they ended; reclaimed: times that a job had to stop.\n";

double HoursOf(Resource r, int64_t quantity) {
  return static_cast<double>(quantity) / static_cast<double>(brain::QuantityPerRate(r));
}

double AmountOfStep(Resource r, int64_t quantity) {
  return static_cast<double>(quantity) / static_cast<double>(kWindowSeconds) /
         (UnitOf(r).accounted * UnitOf(r).large);
}

EconomySums SumsBelow(const EconomyPolicy& policy, const std::vector<brain::TierSale>& tiers) {
  EconomySums out;
  for (size_t tier = 0; tier < tiers.size(); ++tier) {
    if (tiers[tier] == brain::TierSale::kReserved) continue;
    const EconomyTier& of = policy.tiers[tier];
    for (size_t i = 0; i < 2; ++i) {
      out.sums.usage[i] += of.totals.sums.usage[i];
      out.sums.allocation[i] += of.totals.sums.allocation[i];
      out.sums.reservation[i] += of.totals.sums.reservation[i];
      out.wanted[i] += of.totals.wanted[i];
    }
    out.charges.micros += of.charges.micros;
    out.credits.micros += of.credits.micros;
    out.strict_net.micros += of.strict_net().micros;
  }
  return out;
}

EconomyTable EconomyPolicyTable(const EconomyResult& result, const brain::PriceSheet& sheet) {
  const EconomyPolicy* clairvoyant = Clairvoyant(result);
  EconomyTable out;
  out.head = {"policy",
              "sold,\ncore-hours",
              "ran",
              "used",
              "sold,\nGiB-hours",
              "ran",
              "used",
              StrCat("charged,\n", sheet.currency),
              "credits",
              "net",
              "strict\nnet"};
  if (clairvoyant != nullptr) out.head.emplace_back("of clair-\nvoyant");
  for (const EconomyPolicy& policy : result.policies) {
    const EconomySums of = SumsBelow(policy, result.tiers);
    std::vector<std::string> row = {std::string(Name(policy.policy))};
    for (const Resource r : kResources) {
      const auto i = static_cast<size_t>(r);
      const int64_t sold = of.wanted[i];
      row.insert(row.end(), {WholeText(HoursOf(r, sold)), RatioText(of.sums.allocation[i], sold),
                             RatioText(of.sums.usage[i], sold)});
    }
    row.insert(row.end(), {brain::RoundedText(of.charges), brain::RoundedText(of.credits),
                           brain::RoundedText(of.net()), brain::RoundedText(of.strict_net)});
    if (clairvoyant != nullptr)
      row.push_back(RatioText(of.strict_net.micros, SumsBelow(*clairvoyant, result.tiers).strict_net.micros));
    out.rows.push_back(std::move(row));
  }
  return out;
}

EconomyTable EconomyTierTable(const EconomyResult& result, const brain::PriceSheet& sheet) {
  EconomyTable out;
  out.head = {"policy", "tier",         "available,\npromised",
              "kept",   "months\nkept", "obtained,\npromised",
              "kept",   "jobs",         "waited",
              "never",  "reclaimed"};
  for (size_t tier = 0; tier < sheet.tiers.size(); ++tier) {
    if (result.tiers[tier] == brain::TierSale::kReserved)
      out.rows.push_back(TierRow(kEveryPolicy, sheet.tiers[tier], result.policies.front().tiers[tier]));
  }
  for (const EconomyPolicy& policy : result.policies) {
    for (size_t tier = 0; tier < sheet.tiers.size(); ++tier) {
      if (result.tiers[tier] != brain::TierSale::kReserved)
        out.rows.push_back(TierRow(Name(policy.policy), sheet.tiers[tier], policy.tiers[tier]));
    }
  }
  return out;
}

EconomyTable EconomyBillTable(const EconomyResult& result, std::span<const std::string> groups,
                              size_t limit) {
  struct Row {
    uint32_t group = 0;
    brain::Money highest;
    std::vector<brain::Money> totals;  // bill of the group under each policy
  };
  std::vector<Row> rows(groups.size());
  for (uint32_t group = 0; group < rows.size(); ++group) rows[group] = {group, {}, {}};
  for (size_t k = 0; k < result.policies.size(); ++k) {
    for (Row& row : rows) row.totals.emplace_back();
    for (const brain::GroupBill& bill : result.policies[k].bill.groups) {
      Row& row = rows[bill.group];
      row.totals[k] = bill.sums.total;
      row.highest = std::max(row.highest, bill.sums.total);
    }
  }
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) { return a.highest > b.highest; });
  EconomyTable out;
  out.head = {"group"};
  for (const EconomyPolicy& policy : result.policies) out.head.emplace_back(Name(policy.policy));
  for (const Row& row : rows) {
    if (out.rows.size() == limit) {
      out.rows.push_back({fmt::format("the first {} of {}", limit, rows.size())});
      out.rows.back().resize(out.head.size());
      break;
    }
    std::vector<std::string>& texts = out.rows.emplace_back();
    texts.push_back(groups[row.group]);
    for (const brain::Money total : row.totals) texts.push_back(brain::RoundedText(total));
  }
  return out;
}

std::string EconomyIntroduction(const EconomyResult& result, const brain::PriceSheet& sheet) {
  const auto days = [](int64_t steps) { return static_cast<double>(steps) / kWindowsPerDay; };
  const auto steps = static_cast<int64_t>(result.measured.size());
  // A resource that the trace does not measure has a capacity of 1 unit.
  const auto has = [&](Resource r) {
    const int64_t capacity = result.capacity[static_cast<size_t>(r)];
    if (capacity <= 1) return StrCat("no ", Name(r), " that is measured");
    return FormatAmount(r, AmountOfStep(r, capacity) * UnitOf(r).large);
  };
  const double sold = days(steps - result.count_from);
  std::string out = fmt::format(
      "the pool has {} and {}; {:.4g} {} sold and billed, after {:.4g} of warm-up\n", has(Resource::kCpu),
      has(Resource::kMemory), sold, sold == 1 ? "day is" : "days are", days(result.count_from));
  std::string sales;
  brain::Money reserved;
  for (size_t tier = 0; tier < sheet.tiers.size(); ++tier) {
    StrAppend(&sales, sales.empty() ? "" : ", ", sheet.tiers[tier].name, " ", Name(result.tiers[tier]));
    if (result.tiers[tier] == brain::TierSale::kReserved)
      reserved.micros += result.policies.front().tiers[tier].charges.micros;
  }
  StrAppend(&out, "tiers: ", sales, "; the reserved ones are charged ", brain::RoundedText(reserved), " ",
            sheet.currency, "\n");
  int64_t past = 0;
  for (size_t step = static_cast<size_t>(result.count_from); step < result.reserved.size(); ++step)
    past += result.reserved[step][0] > result.capacity[0] || result.reserved[step][1] > result.capacity[1]
                ? 1
                : 0;
  if (past > 0) {
    StrAppend(&out, "in ", FormatDuration(past * kWindowSeconds),
              " the limits of the reserved tiers had grown past the capacity\n");
  }
  return out;
}

}  // namespace taut::tools
