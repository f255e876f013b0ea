#include "tools/report/analysis_page.h"

#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/sim/published.h"

namespace taut::tools {
namespace {

constexpr std::string_view kAmounts[] = {"cores", "GiB"};
constexpr std::string_view kUsageHours[] = {"core-hours", "GiB-hours"};
constexpr std::string_view kResourceNames[] = {"CPU", "memory"};

double InUnits(size_t resource, double amount) { return resource == 0 ? amount : amount / kGiB; }

DocumentTable SizesTable(const TraceAnalysis& a) {
  DocumentTable out{
      {{"of the jobs' usage"}, {"CPU", NumberForm("core-hours")}, {"memory", NumberForm("GiB-hours")}}, {}};
  const auto row = [&](std::string_view name, auto value) {
    out.rows.push_back({std::string(name), value(a.sizes[0]), value(a.sizes[1])});
  };
  row("total", [](const SizeDistribution& d) { return d.total; });
  row("median", [](const SizeDistribution& d) { return d.median; });
  row("mean", [](const SizeDistribution& d) { return d.mean; });
  row("standard deviation", [](const SizeDistribution& d) { return std::sqrt(d.variance); });
  row("90th percentile", [](const SizeDistribution& d) { return d.p90; });
  row("99th percentile", [](const SizeDistribution& d) { return d.p99; });
  row("99.9th percentile", [](const SizeDistribution& d) { return d.p999; });
  row("largest", [](const SizeDistribution& d) { return d.max; });
  return out;
}

DocumentTable ComparisonTable(const TraceAnalysis& a) {
  DocumentTable out{{{"measure"},
                     {"CPU", NumberForm()},
                     {"CPU, Google 2011", NumberForm()},
                     {"CPU, Google 2019", NumberForm()},
                     {"memory", NumberForm()},
                     {"memory, Google 2011", NumberForm()},
                     {"memory, Google 2019", NumberForm()}},
                    {}};
  const std::span<const PublishedSize> published = PublishedSizes();
  for (size_t i = 0; i < published.size(); ++i) {
    const PublishedSize& p = published[i];
    std::vector<FigureValue>& row = out.rows.emplace_back();
    row.emplace_back(std::string(p.measure));
    for (size_t r = 0; r < 2; ++r) {
      const SizeDistribution& d = a.sizes[r];
      const bool fitted = d.pareto.points > 0;
      const double values[] = {d.top_1_percent, d.top_0_1_percent,  d.squared_coefficient,
                               d.pareto.alpha,  d.pareto.r_squared, MeanWait(0.5, d.squared_coefficient)};
      const bool is_fit = i == 3 || i == 4;
      row.push_back(is_fit && !fitted ? FigureValue() : values[i]);
      row.emplace_back(r == 0 ? p.cpu_2011 : p.memory_2011);
      row.emplace_back(r == 0 ? p.cpu_2019 : p.memory_2019);
    }
  }
  return out;
}

DocumentChart TailChart(const TraceAnalysis& a) {
  DocumentChart chart{"Share of the jobs that use more than this",
                      {"usage of a job, core-hours or GiB-hours", NumberForm(), true},
                      {"share of the jobs", ShareForm(), true}};
  for (size_t r = 0; r < 2; ++r) {
    ChartSeries& line =
        chart.series.emplace_back(ChartSeries{StrCat(kResourceNames[r], ", ", kUsageHours[r])});
    for (const TailPoint& p : a.tails[r]) line.Add(p.value, p.share);
  }
  for (size_t r = 0; r < 2; ++r) {
    const ParetoFit& fit = a.sizes[r].pareto;
    if (fit.points == 0) continue;
    // The Pareto line is fitted to the largest tenth of the values, so the line starts at a share of 0.1.
    ChartSeries& line = chart.series.emplace_back(ChartSeries{
        fmt::format("{}, Pareto with alpha {:.2f}", kResourceNames[r], fit.alpha), ChartLine::kDashed});
    line.Add(fit.from, 0.1);
    line.Add(fit.to, 0.1 * std::pow(fit.to / fit.from, -fit.alpha));
  }
  return chart;
}

DocumentChart TierChart(const TraceAnalysis& a, size_t resource) {
  DocumentChart chart{std::string(),
                      {"time", {FigureForm::kTime}},
                      {std::string(kResourceNames[resource]), NumberForm(std::string(kAmounts[resource]))}};
  for (size_t tier = 0; tier < kNumTraceTiers; ++tier) {
    if (a.tiers[resource][tier].usage <= 0) continue;
    ChartSeries& band = chart.series.emplace_back(ChartSeries{
        a.has_priorities ? std::string(Name(static_cast<TraceTier>(tier))) : "usage", ChartLine::kStacked});
    for (const AnalysisHour& hour : a.hours)
      band.Add(static_cast<double>(hour.start_s), InUnits(resource, hour.of[resource][tier].usage));
  }
  ChartSeries limits{"owners' limits", ChartLine::kDashed};
  bool any = false;
  for (const AnalysisHour& hour : a.hours) {
    double sum = 0;
    for (const TierHour& tier : hour.of[resource]) sum += tier.limit;
    any |= sum > 0;
    limits.Add(static_cast<double>(hour.start_s), InUnits(resource, sum));
  }
  if (any) chart.series.push_back(std::move(limits));
  return chart;
}

DocumentChart ArrivalChart(const TraceAnalysis& a) {
  DocumentChart chart{std::string(), {"time", {FigureForm::kTime}}, {"new jobs", CountForm("jobs an hour")}};
  ChartSeries& line = chart.series.emplace_back(ChartSeries{"new jobs"});
  for (const AnalysisHour& h : a.hours)
    line.Add(static_cast<double>(h.start_s), static_cast<double>(h.new_jobs));
  return chart;
}

DocumentTable TierTable(const TraceAnalysis& a) {
  DocumentTable out{{{"tier"}, {"jobs", CountForm()}}, {}};
  for (size_t r = 0; r < 2; ++r) {
    const std::string unit(kAmounts[r]);
    out.columns.push_back({StrCat(kResourceNames[r], " used"), NumberForm(unit)});
    out.columns.push_back({StrCat(kResourceNames[r], " limits"), NumberForm(unit)});
    out.columns.push_back({StrCat(kResourceNames[r], " slack"), ShareForm(1)});
  }
  for (size_t tier = 0; tier < kNumTraceTiers; ++tier) {
    if (a.tiers[0][tier].jobs == 0) continue;
    std::vector<FigureValue>& row = out.rows.emplace_back();
    row.emplace_back(std::string(a.has_priorities ? Name(static_cast<TraceTier>(tier)) : "all"));
    row.emplace_back(static_cast<double>(a.tiers[0][tier].jobs));
    for (size_t r = 0; r < 2; ++r) {
      const TierSummary& t = a.tiers[r][tier];
      row.emplace_back(InUnits(r, t.usage));
      row.push_back(t.limit > 0 ? FigureValue(InUnits(r, t.limit)) : FigureValue());
      row.push_back(t.limit > 0 ? FigureValue(t.slack()) : FigureValue());
    }
  }
  return out;
}

// Returns a table without rows if no limit is known.
DocumentTable PeakSlackTable(const TraceAnalysis& a) {
  DocumentTable out{{{"slack over a tenth of the hours"}, {"CPU", ShareForm(1)}, {"memory", ShareForm(1)}},
                    {}};
  const std::optional<PeakSlack> cpu = PeakSlackOf(a.hours, Resource::kCpu);
  const std::optional<PeakSlack> memory = PeakSlackOf(a.hours, Resource::kMemory);
  const auto row = [&](std::string_view name, double PeakSlack::*at) {
    const auto value = [at](const auto& s) { return s.has_value() ? FigureValue((*s).*at) : FigureValue(); };
    out.rows.push_back({std::string(name), value(cpu), value(memory)});
  };
  if (!cpu.has_value() && !memory.has_value()) return out;
  row("with the highest usage", &PeakSlack::peak);
  row("with the lowest usage", &PeakSlack::trough);
  return out;
}

DocumentTable WaitTable(const TraceAnalysis& a) {
  const Form times = NumberForm("service times");
  DocumentTable out{{{"mean wait at half load"}, {"CPU", times}, {"memory", times}}, {}};
  const auto row = [&](std::string_view name, auto wait) {
    out.rows.push_back({std::string(name), wait(a.sizes[0]), wait(a.sizes[1])});
  };
  row("all jobs in one queue",
      [](const SizeDistribution& d) { return MeanWait(0.5, d.squared_coefficient); });
  row("99 % of jobs, the largest 1 % in a queue of their own, in mean times of the 99 %",
      [](const SizeDistribution& d) { return MeanWait(0.5, d.others.squared_coefficient()); });
  return out;
}

DocumentSection ArrivalSection(const TraceAnalysis& a) {
  DocumentSection out{"Jobs that appear"};
  if (a.arrivals.hours == 0) {
    out.Add("The trace has less than two days.");
    return out;
  }
  DocumentTable rates{{{"new jobs, from the second day on"},
                       {"mean", NumberForm("an hour")},
                       {"median", NumberForm("an hour")}},
                      {{"this trace", a.arrivals.mean, a.arrivals.median},
                       {"Google 2019, submissions in a cell of 12,000 machines", 3360.0, 3309.0},
                       {"Google 2011, the same", 964.0, 885.0}}};
  out.Add(std::move(rates));
  out.Add(ArrivalChart(a));
  return out;
}

Sentence UsageAnswer(const TraceAnalysis& a) {
  const auto share = [](double of) { return Figure{of, ShareForm()}; };
  return {"The largest 1 % of ",
          Figure{static_cast<double>(a.jobs), CountForm(a.jobs == 1 ? "job" : "jobs")},
          " use ",
          share(a.sizes[0].top_1_percent),
          " of the CPU and ",
          share(a.sizes[1].top_1_percent),
          " of the memory."};
}

void AddUsage(const TraceAnalysis& a, Document& out) {
  out.clock_is_unix = !a.hours.empty() && LooksLikeUnixTime(a.hours.front().start_s);
  out.answer = UsageAnswer(a);
  out.notes.push_back(StrCat(FormatCount(a.jobs), a.jobs == 1 ? " job has" : " jobs have", " usage, over ",
                             FormatCount(a.hours.size()), " hours."));
  DocumentSection sizes{"How unequal jobs are"};
  sizes.Add(TailChart(a));
  sizes.Add(SizesTable(a));
  DocumentSection published{"Beside what is published of Google's cells"};
  published.Add(
      "Published: Tirmazi et al., EuroSys 2020 (of 2019, eight cells of Google's; of 2011, one). Only "
      "measures "
      "without a unit can be compared.");
  published.Add(ComparisonTable(a));
  published.Add(fmt::format("The correlation of a job's CPU and memory is {:.2f}; published for 2019: 0.97.",
                            a.correlation));
  DocumentSection waits{"What isolating the largest jobs would do"};
  waits.Add(WaitTable(a));
  for (DocumentSection* const section : {&sizes, &published, &waits})
    out.sections.push_back(std::move(*section));
  for (size_t r = 0; r < 2; ++r) {
    DocumentSection over_time{
        StrCat(r == 0 ? "CPU" : "Memory", a.has_priorities ? " by tier" : " over time")};
    over_time.Add(TierChart(a, r));
    if (!over_time.parts.empty()) out.sections.push_back(std::move(over_time));
  }
  DocumentSection tiers{a.has_priorities ? "Usage and limits by tier" : "Usage and limits"};
  tiers.Add(TierTable(a));
  if (DocumentTable slack = PeakSlackTable(a); !slack.rows.empty()) tiers.Add(std::move(slack));
  out.sections.push_back(std::move(tiers));
  out.sections.push_back(ArrivalSection(a));
}

}  // namespace

Document AnalysisDocument(std::string_view title, const TraceAnalysis* usage, const EventsReport* events) {
  Document out{"taut analyze", std::string(title)};
  if (usage != nullptr) AddUsage(*usage, out);
  if (events != nullptr) AddEvents(*events, out);
  return out;
}

}  // namespace taut::tools
