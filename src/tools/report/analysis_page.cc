#include "tools/report/analysis_page.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "fmt/format.h"
#include "tools/report/static_page.h"
#include "tools/report/svg_chart.h"
#include "tools/sim/published.h"

namespace taut::tools {
namespace {

// By tier.
constexpr std::string_view kTierColours[] = {"#8a94a0", "#b8c4d0", "#e0a458",
                                             "#7fb3d5", "#1259b8", "#6a4c93"};
constexpr std::string_view kResourceColours[] = {"#1259b8", "#b3541e"};
constexpr std::string_view kAmounts[] = {"cores", "GiB"};

std::string Number(double value) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size >= 1e7 || (size > 0 && size < 1e-3)) return fmt::format("{:.3g}", value);
  return fmt::format("{:.{}f}", value, size >= 100 ? 0 : size >= 1 ? 2 : 4);
}
std::string Percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

double InUnits(size_t resource, double amount) { return resource == 0 ? amount : amount / kGiB; }

std::string SizesTable(const TraceAnalysis& a) {
  std::string out =
      "<table><tr><th>of the jobs' usage</th><th>CPU, core-hours</th><th>memory, GiB-hours</th></tr>";
  const auto row = [&](std::string_view name, auto value) {
    StrAppend(&out, "<tr><td>", name, "</td><td>", Number(value(a.sizes[0])), "</td><td>",
              Number(value(a.sizes[1])), "</td></tr>");
  };
  row("jobs", [](const SizeDistribution& d) { return static_cast<double>(d.jobs); });
  row("total", [](const SizeDistribution& d) { return d.total; });
  row("median", [](const SizeDistribution& d) { return d.median; });
  row("mean", [](const SizeDistribution& d) { return d.mean; });
  row("variance", [](const SizeDistribution& d) { return d.variance; });
  row("90th percentile", [](const SizeDistribution& d) { return d.p90; });
  row("99th percentile", [](const SizeDistribution& d) { return d.p99; });
  row("99.9th percentile", [](const SizeDistribution& d) { return d.p999; });
  row("largest", [](const SizeDistribution& d) { return d.max; });
  return out + "</table>";
}

std::string ComparisonTable(const TraceAnalysis& a) {
  std::string out =
      "<table><tr><th></th><th>CPU</th><th>Google 2011</th><th>Google 2019</th><th>memory</th>"
      "<th>Google 2011</th><th>Google 2019</th></tr>";
  const std::span<const PublishedSize> published = PublishedSizes();
  for (size_t i = 0; i < published.size(); ++i) {
    const PublishedSize& p = published[i];
    StrAppend(&out, "<tr><td>", p.measure, "</td>");
    for (size_t r = 0; r < 2; ++r) {
      const SizeDistribution& d = a.sizes[r];
      const bool fitted = d.pareto.points > 0;
      const double values[] = {d.top_1_percent, d.top_0_1_percent,  d.squared_coefficient,
                               d.pareto.alpha,  d.pareto.r_squared, MeanWait(0.5, d.squared_coefficient)};
      const bool is_fit = i == 3 || i == 4;
      StrAppend(&out, "<td>", is_fit && !fitted ? "-" : Number(values[i]), "</td><td class=published>",
                Number(r == 0 ? p.cpu_2011 : p.memory_2011), "</td><td class=published>",
                Number(r == 0 ? p.cpu_2019 : p.memory_2019), "</td>");
    }
    out += "</tr>";
  }
  return out + "</table>";
}

std::string TailChart(const TraceAnalysis& a) {
  SvgChart chart("usage of a job, core-hours or GiB-hours", "share of jobs that use more");
  chart.SetLogarithmic();
  for (size_t r = 0; r < 2; ++r) {
    std::vector<SvgPoint> points;
    for (const TailPoint& p : a.tails[r]) points.push_back({p.value, p.share});
    chart.AddLine({r == 0 ? "CPU" : "memory", kResourceColours[r], SvgLine::kSolid, std::move(points)});
    const ParetoFit& fit = a.sizes[r].pareto;
    if (fit.points == 0) continue;
    // The line begins at the tenth that is fitted.
    const double end = 0.1 * std::pow(fit.to / fit.from, -fit.alpha);
    chart.AddLine({fmt::format("alpha {:.2f}", fit.alpha),
                   kResourceColours[r],
                   SvgLine::kDashed,
                   {{fit.from, 0.1}, {fit.to, end}}});
  }
  return chart.Render();
}

