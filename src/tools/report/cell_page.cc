#include "tools/report/cell_page.h"

#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/strings.h"

namespace taut::tools {
namespace {

// Returns the quantile `q` of the delays of `of` jobs. Jobs without a delay count as infinitely late, so the
// result is "never" if too few jobs have a delay.
FigureValue Seconds(std::vector<float>& values, uint64_t of, double q) {
  if (of == 0) return {};
  const std::optional<double> value = brain::DelayQuantile(values, of, q);
  return value.has_value() ? FigureValue(*value) : FigureValue("never");
}
FigureValue Whole(uint64_t n) { return static_cast<double>(n); }
std::string NameOf(size_t tier) { return std::string(Name(static_cast<brain::CellTier>(tier))); }

template <typename Visit>
void ForEachTierOf(brain::CellTotals& totals, const Visit& visit) {
  for (size_t t = brain::kCellTiers; t-- > 0;) {
    if (totals.tiers[t].jobs > 0) visit(t, totals.tiers[t]);
  }
}

DocumentTable TierTable(brain::CellTotals& totals) {
  DocumentTable out{{{"tier"},
                     {"jobs", CountForm()},
                     {"tasks", CountForm()},
                     {"first task, p50", SecondsForm()},
                     {"first task, p90", SecondsForm()},
                     {"first task, p99", SecondsForm()},
                     {"all tasks, p50", SecondsForm()},
                     {"all tasks, p99", SecondsForm()},
                     {"again after an eviction, p50", SecondsForm()},
                     {"again after an eviction, p99", SecondsForm()},
                     {"work lost", ShareForm(2)},
                     {"pending at the end", CountForm("tasks")}},
                    {}};
  ForEachTierOf(totals, [&](size_t tier, brain::CellTierTotals& t) {
    const uint64_t jobs = t.measured_jobs, evicted = t.all_evictions();
    out.rows.push_back({NameOf(tier), Whole(t.jobs), Whole(t.tasks), Seconds(t.first_s, jobs, 0.5),
                        Seconds(t.first_s, jobs, 0.9), Seconds(t.first_s, jobs, 0.99),
                        Seconds(t.all_s, jobs, 0.5), Seconds(t.all_s, jobs, 0.99),
                        Seconds(t.again_s, evicted, 0.5), Seconds(t.again_s, evicted, 0.99), t.lost_share(),
                        Whole(t.pending)});
  });
  return out;
}

DocumentTable EvictionTable(brain::CellTotals& totals) {
  const Form rate = NumberForm("a task-week");
  DocumentTable out{{{"tier"}}, {}};
  for (size_t c = 0; c < brain::kEvictionCauses; ++c)
    out.columns.push_back({std::string(Name(static_cast<brain::EvictionCause>(c))), rate});
  out.columns.push_back({"all", rate});
  out.columns.push_back({"all", CountForm("evictions")});
  ForEachTierOf(totals, [&](size_t tier, brain::CellTierTotals& t) {
    std::vector<FigureValue>& row = out.rows.emplace_back();
    row.emplace_back(NameOf(tier));
    for (size_t c = 0; c < brain::kEvictionCauses; ++c)
      row.emplace_back(t.evictions_per_week(static_cast<brain::EvictionCause>(c)));
    row.emplace_back(t.evictions_per_week());
    row.push_back(Whole(t.all_evictions()));
  });
  return out;
}

// Returns a chart with one line per tier: the share of jobs whose delay has ended, by time since the submission.
DocumentChart DelayChart(std::string title, brain::CellTotals& totals,
                         std::vector<float> brain::CellTierTotals::*delays) {
  DocumentChart chart{std::move(title),
                      {"time since the job was submitted", SecondsForm(), true},
                      {"share of the jobs", ShareForm()}};
  ForEachTierOf(totals, [&](size_t tier, brain::CellTierTotals& t) {
    ChartSeries& line = chart.series.emplace_back(ChartSeries{NameOf(tier)});
    for (const brain::DelayPoint& p : brain::DelayCdf(t.*delays, t.measured_jobs))
      line.Add(p.seconds, p.share);
  });
  return chart;
}

constexpr std::string_view kHoursAxis = "hours since the start";
double MiddleOf(size_t hour) { return static_cast<double>(hour) + 0.5; }

using HourAmounts = std::array<double, brain::kMaxCellResources> brain::CellHour::*;

DocumentChart FillChart(const brain::CellTotals& totals, const brain::CellResource& resource, size_t r) {
  const std::string name = resource.name == "cpu" ? "CPU" : resource.name;
  DocumentChart chart{StrCat(name, " in service"),
                      {std::string(kHoursAxis), NumberForm("h")},
                      {StrCat("share of the ", name), ShareForm()}};
  const auto add = [&](std::string_view name, ChartLine kind, std::initializer_list<HourAmounts> sum) {
    ChartSeries& out = chart.series.emplace_back(ChartSeries{std::string(name), kind});
    for (size_t h = 0; h < totals.hours.size(); ++h) {
      const brain::CellHour& hour = totals.hours[h];
      double amount = 0;
      for (const HourAmounts part : sum) amount += (hour.*part)[r];
      if (hour.capacity[r] > 0) out.Add(MiddleOf(h), amount / hour.capacity[r]);
    }
  };
  using Hour = brain::CellHour;
  add("reserved by production", ChartLine::kStacked, {&Hour::production_reserved});
  add("reserved by others", ChartLine::kStacked, {&Hour::other_reserved});
  add("limits of production", ChartLine::kSolid, {&Hour::production_limit});
  add("all limits", ChartLine::kDashed, {&Hour::production_limit, &Hour::other_limit});
  return chart;
}

DocumentChart TasksChart(const brain::CellTotals& totals) {
  DocumentChart chart{"Tasks", {std::string(kHoursAxis), NumberForm("h")}, {"tasks", CountForm("tasks")}};
  ChartSeries running{"running", ChartLine::kStacked}, pending{"pending", ChartLine::kStacked};
  for (size_t h = 0; h < totals.hours.size(); ++h) {
    running.Add(MiddleOf(h), totals.hours[h].running);
    pending.Add(MiddleOf(h), totals.hours[h].pending);
  }
  chart.series = {std::move(running), std::move(pending)};
  return chart;
}

DocumentTable RunsTable(std::vector<CellRun>& runs) {
  DocumentTable out{{{"setup"},
                     {"tier"},
                     {"first task, p50", SecondsForm()},
                     {"first task, p99", SecondsForm()},
                     {"all tasks, p99", SecondsForm()},
                     {"evictions", NumberForm("a task-week")},
                     {"work lost", ShareForm(2)},
                     {"pending at the end", CountForm("tasks")}},
                    {}};
  for (CellRun& run : runs) {
    ForEachTierOf(run.totals, [&](size_t tier, brain::CellTierTotals& t) {
      const uint64_t jobs = t.measured_jobs;
      out.rows.push_back({std::string(run.setup->name), NameOf(tier), Seconds(t.first_s, jobs, 0.5),
                          Seconds(t.first_s, jobs, 0.99), Seconds(t.all_s, jobs, 0.99),
                          t.evictions_per_week(), t.lost_share(), Whole(t.pending)});
    });
  }
  return out;
}

// Returns the answer: waiting times of the highest tier's jobs, and the number of pending tasks.
Sentence AnswerOf(brain::CellTotals& totals) {
  Sentence out;
  uint64_t pending = 0;
  ForEachTierOf(totals, [&](size_t tier, brain::CellTierTotals& t) {
    pending += t.pending;
    if (!out.empty() || t.measured_jobs == 0) return;
    const FigureValue half = Seconds(t.first_s, t.measured_jobs, 0.5),
                      most = Seconds(t.first_s, t.measured_jobs, 0.99);
    if (std::holds_alternative<std::string>(half)) {
      out = {StrCat("More than half of the ", NameOf(tier), " jobs never start; ")};
    } else {
      out = {StrCat("Half of the ", NameOf(tier), " jobs run their first task within "),
             Figure{half, SecondsForm()}};
      if (std::holds_alternative<std::string>(most)) {
        out.emplace_back(", more than 1 % never do; ");
      } else {
        out.insert(out.end(), {", 99 % within ", Figure{most, SecondsForm()}, "; "});
      }
    }
  });
  out.emplace_back(Figure{Whole(pending), CountForm(pending == 1 ? "task" : "tasks")});
  out.emplace_back(pending == 1 ? " is pending at the end." : " are pending at the end.");
  return out;
}

DocumentSection PendingSection(const std::vector<brain::CellPending>& pending) {
  DocumentTable table{{{"job"}, {"tasks", CountForm()}, {"why"}}, {}};
  for (const brain::CellPending& p : pending)
    table.rows.push_back({p.job, static_cast<double>(p.tasks), p.why});
  DocumentSection out{"Pending at the end"};
  out.Add(std::move(table));
  return out;
}

}  // namespace

Document CellDocument(const CellPage& page, std::vector<CellRun>& runs) {
  brain::CellTotals& base = runs.front().totals;
  Document out{"taut simulate", page.title};
  out.answer = AnswerOf(base);
  out.AddNotes(page.conditions);
  DocumentSection tiers{"Tiers"};
  tiers.Add(TierTable(base));
  DocumentSection evictions{"Evictions by cause"};
  evictions.Add(EvictionTable(base));
  DocumentSection delays{"Until a job runs"};
  delays.Add(DelayChart("Share of the jobs whose first task has run", base, &brain::CellTierTotals::first_s));
  delays.Add(DelayChart("Share of the jobs whose tasks have all run", base, &brain::CellTierTotals::all_s));
  DocumentSection fill{"How full the cell is"};
  for (size_t r = 0; r < page.resources.size(); ++r) fill.Add(FillChart(base, page.resources[r], r));
  fill.Add(TasksChart(base));
  if (runs.size() > 1) {
    DocumentSection& side_by_side = out.sections.emplace_back(DocumentSection{"Side by side"});
    side_by_side.Add(RunsTable(runs));
  }
  for (DocumentSection* const section : {&tiers, &evictions, &delays, &fill}) {
    if (!section->parts.empty()) out.sections.push_back(std::move(*section));
  }
  if (!base.pending.empty()) out.sections.push_back(PendingSection(base.pending));
  return out;
}

}  // namespace taut::tools
