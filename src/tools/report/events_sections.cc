#include "tools/report/events_sections.h"

#include <algorithm>
#include <array>
#include <utility>

#include "brain/cell/cell_totals.h"
#include "common/base/byte_units.h"
#include "common/base/html_text.h"
#include "common/base/strings.h"
#include "fmt/format.h"
#include "tools/report/svg_chart.h"

namespace taut::tools {
namespace {

constexpr std::array<std::string_view, kTiers> kEventTierColours = {"#b8c4d0", "#e0a458", "#7fb3d5",
                                                                    "#1259b8", "#6a4c93"};

std::string Figure(const std::optional<double>& value, bool is_share) {
  if (!value.has_value()) return "-";
  if (is_share) return fmt::format("{:.1f} %", 100 * *value);
  return *value >= 1000 ? fmt::format("{:.0f}", *value) : fmt::format("{:.3g}", *value);
}

template <typename Visit>
void ForEachEventTier(const brain::EventFigures& figures, const Visit& visit) {
  for (size_t t = kTiers; t-- > 0;) {
    if (figures.tiers[t].jobs > 0) visit(Name(static_cast<Tier>(t)), t, figures.tiers[t]);
  }
}

std::string Delayed(const brain::TierEvents& tier, double share) {
  std::vector<float> values = tier.delays_s;
  const uint64_t of = values.size() + tier.never_started;
  if (of == 0) return "-";
  const std::optional<double> delay = brain::DelayQuantile(values, of, share);
  return delay.has_value() ? Figure(delay, false) + " s" : "never";
}

std::string EventTierTable(const brain::EventFigures& figures) {
  std::string out =
      "<table><tr><th>tier</th><th>jobs</th><th>tasks</th><th>starts</th><th>delay p50</th><th>p90</th>"
      "<th>p99</th>";
  for (size_t e = 0; e < brain::kTaskEnds; ++e)
    StrAppend(&out, "<th>", EscapedHtml(brain::EndName(e)), "</th>");
  out += "<th>core-hours asked for</th><th>GiB-hours</th></tr>";
  ForEachEventTier(figures, [&](std::string_view name, size_t, const brain::TierEvents& tier) {
    StrAppend(&out, "<tr><td>", EscapedHtml(name), "</td><td>", tier.jobs, "</td><td>", tier.tasks,
              "</td><td>", tier.starts, "</td>");
    for (const double share : {0.5, 0.9, 0.99}) StrAppend(&out, "<td>", Delayed(tier, share), "</td>");
    for (const uint64_t ends : tier.ends) StrAppend(&out, "<td>", ends, "</td>");
    StrAppend(&out, "<td>", Figure(tier.cpu_hours, false), "</td><td>", Figure(tier.gib_hours, false),
              "</td></tr>");
  });
  return out + "</table>";
}

std::string EventDelayChart(const brain::EventFigures& figures) {
  SvgChart chart("seconds from when a job could be scheduled to its first start", "share of the jobs");
  chart.SetLogarithmicX();
  ForEachEventTier(figures, [&](std::string_view name, size_t t, const brain::TierEvents& tier) {
    std::vector<float> values = tier.delays_s;
    SvgSeries line{std::string(name), kEventTierColours[t], SvgLine::kSolid, {}};
    for (const brain::DelayPoint& p : brain::DelayCdf(values, values.size() + tier.never_started))
      line.points.push_back({p.seconds, p.share});
    // Delays that are all shorter than the scale begins are no curve.
    if (line.points.size() > 1) chart.AddLine(std::move(line));
  });
  return chart.Render();
}

std::string SubmissionChart(
    const brain::EventFigures& figures, std::string_view what,
    std::initializer_list<std::pair<std::string_view, uint32_t brain::EventHour::*>> lines) {
  constexpr int64_t kMostHours = 100'000;  // more than eleven years: some time is wrong
  SvgChart chart("hours since the beginning of the trace", what);
  if (figures.hours.empty()) return "";
  const int64_t first = figures.hours.begin()->first, last = figures.hours.rbegin()->first;
  if (last - first > kMostHours) return "";
  constexpr std::string_view kColours[] = {"#1259b8", "#b3541e"};
  size_t colour = 0;
  for (const auto& [name, count] : lines) {
    SvgSeries line{std::string(name), kColours[colour++ % std::size(kColours)], SvgLine::kSolid, {}};
    for (int64_t hour = first; hour <= last; ++hour) {
      const auto at = figures.hours.find(hour);
      const uint32_t value = at == figures.hours.end() ? 0 : at->second.*count;
      line.points.push_back({static_cast<double>(hour), static_cast<double>(value)});
    }
    chart.AddLine(std::move(line));
  }
  return chart.Render();
}

std::string ComparedTable(const std::vector<ComparedFigure>& compared) {
  std::string out = "<table><tr><th></th><th>here</th><th>Google 2011</th><th>Google 2019</th></tr>";
  for (const ComparedFigure& c : compared)
    StrAppend(&out, "<tr><td>", EscapedHtml(c.name), "</td><td>", Figure(c.own, c.is_share),
              "</td><td class=published>", Figure(c.of_2011, c.is_share), "</td><td class=published>",
              Figure(c.of_2019, c.is_share), "</td></tr>");
  return out + "</table>";
}

std::string ShapeTable(const std::vector<EventsReport::Shape>& shapes) {
  constexpr size_t kMost = 24;
  std::string out = "<table><tr><th>machines</th><th>cores</th><th>GiB</th></tr>";
  for (size_t i = 0; i < std::min(shapes.size(), kMost); ++i)
    StrAppend(&out, "<tr><td>", shapes[i].machines, "</td><td>", fmt::format("{:.4g}", shapes[i].cpu_cores),
              "</td><td>", fmt::format("{:.4g}", shapes[i].memory_bytes / kGiB), "</td></tr>");
  out += "</table>";
  if (shapes.size() > kMost) StrAppend(&out, "<p>And ", shapes.size() - kMost, " other shapes.</p>");
  return out;
}

}  // namespace

std::string EventsSections(const EventsReport& report) {
  const brain::EventFigures& figures = *report.figures;
  std::string out = StrCat("<p>", figures.jobs(), " jobs have events.</p>");
  if (figures.jobs() > 0)
    StrAppend(
        &out, "<h2>Scheduling delay by tier</h2>", EventDelayChart(figures), EventTierTable(figures),
        "<p class=muted>Of the jobs that came after the beginning of the trace and had a submission of their "
        "own; jobs that never started count as longer than all.</p>");
  const std::string jobs =
      SubmissionChart(figures, "jobs submitted an hour", {{"jobs", &brain::EventHour::jobs}});
  if (!jobs.empty())
    StrAppend(
        &out, "<h2>Submissions</h2>", jobs,
        SubmissionChart(figures, "tasks submitted an hour",
                        {{"new", &brain::EventHour::new_tasks}, {"again", &brain::EventHour::tasks_again}}));
  StrAppend(
      &out, "<h2>Beside what is published</h2>", ComparedTable(report.compared),
      "<p class=muted>Published: Tirmazi et al., EuroSys 2020 (of 2019, eight cells of Google's; of 2011, "
      "one).</p>");
  if (!report.shapes.empty()) StrAppend(&out, "<h2>Machine shapes</h2>", ShapeTable(report.shapes));
  return out;
}

}  // namespace taut::tools
