#include "tools/cli/simulate_text.h"

#include <array>
#include <optional>

#include "common/base/printable.h"
#include "common/base/strings.h"
#include "common/model/counted.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/cell_input.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

// Returns text such as "12 s" or "3.5 min"; "never" if the delay did not end in the simulated time.
std::string DelayText(std::optional<double> seconds, uint64_t of) {
  if (of == 0) return "-";
  if (!seconds.has_value()) return "never";
  if (*seconds < 100) return fmt::format("{:.3g} s", *seconds);
  if (*seconds < 6000) return fmt::format("{:.3g} min", *seconds / 60);
  return *seconds < 360'000 ? fmt::format("{:.3g} h", *seconds / 3600)
                            : fmt::format("{:.3g} d", *seconds / 86'400);
}
std::string Quantile(std::vector<float>& values, uint64_t of, double q) {
  return DelayText(brain::DelayQuantile(values, of, q), of);
}

// Calls `visit` for each tier with jobs, highest tier first.
template <typename Visit>
void ForEachTier(brain::CellTotals& totals, const Visit& visit) {
  for (size_t t = brain::kCellTiers; t-- > 0;) {
    if (totals.tiers[t].jobs > 0) visit(Name(static_cast<brain::CellTier>(t)), totals.tiers[t]);
  }
}

std::string Rate(double per_week) { return fmt::format("{:.3f}", per_week); }

std::string TierTable(brain::CellTotals& totals) {
  TextTable table({"tier", "jobs", "tasks", "first task\np50", "\np90", "\np99", "all tasks\np50", "\np99",
                   "evictions/\ntask-week", "work\nlost", "pending\ntasks"});
  ForEachTier(totals, [&](std::string_view name, brain::CellTierTotals& t) {
    table.Add({std::string(name), FormatCount(t.jobs), FormatCount(t.tasks),
               Quantile(t.first_s, t.measured_jobs, 0.5), Quantile(t.first_s, t.measured_jobs, 0.9),
               Quantile(t.first_s, t.measured_jobs, 0.99), Quantile(t.all_s, t.measured_jobs, 0.5),
               Quantile(t.all_s, t.measured_jobs, 0.99), Rate(t.evictions_per_week()),
               Percent(t.lost_share()), FormatCount(t.pending)});
  });
  return table.Render();
}

std::string EvictionTable(brain::CellTotals& totals) {
  std::vector<std::string> head = {"evictions a\ntask-week"};
  for (size_t c = 0; c < brain::kEvictionCauses; ++c)
    head.push_back(StrCat("\n", Name(static_cast<brain::EvictionCause>(c))));
  for (const char* more : {"\nall", "tasks\nevicted", "again after\np50", "\np99"}) head.emplace_back(more);
  TextTable table(head);
  ForEachTier(totals, [&](std::string_view name, brain::CellTierTotals& t) {
    std::vector<std::string> row = {std::string(name)};
    for (size_t c = 0; c < brain::kEvictionCauses; ++c)
      row.push_back(Rate(t.evictions_per_week(static_cast<brain::EvictionCause>(c))));
    row.push_back(Rate(t.evictions_per_week()));
    const uint64_t all = t.all_evictions();
    row.push_back(FormatCount(all));
    row.push_back(Quantile(t.again_s, all, 0.5));
    row.push_back(Quantile(t.again_s, all, 0.99));
    table.Add(row);
  });
  return table.Render();
}

// Shares of the in-service capacity.
struct Fill {
  double limit = 0, production_limit = 0, reserved = 0, production_reserved = 0;
};
Fill FillOf(const brain::CellHour& mean, size_t r) {
  const double capacity = mean.capacity[r];
  if (capacity <= 0) return {};
  return {(mean.production_limit[r] + mean.other_limit[r]) / capacity, mean.production_limit[r] / capacity,
          (mean.production_reserved[r] + mean.other_reserved[r]) / capacity,
          mean.production_reserved[r] / capacity};
}

std::string FillText(const brain::CellModel& cell, const brain::CellTotals& totals) {
  std::string out;
  for (size_t r = 0; r < cell.resources.size(); ++r) {
    const Fill fill = FillOf(totals.mean, r);
    StrAppend(&out, "  ", Printable(cell.resources[r].name), ": limits ", Percent(fill.limit),
              " of the capacity in service (production ", Percent(fill.production_limit), "), reservations ",
              Percent(fill.reserved), "\n");
  }
  return out;
}

std::string PendingText(const brain::CellTotals& totals) {
  if (totals.pending_jobs == 0) return "";
  std::string out = StrCat("pending at the end: tasks of ", FormatCount(totals.pending_jobs),
                           totals.pending_jobs == 1 ? " job\n" : " jobs, the first of which are\n");
  for (const brain::CellPending& p : totals.pending)
    out += SentenceLines(StrCat(p.job, ", ", p.tasks, p.tasks == 1 ? " task: " : " tasks: ", p.why));
  return out;
}

std::array<brain::CellTierTotals, 2> OtherAndProduction(const brain::CellTotals& totals) {
  std::array<brain::CellTierTotals, 2> out;
  for (size_t t = 0; t < brain::kCellTiers; ++t)
    out[IsProduction(static_cast<brain::CellTier>(t)) ? 1 : 0].Add(totals.tiers[t]);
  return out;
}

std::string RunsTable(const brain::CellModel& cell, std::vector<CellRun>& runs) {
  const std::string what = cell.resources[0].name;
  TextTable table({"", StrCat(what, "\nlimits"), StrCat(what, "\nreserved"), "production\nfirst p99",
                   "evictions/\ntask-week", "others\nfirst p50", "\np99", "evictions/\ntask-week",
                   "work\nlost", "pending\ntasks"});
  for (CellRun& run : runs) {
    auto [other, production] = OtherAndProduction(run.totals);
    const Fill fill = FillOf(run.totals.mean, 0);
    table.Add({std::string(run.setup->name), Percent(fill.limit), Percent(fill.reserved),
               Quantile(production.first_s, production.measured_jobs, 0.99),
               Rate(production.evictions_per_week()), Quantile(other.first_s, other.measured_jobs, 0.5),
               Quantile(other.first_s, other.measured_jobs, 0.99), Rate(other.evictions_per_week()),
               Percent(other.lost_share()), FormatCount(other.pending + production.pending)});
  }
  return table.Render();
}

Json DelayJson(std::vector<float>& values, uint64_t of) {
  Json out = {{"of", of}, {"count", values.size()}};
  for (const auto& [name, q] : {std::pair{"p50", 0.5}, std::pair{"p90", 0.9}, std::pair{"p99", 0.99}}) {
    const std::optional<double> value = brain::DelayQuantile(values, of, q);
    out[name] = value.has_value() ? Json(*value) : Json(nullptr);
  }
  Json cdf = Json::array();
  for (const brain::DelayPoint& p : brain::DelayCdf(values, of)) cdf.push_back({p.seconds, p.share});
  out["cdf"] = std::move(cdf);
  return out;
}

Json TierJson(std::string_view name, brain::CellTierTotals& t) {
  Json evictions = Json::object();
  for (size_t c = 0; c < brain::kEvictionCauses; ++c)
    evictions[std::string(Name(static_cast<brain::EvictionCause>(c)))] = t.evictions[c];
  return {{"tier", name},
          {"jobs", t.jobs},
          {"jobs_finished", t.jobs_finished},
          {"tasks", t.tasks},
          {"finished", t.finished},
          {"removed", t.removed},
          {"running", t.running},
          {"pending", t.pending},
          {"starts", t.starts},
          {"evictions", std::move(evictions)},
          {"task_hours", t.task_hours},
          {"lost_task_hours", t.lost_task_hours},
          {"cpu_hours", t.cpu_hours},
          {"lost_cpu_hours", t.lost_cpu_hours},
          {"first_task_s", DelayJson(t.first_s, t.measured_jobs)},
          {"all_tasks_s", DelayJson(t.all_s, t.measured_jobs)},
          {"again_s", DelayJson(t.again_s, t.all_evictions())}};
}

Json HourJson(const brain::CellModel& cell, const brain::CellHour& hour) {
  Json out = {{"running", hour.running}, {"pending", hour.pending}, {"machines_out", hour.machines_out}};
  for (size_t r = 0; r < cell.resources.size(); ++r) {
    const double unit = cell.resources[r].per_unit;
    out[cell.resources[r].name] = {{"capacity", hour.capacity[r] / unit},
                                   {"production_limit", hour.production_limit[r] / unit},
                                   {"other_limit", hour.other_limit[r] / unit},
                                   {"production_reserved", hour.production_reserved[r] / unit},
                                   {"other_reserved", hour.other_reserved[r] / unit}};
  }
  return out;
}

}  // namespace

