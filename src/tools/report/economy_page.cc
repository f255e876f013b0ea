#include "tools/report/economy_page.h"

#include <algorithm>
#include <vector>

#include "common/base/html_text.h"
#include "common/base/strings.h"
#include "tools/report/economy_tables.h"
#include "tools/report/static_page.h"
#include "tools/report/svg_chart.h"

namespace taut::tools {
namespace {

constexpr size_t kMostChartPoints = 600;
constexpr size_t kMostBills = 200;

std::string TableHtml(const EconomyTable& table) {
  std::string out = "<table><tr>";
  for (const std::string& head : table.head) StrAppend(&out, "<th>", EscapedHtml(head), "</th>");
  out += "</tr>";
  for (const std::vector<std::string>& row : table.rows) {
    out += "<tr>";
    for (const std::string& cell : row) StrAppend(&out, "<td>", EscapedHtml(cell), "</td>");
    out += "</tr>";
  }
  return out + "</table>";
}

// Means over groups of measured steps, so that a line has few enough points.
template <typename Value>
std::vector<SvgPoint> PointsOf(const EconomyResult& result, const Value& value) {
  const size_t steps = result.measured.size();
  const size_t every = std::max<size_t>(1, (steps + kMostChartPoints - 1) / kMostChartPoints);
  std::vector<SvgPoint> out;
  for (size_t from = 0; from < steps; from += every) {
    double sum = 0, n = 0;
    for (size_t step = from; step < std::min(steps, from + every); ++step) {
      if (!result.measured[step]) continue;
      sum += value(step);
      ++n;
    }
    const auto time = static_cast<double>(result.start_s + static_cast<int64_t>(from) * kWindowSeconds);
    if (n > 0) out.push_back({time, sum / n});
  }
  return out;
}

std::string LinesChart(const EconomyResult& result, const EconomyPolicy& policy, Resource r) {
  const auto i = static_cast<size_t>(r);
  SvgChart chart("time", std::string(UnitOf(r).large_name));
  chart.SetTime();
  const auto line = [&](std::string name, std::string_view colour, const PoolAmounts PoolLines::*of) {
    chart.AddLine({std::move(name), colour, SvgLine::kSolid, PointsOf(result, [&](size_t step) {
                     return AmountOfStep(r, (policy.lines[step].*of)[i]);
                   })});
  };
  line("usage", "#1259b8", &PoolLines::usage);
  line("allocation", "#e0a458", &PoolLines::allocation);
  line("reservation", "#b3541e", &PoolLines::reservation);
  chart.AddLine({"capacity", "#1d2733", SvgLine::kDashed,
                 PointsOf(result, [&](size_t) { return AmountOfStep(r, result.capacity[i]); })});
  return chart.Render();
}

}  // namespace

std::string EconomyPage(const EconomyResult& result, const brain::PriceSheet& sheet,
                        std::span<const std::string> groups, std::string_view title) {
  std::string out = StaticPageHead(title);
  const std::string introduction = EconomyIntroduction(result, sheet);
  for (const std::string_view line : Split(introduction, '\n'))
    if (!line.empty()) StrAppend(&out, "<p>", EscapedHtml(line), "</p>");
  StrAppend(&out, "<h2>What each policy sells below the reserved tiers</h2>",
            TableHtml(EconomyPolicyTable(result, sheet)), "<h2>Promises and what was kept</h2>",
            TableHtml(EconomyTierTable(result, sheet)), "<p class=muted>", EscapedHtml(kEconomyLegend),
            "</p>", "<h2>Bills, ", EscapedHtml(sheet.currency), "</h2>",
            TableHtml(EconomyBillTable(result, groups, kMostBills)));
  out +=
      "<h2>The four lines</h2><p class=muted>Usage and allocation are of the jobs that run, allocation at "
      "their "
      "limits; reservation is what is sold, to jobs that are reclaimed, too. What is sold of the slack is "
      "beyond "
      "the capacity.</p>";
  for (const EconomyPolicy& policy : result.policies) {
    for (const Resource r : kResources) {
      StrAppend(&out, "<h3>", Name(policy.policy), ", ", RowOf(r).word, "</h3>",
                LinesChart(result, policy, r));
    }
  }
  return out + "</html>\n";
}

}  // namespace taut::tools