std::string TierChart(const TraceAnalysis& a, size_t resource) {
  SvgChart chart("time", kAmounts[resource]);
  chart.SetTime();
  std::vector<double> below(a.hours.size(), 0);
  for (size_t tier = 0; tier < kNumTraceTiers; ++tier) {
    if (a.tiers[resource][tier].usage <= 0) continue;
    std::vector<SvgPoint> points;
    for (size_t h = 0; h < a.hours.size(); ++h) {
      below[h] += InUnits(resource, a.hours[h].of[resource][tier].usage);
      points.push_back({static_cast<double>(a.hours[h].start_s), below[h]});
    }
    chart.AddBand({a.has_priorities ? std::string(Name(static_cast<TraceTier>(tier))) : "usage",
                   kTierColours[a.has_priorities ? tier : 4], SvgLine::kSolid, std::move(points)});
  }
  std::vector<SvgPoint> limits;
  bool any = false;
  for (const AnalysisHour& hour : a.hours) {
    double sum = 0;
    for (const TierHour& tier : hour.of[resource]) sum += tier.limit;
    any |= sum > 0;
    limits.push_back({static_cast<double>(hour.start_s), InUnits(resource, sum)});
  }
  if (any) chart.AddLine({"owners' limits", "#1d2733", SvgLine::kDashed, std::move(limits)});
  return chart.Render();
}

std::string ArrivalChart(const TraceAnalysis& a) {
  SvgChart chart("time", "new jobs an hour");
  chart.SetTime();
  std::vector<SvgPoint> points;
  for (const AnalysisHour& h : a.hours)
    points.push_back({static_cast<double>(h.start_s), static_cast<double>(h.new_jobs)});
  chart.AddLine({"new jobs", kResourceColours[0], SvgLine::kSolid, std::move(points)});
  return chart.Render();
}

std::string TierTable(const TraceAnalysis& a) {
  std::string out =
      "<table><tr><th>tier</th><th>jobs</th><th>CPU used, cores</th><th>limits</th><th>slack</th>"
      "<th>memory used, GiB</th><th>limits</th><th>slack</th></tr>";
  for (size_t tier = 0; tier < kNumTraceTiers; ++tier) {
    if (a.tiers[0][tier].jobs == 0) continue;
    StrAppend(&out, "<tr><td>", a.has_priorities ? Name(static_cast<TraceTier>(tier)) : "all", "</td><td>",
              a.tiers[0][tier].jobs, "</td>");
    for (size_t r = 0; r < 2; ++r) {
      const TierSummary& t = a.tiers[r][tier];
      StrAppend(&out, "<td>", Number(InUnits(r, t.usage)), "</td><td>",
                t.limit > 0 ? Number(InUnits(r, t.limit)) : "-", "</td><td>",
                t.limit > 0 ? Percent(t.slack()) : "-", "</td>");
    }
    out += "</tr>";
  }
  return out + "</table>";
}

std::string WaitTable(const TraceAnalysis& a) {
  std::string out =
      "<table><tr><th>mean wait at half load, in mean service times</th><th>CPU</th><th>memory</th></tr>";
  const auto row = [&](std::string_view name, auto wait) {
    StrAppend(&out, "<tr><td>", name, "</td><td>", Number(wait(a.sizes[0])), "</td><td>",
              Number(wait(a.sizes[1])), "</td></tr>");
  };
  row("all jobs in one queue",
      [](const SizeDistribution& d) { return MeanWait(0.5, d.squared_coefficient); });
  row("99 % of jobs, the largest 1 % in a queue of their own, in mean times of the 99 %",
      [](const SizeDistribution& d) { return MeanWait(0.5, d.others.squared_coefficient()); });
  return out + "</table>";
}

std::string UsageSections(const TraceAnalysis& a) {
  std::string out =
      StrCat("<p>", a.jobs, " jobs over ", a.hours.size(), " hours with usage. Times are UTC.</p>");
  out += "<h2>How unequal jobs are</h2>";
  StrAppend(&out, TailChart(a), SizesTable(a));
  out +=
      "<p class=muted>Published: Tirmazi et al., EuroSys 2020 (of 2019, eight cells of Google's; of 2011, "
      "one). Only "
      "what has no unit can be compared.</p>";
  StrAppend(&out, ComparisonTable(a));
  StrAppend(&out, "<p>The correlation of a job's CPU and memory is ", Number(a.correlation),
            " <span class=muted>(published for 2019: 0.97)</span>.</p>");
  out += "<h2>What isolating the largest would do</h2>";
  out += WaitTable(a);
  for (size_t r = 0; r < 2; ++r) {
    const std::string chart = TierChart(a, r);
    if (chart.empty()) continue;
    StrAppend(&out, "<h2>", r == 0 ? "CPU" : "Memory", a.has_priorities ? " by tier" : " over time", "</h2>",
              chart);
  }
  out += TierTable(a);
  out += "<h2>Jobs that appear</h2>";
  if (a.arrivals.count() > 0) {
    StrAppend(
        &out, "<p>From the second day on, ", Number(a.arrivals.mean()), " new jobs an hour (median ",
        Number(a.median_arrivals),
        ") <span class=muted>(published submissions of 2019: mean 3,360, median 3,309 in a cell of 12,000 "
        "machines; of 2011: 964 and 885)</span>.</p>",
        ArrivalChart(a));
  } else {
    out += "<p>The trace has less than two days.</p>";
  }
  return out;
}

}  // namespace

std::string AnalysisPage(std::string_view title, const TraceAnalysis* usage, const EventsReport* events) {
  return StrCat(StaticPageHead(title), usage != nullptr ? UsageSections(*usage) : "",
                events != nullptr ? EventsSections(*events) : "", "</html>\n");
}

}  // namespace taut::tools