std::string SimulateText(const brain::CellModel& cell, std::vector<CellRun>& runs) {
  brain::CellTotals& base = runs.front().totals;
  std::string out = fmt::format("{} in {} scheduling passes; {} failed, {} drained; {} changed\n",
                                Counted(base.events, "event"), FormatCount(base.passes),
                                Counted(base.machine_failures, "machine"), FormatCount(base.machine_drains),
                                Counted(base.limit_changes, "limit"));
  StrAppend(&out, FillText(cell, base),
            fmt::format("  {:.1f} tasks run, {:.1f} wait, {:.2f} machines are out of service (means)\n\n",
                        base.mean.running, base.mean.pending, base.mean.machines_out),
            TierTable(base), "\n", EvictionTable(base), "\n");
  if (const std::string pending = PendingText(base); !pending.empty()) StrAppend(&out, pending, "\n");
  if (runs.size() > 1) StrAppend(&out, RunsTable(cell, runs), "\n");
  return out +
         "first task, all tasks: from a job's submission until its first task runs, and until all have run;\n"
         "\"never\": not within the measured time. Work lost: task-time of jobs that start over.\n";
}

Json SimulateJson(const brain::CellModel& cell, std::vector<CellRun>& runs) {
  Json out = Json::array();
  for (CellRun& run : runs) {
    brain::CellTotals& totals = run.totals;
    Json tiers = Json::array(), hours = Json::array(), pending = Json::array();
    ForEachTier(totals,
                [&](std::string_view name, brain::CellTierTotals& t) { tiers.push_back(TierJson(name, t)); });
    for (const brain::CellHour& hour : totals.hours) hours.push_back(HourJson(cell, hour));
    for (const brain::CellPending& p : totals.pending)
      pending.push_back({{"job", p.job}, {"tasks", p.tasks}, {"why", p.why}});
    out.push_back({{"setup", run.setup->name},
                   {"partial", totals.partial},
                   {"events", totals.events},
                   {"passes", totals.passes},
                   {"limit_changes", totals.limit_changes},
                   {"machine_failures", totals.machine_failures},
                   {"machine_drains", totals.machine_drains},
                   {"machine_hours_out", totals.machine_hours_out},
                   {"mean", HourJson(cell, totals.mean)},
                   {"tiers", std::move(tiers)},
                   {"pending_jobs", totals.pending_jobs},
                   {"pending", std::move(pending)},
                   {"hours", std::move(hours)}});
  }
  return out;
}

}  // namespace taut::tools
