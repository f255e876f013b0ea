#include "tools/report/events_sections.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "brain/cell/cell_totals.h"
#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "common/model/units.h"

namespace taut::tools {
namespace {

template <typename Visit>
void ForEachEventTier(const brain::EventFigures& figures, const Visit& visit) {
  for (size_t t = kTiers; t-- > 0;) {
    if (figures.tiers[t].jobs > 0) visit(std::string(Name(static_cast<Tier>(t))), figures.tiers[t]);
  }
}

// Returns the delay within which `share` of the jobs started; "never" if fewer jobs started.
FigureValue Delayed(const brain::TierEvents& tier, double share) {
  std::vector<float> values = tier.delays_s;
  const uint64_t of = values.size() + tier.never_started;
  if (of == 0) return {};
  const std::optional<double> delay = brain::DelayQuantile(values, of, share);
  return delay.has_value() ? FigureValue(*delay) : FigureValue("never");
}

DocumentTable EventTierTable(const brain::EventFigures& figures) {
  DocumentTable out{{{"tier"},
                     {"jobs", CountForm()},
                     {"tasks", CountForm()},
                     {"starts", CountForm()},
                     {"delay, p50", SecondsForm()},
                     {"delay, p90", SecondsForm()},
                     {"delay, p99", SecondsForm()}},
                    {}};
  for (size_t e = 0; e < brain::kTaskEnds; ++e)
    out.columns.push_back({std::string(brain::EndName(e)), CountForm("tasks")});
  out.columns.push_back({"CPU requested", NumberForm("core-hours")});
  out.columns.push_back({"memory requested", NumberForm("GiB-hours")});
  ForEachEventTier(figures, [&](std::string name, const brain::TierEvents& tier) {
    std::vector<FigureValue>& row = out.rows.emplace_back();
    row.emplace_back(std::move(name));
    for (const uint64_t n : {tier.jobs, tier.tasks, tier.starts}) row.emplace_back(static_cast<double>(n));
    for (const double share : {0.5, 0.9, 0.99}) row.push_back(Delayed(tier, share));
    for (const uint64_t ends : tier.ends) row.emplace_back(static_cast<double>(ends));
    row.emplace_back(tier.cpu_hours);
    row.emplace_back(tier.gib_hours);
  });
  return out;
}

DocumentChart EventDelayChart(const brain::EventFigures& figures) {
  DocumentChart chart{"Share of the jobs that have started",
                      {"time from when a job could be scheduled to its first start", SecondsForm(), true},
                      {"share of the jobs", ShareForm()}};
  ForEachEventTier(figures, [&](std::string name, const brain::TierEvents& tier) {
    std::vector<float> values = tier.delays_s;
    ChartSeries line{std::move(name)};
    for (const brain::DelayPoint& p : brain::DelayCdf(values, values.size() + tier.never_started))
      line.Add(p.seconds, p.share);
    // There is no curve if all delays are shorter than the first value of the scale.
    if (line.x.size() > 1) chart.series.push_back(std::move(line));
  });
  return chart;
}

DocumentChart SubmissionChart(
    const brain::EventFigures& figures, std::string what,
    std::initializer_list<std::pair<std::string_view, uint32_t brain::EventHour::*>> lines) {
  constexpr int64_t kMostHours = 100'000;  // more than eleven years; a longer trace contains a wrong time
  DocumentChart chart{
      "", {"hours since the beginning of the trace", CountForm("h")}, {what, CountForm(what)}};
  if (figures.hours.empty()) return chart;
  const int64_t first = figures.hours.begin()->first, last = figures.hours.rbegin()->first;
  if (last - first > kMostHours) return chart;
  for (const auto& [name, count] : lines) {
    ChartSeries& line = chart.series.emplace_back(ChartSeries{std::string(name)});
    for (int64_t hour = first; hour <= last; ++hour) {
      const auto at = figures.hours.find(hour);
      const uint32_t value = at == figures.hours.end() ? 0 : at->second.*count;
      line.Add(static_cast<double>(hour), static_cast<double>(value));
    }
  }
  return chart;
}

// Returns a table of the figures that are shares if `shares`, else a table of all other figures. There are two
// tables, because all cells of a column have one format.
DocumentTable ComparedTable(const std::vector<ComparedFigure>& compared, bool shares) {
  const Form form = shares ? ShareForm(1) : NumberForm();
  DocumentTable out{
      {{shares ? "share" : "figure"}, {"here", form}, {"Google 2011", form}, {"Google 2019", form}}, {}};
  const auto value = [](const std::optional<double>& of) {
    return of.has_value() ? FigureValue(*of) : FigureValue();
  };
  for (const ComparedFigure& c : compared) {
    if (c.is_share == shares)
      out.rows.push_back({std::string(c.name), value(c.own), value(c.of_2011), value(c.of_2019)});
  }
  return out;
}

DocumentSection ShapeSection(const std::vector<EventsReport::Shape>& shapes) {
  constexpr size_t kMost = 24;
  DocumentTable table{
      {{"machines", CountForm()}, {"CPU", NumberForm("cores")}, {"memory", NumberForm("GiB")}}, {}};
  for (size_t i = 0; i < std::min(shapes.size(), kMost); ++i)
    table.rows.push_back(
        {static_cast<double>(shapes[i].machines), shapes[i].cpu_cores, shapes[i].memory_bytes / kGiB});
  DocumentSection out{"Machine shapes"};
  out.Add(std::move(table));
  if (shapes.size() > kMost) out.Add(StrCat("And ", shapes.size() - kMost, " other shapes."));
  return out;
}

// Returns a sentence about the highest tier that has delays.
Sentence EventsAnswer(const brain::EventFigures& figures) {
  Sentence out;
  ForEachEventTier(figures, [&](const std::string& name, const brain::TierEvents& tier) {
    if (!out.empty() || tier.delays_s.empty()) return;
    out = {StrCat("Half of the ", name, " jobs start within "), Figure{Delayed(tier, 0.5), SecondsForm()},
           ", and 99 % within ", Figure{Delayed(tier, 0.99), SecondsForm()}, "."};
    if (std::holds_alternative<std::string>(Delayed(tier, 0.99)))
      out = {StrCat("Half of the ", name, " jobs start within "), Figure{Delayed(tier, 0.5), SecondsForm()},
             "; more than 1 % never start."};
    if (std::holds_alternative<std::string>(Delayed(tier, 0.5)))
      out = {StrCat("More than half of the ", name, " jobs never start.")};
  });
  if (out.empty()) out = {Figure{static_cast<double>(figures.jobs()), CountForm("jobs")}, " have events."};
  return out;
}

}  // namespace

void AddEvents(const EventsReport& report, Document& out) {
  const brain::EventFigures& figures = *report.figures;
  out.notes.push_back(StrCat(FormatCount(figures.jobs()), " jobs have events."));
  if (out.answer.empty()) out.answer = EventsAnswer(figures);
  if (figures.jobs() > 0) {
    DocumentSection& delays = out.sections.emplace_back(DocumentSection{"Scheduling delay by tier"});
    delays.Add(
        "Of the jobs that came after the beginning of the trace and had a submission of their own; jobs that "
        "never "
        "started count as longer than all.");
    delays.Add(EventDelayChart(figures));
    delays.Add(EventTierTable(figures));
  }
  DocumentSection submissions{"Submissions"};
  submissions.Add(SubmissionChart(figures, "jobs an hour", {{"jobs submitted", &brain::EventHour::jobs}}));
  submissions.Add(SubmissionChart(
      figures, "tasks an hour",
      {{"new tasks", &brain::EventHour::new_tasks}, {"submitted again", &brain::EventHour::tasks_again}}));
  if (!submissions.parts.empty()) out.sections.push_back(std::move(submissions));
  DocumentSection& published =
      out.sections.emplace_back(DocumentSection{"Events beside what is published of Google's cells"});
  published.Add("Published: Tirmazi et al., EuroSys 2020 (of 2019, eight cells of Google's; of 2011, one).");
  for (const bool shares : {false, true}) {
    if (DocumentTable table = ComparedTable(report.compared, shares); !table.rows.empty())
      published.Add(std::move(table));
  }
  if (!report.shapes.empty()) out.sections.push_back(ShapeSection(report.shapes));
}

}  // namespace taut::tools
