#include "tools/cli/trace_events_text.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "brain/cell/cell_totals.h"
#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/terminal.h"
#include "tools/sim/published.h"

namespace taut::tools {
namespace {

using MaybeNumber = std::optional<double>;

std::string ShortNumber(double value) {
  if (value >= 999.5 && value < 1e15) return FormatCount(static_cast<uint64_t>(value + 0.5));
  return fmt::format("{:.3g}", value);
}
std::string OrDash(const MaybeNumber& value) { return value.has_value() ? ShortNumber(*value) : "-"; }
std::string ShareOrDash(const MaybeNumber& value) { return value.has_value() ? Percent(*value, 1) : "-"; }

MaybeNumber Ratio(double part, double whole) { return whole > 0 ? MaybeNumber(part / whole) : std::nullopt; }

struct Rates {
  MaybeNumber mean, median;  // submitted jobs per hour
  MaybeNumber again;         // resubmitted tasks per new task; the median counts only hours with a new task
};
double MedianOf(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}
// Returns the rates over all whole hours from the first to the last event, without events at the trace's
// beginning.
Rates RatesOf(const brain::EventFigures& f) {
  Rates out;
  if (f.last_us == 0) return out;
  const int64_t hour_us = 3600 * kMicrosPerSecond;
  const int64_t from = FloorDiv(f.first_us + hour_us - 1, hour_us), to = FloorDiv(f.last_us, hour_us);
  constexpr int64_t kMostHours = 1'000'000;  // more than a century, so some time must be wrong
  if (to - from > kMostHours) return out;
  std::vector<double> jobs, again;
  double sum = 0;
  for (int64_t hour = from; hour < to; ++hour) {
    const auto at = f.hours.find(hour);
    const brain::EventHour of = at != f.hours.end() ? at->second : brain::EventHour{};
    jobs.push_back(of.jobs);
    sum += of.jobs;
    if (of.new_tasks > 0) again.push_back(static_cast<double>(of.tasks_again) / of.new_tasks);
  }
  if (jobs.empty()) return out;
  out.mean = sum / static_cast<double>(jobs.size());
  out.median = MedianOf(jobs);
  if (!again.empty()) out.again = MedianOf(again);
  return out;
}

std::vector<ComparedFigure> Comparison(const LoadedCell& cell) {
  const brain::EventFigures& f = cell.events;
  const Rates rates = RatesOf(f);
  const PublishedEvents a = PublishedEvents2011(), b = PublishedEvents2019();
  const brain::EventFigures::AllocSets& allocs = f.allocs;
  const auto sets = static_cast<double>(allocs.sets);
  const auto if_any = [&](MaybeNumber value) { return allocs.sets > 0 ? value : std::nullopt; };
  return {
      {"jobs submitted an hour, mean", "jobs_an_hour_mean", rates.mean, a.jobs_an_hour_mean,
       b.jobs_an_hour_mean},
      {"jobs submitted an hour, median", "jobs_an_hour_median", rates.median, a.jobs_an_hour_median,
       b.jobs_an_hour_median},
      {"tasks submitted again, for each new one, median of hours", "tasks_again_a_new_one", rates.again,
       a.tasks_again_a_new_one, b.tasks_again_a_new_one},
      {"machine shapes", "machine_shapes",
       cell.shapes.empty() ? std::nullopt : MaybeNumber(static_cast<double>(cell.shapes.size())),
       a.machine_shapes, b.machine_shapes},
      {"alloc sets, of all collections", "alloc_collections",
       if_any(Ratio(sets, static_cast<double>(allocs.collections))), a.alloc_collections, b.alloc_collections,
       true},
      {"alloc sets, of the CPU asked for", "alloc_cpu",
       if_any(Ratio(allocs.cpu_hours, allocs.cpu_hours + allocs.others_cpu_hours)), a.alloc_cpu, b.alloc_cpu,
       true},
      {"alloc sets, of the memory asked for", "alloc_memory",
       if_any(Ratio(allocs.gib_hours, allocs.gib_hours + allocs.others_gib_hours)), a.alloc_memory,
       b.alloc_memory, true},
      {"alloc sets of production", "alloc_production",
       if_any(Ratio(static_cast<double>(allocs.production_sets), sets)), a.alloc_production,
       b.alloc_production, true},
  };
}

MaybeNumber Delay(const brain::TierEvents& tier, double q) {
  std::vector<float> values = tier.delays_s;
  if (values.empty()) return std::nullopt;
  return brain::DelayQuantile(values, values.size() + tier.never_started, q);
}
std::string DelayCell(const brain::TierEvents& tier, double q) {
  const MaybeNumber delay = Delay(tier, q);
  return delay.has_value() ? fmt::format("{:.3g} s", *delay) : "-";
}

std::string EventTierTable(const brain::EventFigures& f) {
  TextTable table({"tier", "jobs", "tasks", "starts", "delay\np50", "p90", "p99", "evicted", "failed",
                   "finished", "killed", "lost", "core-hours\nasked for", "GiB-hours"});
  for (size_t t = kTiers; t-- > 0;) {
    const brain::TierEvents& tier = f.tiers[t];
    if (tier.jobs == 0) continue;
    std::vector<std::string> row = {std::string(Name(static_cast<Tier>(t))), FormatCount(tier.jobs),
                                    FormatCount(tier.tasks), FormatCount(tier.starts)};
    for (const double q : {0.5, 0.9, 0.99}) row.push_back(DelayCell(tier, q));
    for (const uint64_t n : tier.ends) row.push_back(FormatCount(n));
    row.push_back(ShortNumber(tier.cpu_hours));
    row.push_back(ShortNumber(tier.gib_hours));
    table.Add(std::move(row));
  }
  return table.Render();
}

std::string ShapesTable(const LoadedCell& cell) {
  if (cell.shapes.empty()) return {};
  constexpr size_t kMost = 12;
  TextTable table({"machines", "cores", "GiB"});
  for (size_t i = 0; i < std::min(cell.shapes.size(), kMost); ++i) {
    const RecordedCell::Shape& s = cell.shapes[i];
    table.Add({FormatCount(s.machines), fmt::format("{:.4g}", s.cpu_cores),
               fmt::format("{:.4g}", s.memory_bytes / kGiB)});
  }
  std::string out = table.Render();
  if (cell.shapes.size() > kMost) StrAppend(&out, "and ", cell.shapes.size() - kMost, " other shapes\n");
  if (cell.machines_without_capacity > 0)
    StrAppend(&out, FormatCount(cell.machines_without_capacity), " machines have no capacity in the trace\n");
  return out;
}

}  // namespace

std::string TraceEventsText(const LoadedCell& cell) {
  const brain::EventFigures& f = cell.events;
  std::string out = FindingsText(cell.findings);
  StrAppend(&out, FormatCount(f.jobs()), " jobs have events.\n\n");
  if (f.jobs() > 0) {
    StrAppend(&out, EventTierTable(f),
              "delay: from when a job could be scheduled to its first start, of the jobs that came after the "
              "beginning\n"
              "of the trace and had a submission of their own; jobs that never started count as longer than "
              "all.\n\n");
  }
  TextTable table({"", "here", "Google\n2011", "Google\n2019"});
  for (const ComparedFigure& c : Comparison(cell)) {
    const auto text = c.is_share ? ShareOrDash : OrDash;
    table.Add({std::string(c.name), text(c.own), text(c.of_2011), text(c.of_2019)});
  }
  StrAppend(&out, table.Render());
  if (const std::string shapes = ShapesTable(cell); !shapes.empty()) StrAppend(&out, "\n", shapes);
  if (f.scaling_jobs[0] < f.jobs()) {
    TextTable modes({"vertical scaling", "jobs", "core-hours\nasked for"});
    for (size_t m = 0; m < brain::kScalingModes; ++m) {
      if (f.scaling_jobs[m] > 0)
        modes.Add({std::string(Name(static_cast<brain::ScalingMode>(m))), FormatCount(f.scaling_jobs[m]),
                   ShortNumber(f.scaling_cpu_hours[m])});
    }
    StrAppend(&out, "\n", modes.Render());
  }
  return out;
}

Json TraceEventsJson(const LoadedCell& cell) {
  const brain::EventFigures& f = cell.events;
  const auto maybe = [](const MaybeNumber& value) {
    return value.has_value() ? Json(*value) : Json(nullptr);
  };
  Json tiers = Json::object(), compared = Json::object(), shapes = Json::array(), modes = Json::object(),
       hours = Json::array();
  for (size_t t = 0; t < kTiers; ++t) {
    const brain::TierEvents& tier = f.tiers[t];
    if (tier.jobs == 0) continue;
    Json ends = Json::object();
    for (size_t e = 0; e < brain::kTaskEnds; ++e) ends[std::string(brain::EndName(e))] = tier.ends[e];
    tiers[std::string(Name(static_cast<Tier>(t)))] = {{"jobs", tier.jobs},
                                                      {"tasks", tier.tasks},
                                                      {"submissions", tier.submissions},
                                                      {"starts", tier.starts},
                                                      {"ends", std::move(ends)},
                                                      {"core_hours", tier.cpu_hours},
                                                      {"gib_hours", tier.gib_hours},
                                                      {"never_started", tier.never_started},
                                                      {"delay_s",
                                                       {{"of", tier.delays_s.size()},
                                                        {"p50", maybe(Delay(tier, .5))},
                                                        {"p90", maybe(Delay(tier, .9))},
                                                        {"p99", maybe(Delay(tier, .99))}}}};
  }
  for (const ComparedFigure& c : Comparison(cell))
    compared[std::string(c.key)] = {
        {"value", maybe(c.own)}, {"google_2011", maybe(c.of_2011)}, {"google_2019", maybe(c.of_2019)}};
  for (const RecordedCell::Shape& s : cell.shapes)
    shapes.push_back({{"machines", s.machines}, {"cores", s.cpu_cores}, {"memory_bytes", s.memory_bytes}});
  for (size_t m = 0; m < brain::kScalingModes; ++m)
    modes[std::string(Name(static_cast<brain::ScalingMode>(m)))] = {{"jobs", f.scaling_jobs[m]},
                                                                    {"core_hours", f.scaling_cpu_hours[m]}};
  for (const auto& [hour, of] : f.hours)
    hours.push_back({{"time", hour * 3600},
                     {"jobs", of.jobs},
                     {"new_tasks", of.new_tasks},
                     {"tasks_again", of.tasks_again}});
  return {{"jobs", f.jobs()},
          {"tiers", std::move(tiers)},
          {"compared", std::move(compared)},
          {"shapes", std::move(shapes)},
          {"machines_without_capacity", cell.machines_without_capacity},
          {"vertical_scaling", std::move(modes)},
          {"findings", FindingsJson(cell.findings)},
          {"hours", std::move(hours)}};
}

EventsReport TraceEventsReport(const LoadedCell& cell) {
  EventsReport out{.figures = &cell.events, .compared = Comparison(cell), .shapes = {}};
  for (const RecordedCell::Shape& s : cell.shapes)
    out.shapes.push_back({s.machines, s.cpu_cores, s.memory_bytes});
  return out;
}

}  // namespace taut::tools
