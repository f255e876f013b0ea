#include "tools/report/cell_page.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/base/html_text.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/report/static_page.h"
#include "tools/report/svg_chart.h"

namespace taut::tools {
namespace {

constexpr std::string_view kCellTierColours[brain::kCellTiers] = {"#8a94a0", "#b3541e", "#6a4c93", "#1259b8",
                                                                  "#00795f"};

std::string Share(double share) { return fmt::format("<td>{:.2f} %</td>", 100 * share); }
std::string Seconds(std::vector<float>& values, uint64_t of, double q) {
  const std::optional<double> value = brain::DelayQuantile(values, of, q);
  return TableCell(value.has_value() ? fmt::format("{:.4g} s", *value) : of == 0 ? "-" : "never");
}

template <typename Visit>
void ForEachTierOf(brain::CellTotals& totals, const Visit& visit) {
  for (size_t t = brain::kCellTiers; t-- > 0;) {
    if (totals.tiers[t].jobs > 0) visit(t, totals.tiers[t]);
  }
}

std::string TierTable(brain::CellTotals& totals) {
  std::string out =
      "<table><tr><th>tier</th><th>jobs</th><th>tasks</th><th>first task p50</th><th>p90</th><th>p99</th>"
      "<th>all tasks p50</th><th>p99</th><th>again p50</th><th>p99</th><th>work "
      "lost</th><th>pending</th></tr>";
  ForEachTierOf(totals, [&](size_t tier, brain::CellTierTotals& t) {
    const uint64_t jobs = t.measured_jobs, evicted = t.all_evictions();
    StrAppend(&out, "<tr>", TableCell(Name(static_cast<brain::CellTier>(tier))),
              TableCell(FormatCount(t.jobs)), TableCell(FormatCount(t.tasks)), Seconds(t.first_s, jobs, 0.5),
              Seconds(t.first_s, jobs, 0.9), Seconds(t.first_s, jobs, 0.99), Seconds(t.all_s, jobs, 0.5),
              Seconds(t.all_s, jobs, 0.99), Seconds(t.again_s, evicted, 0.5),
              Seconds(t.again_s, evicted, 0.99), Share(t.lost_share()), TableCell(FormatCount(t.pending)),
              "</tr>");
  });
  return out + "</table>";
}

std::string EvictionTable(brain::CellTotals& totals) {
  std::string out = "<table><tr><th>evictions a task-week</th>";
  for (size_t c = 0; c < brain::kEvictionCauses; ++c)
    StrAppend(&out, "<th>", Name(static_cast<brain::EvictionCause>(c)), "</th>");
  out += "<th>all</th><th>tasks evicted</th></tr>";
  ForEachTierOf(totals, [&](size_t tier, brain::CellTierTotals& t) {
    StrAppend(&out, "<tr>", TableCell(Name(static_cast<brain::CellTier>(tier))));
    for (size_t c = 0; c < brain::kEvictionCauses; ++c)
      out += TableCell(fmt::format("{:.3f}", t.evictions_per_week(static_cast<brain::EvictionCause>(c))));
    StrAppend(&out, TableCell(fmt::format("{:.3f}", t.evictions_per_week())),
              TableCell(FormatCount(t.all_evictions())), "</tr>");
  });
  return out + "</table>";
}

// Of each tier the share of jobs that have got so far, over the time since they came.
std::string DelayChart(brain::CellTotals& totals, std::vector<float> brain::CellTierTotals::*delays) {
  SvgChart chart("seconds since the job was submitted", "share of the jobs");
  chart.SetLogarithmicX();
  ForEachTierOf(totals, [&](size_t tier, brain::CellTierTotals& t) {
    SvgSeries line{
        std::string(Name(static_cast<brain::CellTier>(tier))), kCellTierColours[tier], SvgLine::kSolid, {}};
    for (const brain::DelayPoint& p : brain::DelayCdf(t.*delays, t.measured_jobs))
      line.points.push_back({p.seconds, p.share});
    chart.AddLine(std::move(line));
  });
  return chart.Render();
}

using HourAmounts = std::array<double, brain::kMaxCellResources> brain::CellHour::*;

std::string FillChart(const brain::CellTotals& totals, const brain::CellResource& resource, size_t r) {
  SvgChart chart("hours", StrCat("share of the ", resource.name, " in service"));
  const auto series = [&](std::string_view name, std::string_view colour, SvgLine kind,
                          std::initializer_list<HourAmounts> sum) {
    SvgSeries out{std::string(name), colour, kind, {}};
    for (size_t h = 0; h < totals.hours.size(); ++h) {
      const brain::CellHour& hour = totals.hours[h];
      double amount = 0;
      for (const HourAmounts part : sum) amount += (hour.*part)[r];
      if (hour.capacity[r] > 0)
        out.points.push_back({static_cast<double>(h) + 0.5, amount / hour.capacity[r]});
    }
    return out;
  };
  chart.AddBand(
      series("reserved by production", "#7fb3d5", SvgLine::kSolid, {&brain::CellHour::production_reserved}));
  chart.AddBand(series("and by others", "#d9e2ec", SvgLine::kSolid,
                       {&brain::CellHour::production_reserved, &brain::CellHour::other_reserved}));
  chart.AddLine(
      series("limits of production", "#1259b8", SvgLine::kSolid, {&brain::CellHour::production_limit}));
  chart.AddLine(series("all limits", "#b3541e", SvgLine::kSolid,
                       {&brain::CellHour::production_limit, &brain::CellHour::other_limit}));
  return chart.Render();
}

std::string TasksChart(const brain::CellTotals& totals) {
  SvgChart chart("hours", "tasks");
  SvgSeries running{"running", "#d9e2ec", SvgLine::kSolid, {}},
      pending{"and pending", "#c0392b", SvgLine::kSolid, {}};
  for (size_t h = 0; h < totals.hours.size(); ++h) {
    const double x = static_cast<double>(h) + 0.5;
    running.points.push_back({x, totals.hours[h].running});
    pending.points.push_back({x, totals.hours[h].running + totals.hours[h].pending});
  }
  chart.AddBand(std::move(running));
  chart.AddBand(std::move(pending));
  return chart.Render();
}

std::string RunsTable(std::vector<CellRun>& runs) {
  std::string out =
      "<table><tr><th>setup</th><th>tier</th><th>first task p50</th><th>p99</th><th>all tasks p99</th>"
      "<th>evictions a task-week</th><th>work lost</th><th>pending</th></tr>";
  for (CellRun& run : runs) {
    ForEachTierOf(run.totals, [&](size_t tier, brain::CellTierTotals& t) {
      StrAppend(&out, "<tr>", TableCell(run.setup->name), TableCell(Name(static_cast<brain::CellTier>(tier))),
                Seconds(t.first_s, t.measured_jobs, 0.5), Seconds(t.first_s, t.measured_jobs, 0.99),
                Seconds(t.all_s, t.measured_jobs, 0.99),
                TableCell(fmt::format("{:.3f}", t.evictions_per_week())), Share(t.lost_share()),
                TableCell(FormatCount(t.pending)), "</tr>");
    });
  }
  return out + "</table>";
}

}  // namespace

std::string Render(const CellPage& page, std::vector<CellRun>& runs) {
  brain::CellTotals& base = runs.front().totals;
  std::string out = StaticPageHead(page.title);
  for (const std::string_view line : Split(page.conditions, '\n')) {
    if (!line.empty()) StrAppend(&out, "<p class=muted>", EscapedHtml(line), "</p>");
  }
  StrAppend(&out, TierTable(base), EvictionTable(base), "<h2>Until a job's first task runs</h2>",
            DelayChart(base, &brain::CellTierTotals::first_s), "<h2>Until all of its tasks have run</h2>",
            DelayChart(base, &brain::CellTierTotals::all_s));
  for (size_t r = 0; r < page.resources.size(); ++r)
    StrAppend(&out, "<h2>", EscapedHtml(page.resources[r].name), "</h2>",
              FillChart(base, page.resources[r], r));
  StrAppend(&out, "<h2>Tasks</h2>", TasksChart(base));
  if (!base.pending.empty()) out += "<h2>Pending at the end</h2>";
  for (const brain::CellPending& p : base.pending)
    StrAppend(&out, "<p>", EscapedHtml(p.job), ", ", p.tasks,
              p.tasks == 1 ? " task: " : " tasks: ", EscapedHtml(p.why), "</p>");
  if (runs.size() > 1) StrAppend(&out, "<h2>Side by side</h2>", RunsTable(runs));
  return out + "</html>\n";
}

}  // namespace taut::tools
