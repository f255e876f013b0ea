#include "tools/report/overcommit_page.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/byte_units.h"
#include "common/base/html_text.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/report/static_page.h"
#include "tools/report/svg_chart.h"

namespace taut::tools {
namespace {

constexpr size_t kMostMachines = 20;
constexpr std::string_view kPredictorColour = "#1259b8", kOracleColour = "#b3541e";

constexpr std::string_view kLegend =
    "<p class=muted>Footprint: sum of predictions over the sum of the owners' limits. Below the oracle: "
    "share "
    "of predictions below the peak that came. Severity: mean of (peak - prediction) / peak among these. "
    "Savings: mean over machines and times of 1 - prediction / limits. The oracle knows the peak that "
    "comes.</p>";

std::string Share(double share, int digits) { return fmt::format("{:.{}f} %", 100 * share, digits); }

std::string Amount(Resource r, double sum, uint64_t of) {
  return fmt::format("{:.4g}", OvercommitScore::Mean(sum / UnitOf(r).large, of));
}

std::string Lines(std::string_view text) {
  std::string out;
  for (const std::string_view line : Split(text, '\n'))
    if (!line.empty()) StrAppend(&out, "<p class=muted>", EscapedHtml(line), "</p>");
  return out;
}

// "3 of 40": machines with a prediction below the oracle, of those with predictions.
std::string MachinesBelow(const OvercommitResult::Row& row) {
  uint64_t below = 0, all = 0;
  for (const OvercommitScore& s : row.by_machine) {
    below += s.below > 0 ? 1 : 0;
    all += s.predictions > 0 ? 1 : 0;
  }
  return StrCat(FormatCount(below), " of ", FormatCount(all));
}

std::string PredictorTable(const OvercommitResult& result) {
  const bool of_capacity = result.of_recorded && result.recorded.capacity > 0;
  std::string out = StrCat(
      "<table><tr><th>predictor</th><th>footprint, % of limits</th><th>below the oracle</th>"
      "<th>severity</th><th>savings</th><th>mean prediction, ",
      UnitOf(result.resource).large_name, " a machine</th><th>machines ever below</th><th>predictions</th>",
      of_capacity ? "<th>% of capacity</th>" : "", "</tr>");
  for (const OvercommitResult::Row& row : result.rows) {
    const OvercommitScore& s = row.total;
    const bool any = s.predictions > 0;
    const auto cell = [any](std::string text) { return TableCell(any ? std::move(text) : "-"); };
    StrAppend(&out, "<tr>", TableCell(row.predictor), cell(Share(s.footprint(), 1)),
              cell(Share(s.below_share(), 2)), cell(s.below > 0 ? Share(s.severity(), 1) : "-"),
              cell(Share(s.mean_savings(), 1)), cell(Amount(result.resource, s.predicted, s.predictions)),
              cell(MachinesBelow(row)), TableCell(FormatCount(s.predictions)));
    if (of_capacity) out += s.capacity > 0 ? TableCell(Share(s.capacity_share(), 1)) : TableCell("-");
    out += "</tr>";
  }
  out += "</table>";
  if (of_capacity)
    out +=
        "<p class=muted>% of capacity: sum of predictions over the capacity of the machines they are for, "
        "where "
        "it is known.</p>";
  return out;
}

// One point a predictor. The oracle is known from the scores of any, also where it is not among the rows.
std::string RiskChart(const OvercommitResult& result) {
  SvgChart chart("footprint, % of the owners' limits", "below the oracle, %");
  chart.SetFromZero();
  const OvercommitScore* known = nullptr;
  double highest = 0;
  for (const OvercommitResult::Row& row : result.rows) {
    const OvercommitScore& s = row.total;
    if (s.predictions == 0) continue;
    known = &s;
    highest = std::max(highest, 100 * s.below_share());
    if (row.predictor == kOracle) continue;
    chart.AddMark({row.predictor, kPredictorColour, {100 * s.footprint(), 100 * s.below_share()}});
  }
  if (known == nullptr || known->limit <= 0) return "";
  const double oracle = 100 * known->oracle / known->limit;
  chart.AddMark({std::string(kOracle), kOracleColour, {oracle, 0}});
  if (highest > 0)
    chart.AddLine(
        {"footprint of the oracle", kOracleColour, SvgLine::kDashed, {{oracle, 0}, {oracle, highest}}});
  return chart.Render();
}

// As in the rows of --decisions, which count from 0.
std::string MachineName(const OvercommitResult& result, size_t machine) {
  if (result.of_recorded) return result.recorded.machines[machine];
  const size_t placements = result.rows.front().by_placement.size();
  const size_t each =
      std::max<size_t>(1, result.rows.front().by_machine.size() / std::max<size_t>(1, placements));
  return fmt::format("machine {} of placement {}", machine % each, machine / each);
}

struct MachineBelow {
  size_t machine = 0;
  uint64_t below = 0;  // predictions below the oracle, over all predictors
};

// The machines with any, those with most first, then in their order.
std::vector<MachineBelow> MostBelow(const OvercommitResult& result) {
  std::vector<MachineBelow> out;
  for (size_t m = 0; m < result.rows.front().by_machine.size(); ++m) {
    MachineBelow one{m, 0};
    for (const OvercommitResult::Row& row : result.rows) one.below += row.by_machine[m].below;
    if (one.below > 0) out.push_back(one);
  }
  std::ranges::sort(out, [](const MachineBelow& a, const MachineBelow& b) {
    return std::pair(b.below, a.machine) < std::pair(a.below, b.machine);
  });
  return out;
}

std::string MachineTable(const OvercommitResult& result) {
  if (std::ranges::none_of(result.rows, [](const auto& row) { return row.total.predictions > 0; }))
    return "<p>There are no predictions with a peak to compare.</p>";
  const std::vector<MachineBelow> machines = MostBelow(result);
  if (machines.empty()) return "<p>No prediction was below the oracle on any machine.</p>";
  const size_t shown = std::min(machines.size(), kMostMachines);
  std::string out =
      StrCat("<p class=muted>Share of each machine's predictions below the oracle. ",
             shown < machines.size()
                 ? fmt::format("The {} machines of {} with any", shown, FormatCount(machines.size()))
                 : fmt::format("All {} machines with any", shown),
             ", those with most of all predictors first; predictors that were never below are left out.</p>"
             "<table><tr><th>machine</th><th>predictions of each</th>");
  std::vector<const OvercommitResult::Row*> columns;
  for (const OvercommitResult::Row& row : result.rows)
    if (row.total.below > 0) columns.push_back(&row);
  for (const OvercommitResult::Row* row : columns)
    StrAppend(&out, "<th>", EscapedHtml(row->predictor), "</th>");
  out += "</tr>";
  for (size_t i = 0; i < shown; ++i) {
    const size_t m = machines[i].machine;
    StrAppend(&out, "<tr>", TableCell(MachineName(result, m)),
              TableCell(FormatCount(columns.front()->by_machine[m].predictions)));
    for (const OvercommitResult::Row* row : columns) {
      const OvercommitScore& s = row->by_machine[m];
      out += TableCell(s.predictions > 0 ? Share(s.below_share(), 1) : "-");
    }
    out += "</tr>";
  }
  return out + "</table>";
}

}  // namespace

std::string Render(const OvercommitPage& page, std::span<const OvercommitResult> results) {
  std::string out = StrCat(StaticPageHead(page.title), Lines(page.conditions), kLegend);
  for (size_t i = 0; i < results.size(); ++i) {
    const OvercommitResult& result = results[i];
    StrAppend(&out, "<h2>", RowOf(result.resource).title, "</h2>",
              i < page.read.size() ? Lines(page.read[i]) : "");
    StrAppend(&out, PredictorTable(result));
    if (const std::string chart = RiskChart(result); !chart.empty())
      StrAppend(&out, "<h3>Footprint against predictions below the oracle</h3>", chart);
    StrAppend(&out, "<h3>By machine</h3>", MachineTable(result));
  }
  return out + "</html>\n";
}

}  // namespace taut::tools
