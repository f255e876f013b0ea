#include "tools/report/economy_page.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "tools/report/economy_tables.h"

namespace taut::tools {
namespace {

constexpr size_t kMostChartPoints = 600;
constexpr size_t kMostBills = 200;

// Joins the lines of a terminal's column head. If a word was hyphenated at the end of a line, removes the hyphen.
std::string OneLine(std::string_view text) {
  std::string out;
  for (const std::string_view line : Split(text, '\n')) {
    if (out.ends_with('-')) {
      out.pop_back();
    } else if (!out.empty() && !line.empty()) {
      out += ' ';
    }
    out += line;
  }
  return out;
}

// Returns a table with the texts of the terminal's table: money is exact, and shares have a percent sign.
// `unit_of` returns the unit of any other column by its head.
template <typename UnitOf>
DocumentTable TableOf(const EconomyTable& table, const UnitOf& unit_of) {
  DocumentTable out;
  for (const std::string& text : table.head) {
    std::string head = OneLine(text);
    Form form{.unit = unit_of(head)};
    out.columns.push_back({std::move(head), std::move(form)});
  }
  for (const std::vector<std::string>& row : table.rows) {
    std::vector<FigureValue>& values = out.rows.emplace_back();
    for (const std::string& text : row) values.push_back(text == "-" ? FigureValue() : FigureValue(text));
  }
  return out;
}

// Returns a line whose points are the means of groups of measured steps.
template <typename Value>
ChartSeries LineOf(std::string name, ChartLine kind, const EconomyResult& result, const Value& value) {
  const size_t steps = result.measured.size();
  const size_t every = std::max<size_t>(1, (steps + kMostChartPoints - 1) / kMostChartPoints);
  ChartSeries out{std::move(name), kind};
  for (size_t from = 0; from < steps; from += every) {
    double sum = 0, n = 0;
    for (size_t step = from; step < std::min(steps, from + every); ++step) {
      if (!result.measured[step]) continue;
      sum += value(step);
      ++n;
    }
    const auto time = static_cast<double>(result.start_s + static_cast<int64_t>(from) * kWindowSeconds);
    if (n > 0) out.Add(time, sum / n);
  }
  return out;
}

DocumentChart LinesChart(const EconomyResult& result, const EconomyPolicy& policy, Resource r) {
  const auto i = static_cast<size_t>(r);
  DocumentChart chart{StrCat(Name(policy.policy), ", ", RowOf(r).word),
                      {"time", {FigureForm::kTime}},
                      {std::string(RowOf(r).word), NumberForm(std::string(UnitOf(r).large_name))}};
  const auto add = [&](std::string name, const PoolAmounts PoolLines::*of) {
    chart.series.push_back(LineOf(std::move(name), ChartLine::kSolid, result,
                                  [&](size_t step) { return AmountOfStep(r, (policy.lines[step].*of)[i]); }));
  };
  add("usage", &PoolLines::usage);
  add("allocation", &PoolLines::allocation);
  add("reservation", &PoolLines::reservation);
  chart.series.push_back(LineOf("capacity", ChartLine::kDashed, result,
                                [&](size_t) { return AmountOfStep(r, result.capacity[i]); }));
  return chart;
}

// Returns a sentence about the policy with the highest earnings. Considers the clairvoyant policy only if there is
// no other policy.
Sentence AnswerOf(const EconomyResult& result, const brain::PriceSheet& sheet) {
  const auto earned = [&](const EconomyPolicy& policy) {
    return SumsBelow(policy, result.tiers).strict_net.micros;
  };
  const EconomyPolicy* best = nullptr;
  const EconomyPolicy* clairvoyant = nullptr;
  for (const EconomyPolicy& policy : result.policies) {
    if (policy.policy == SellerPolicy::kClairvoyant) {
      clairvoyant = &policy;
    } else if (best == nullptr || earned(policy) > earned(*best)) {
      best = &policy;
    }
  }
  if (best == nullptr) best = clairvoyant;
  if (best == nullptr) return {"Nothing was sold: there are no policies."};
  Sentence out = {StrCat("Below the reserved tiers, ", Name(best->policy), " earns a strict net of "),
                  Figure{StrCat(brain::RoundedText(brain::Money{earned(*best)}), " ", sheet.currency), {}}};
  if (clairvoyant != nullptr && clairvoyant != best && earned(*clairvoyant) > 0) {
    out.emplace_back(", ");
    out.emplace_back(
        Figure{static_cast<double>(earned(*best)) / static_cast<double>(earned(*clairvoyant)), ShareForm(1)});
    out.emplace_back(" of the clairvoyant's");
  }
  out.emplace_back(".");
  return out;
}

}  // namespace

Document EconomyDocument(const EconomyResult& result, const brain::PriceSheet& sheet,
                         std::span<const std::string> groups, std::string_view title) {
  Document out{"taut economy", std::string(title)};
  out.clock_is_unix = LooksLikeUnixTime(result.start_s);
  out.answer = AnswerOf(result, sheet);
  out.AddNotes(EconomyIntroduction(result, sheet));
  DocumentSection policies{"What each policy sells below the reserved tiers"};
  policies.Add(TableOf(EconomyPolicyTable(result, sheet), [&](std::string_view head) {
    return head == "credits" || head == "net" || head == "strict net" ? sheet.currency : std::string();
  }));
  DocumentSection tiers{"Promises and what was kept"};
  tiers.Add(TableOf(EconomyTierTable(result, sheet), [](std::string_view head) {
    return head == "waited" || head == "never" ? "jobs" : head == "reclaimed" ? "times" : "";
  }));
  tiers.Add(OneLine(kEconomyLegend));
  DocumentSection bills{StrCat("Bills, ", sheet.currency)};
  bills.Add(TableOf(EconomyBillTable(result, groups, kMostBills),
                    [&](std::string_view head) { return head == "group" ? std::string() : sheet.currency; }));
  DocumentSection lines{"The four lines"};
  lines.Add(
      "Usage and allocation are of the jobs that run, allocation at their limits; reservation is what is "
      "sold, to jobs "
      "that are reclaimed, too. What is sold of the slack is beyond the capacity.");
  for (const EconomyPolicy& policy : result.policies) {
    for (const Resource r : kResources) lines.Add(LinesChart(result, policy, r));
  }
  for (DocumentSection* const section : {&policies, &tiers, &bills, &lines})
    out.sections.push_back(std::move(*section));
  return out;
}

}  // namespace taut::tools
