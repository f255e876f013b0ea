#include "tools/cli/results.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "tools/cli/promises_text.h"
#include "tools/cli/terminal.h"
#include "tools/sim/lane_scores.h"

namespace taut::tools {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view kSeconds = "_seconds";

std::vector<std::string> Row(const LaneResult& lane, int32_t first_scored_day, size_t width) {
  const Totals& t = lane.summary.totals;
  const std::string name = Shortened(Name(lane.policy), width);
  if (t.job_days == 0) return {name, "no limit", "", "", "", "", "", "", "", "", "", ""};
  std::vector<std::string> row = {name,
                                  fmt::format("{:.0f} %", 100 * t.mean_slack()),
                                  fmt::format("{:.0f} %", 100 * lane.summary.slack.Quantile(0.5)),
                                  FormatAmount(lane.resource, MeanFootprint(lane, first_scored_day)),
                                  t.owner_limit_seconds > 0 ? Percent(t.footprint_of_owner()) : "-",
                                  fmt::format("{:.2f}", t.footprint_of_usage()),
                                  Percent(t.oom_day_share()),
                                  fmt::format("{:.4f}", t.ooms_per_task_day()),
                                  Percent(t.serious_oom_day_share(), 2),
                                  fmt::format("{:.2f}", t.changes_per_job_day()),
                                  fmt::format("{}", lane.summary.ChangesQuantile(0.99)),
                                  fmt::format("{:.0f} %", 100 * t.share_without_change())};
  if (ThrottlesAtLimit(lane.resource)) row.push_back(Percent(t.usage_over_share(), 2));
  return row;
}

// Returns the table of the lanes. Shortens the names of recommenders to `width` columns.
std::string Table(const ReplayResult& result, Resource resource, size_t width) {
  const bool cpu = resource == Resource::kCpu;
  std::vector<std::string> head = {"recommender",
                                   "slack\nmean",
                                   "\nmed.",
                                   "footprint\nmean",
                                   "of\nowner's",
                                   "x\nusage",
                                   cpu ? "throt.\ndays" : "OOM-\ndays",
                                   cpu ? "overs/\ntask-day" : "OOMs/\ntask-day",
                                   "serious\ndays",
                                   "changes\n/day",
                                   "\np99",
                                   "\nnone"};
  if (cpu) head.push_back("throt-\ntled");
  TextTable table(std::move(head));
  for (const LaneResult& lane : result.lanes) {
    if (lane.resource == resource) table.Add(Row(lane, result.first_scored_day, width));
  }
  return table.Render();
}

constexpr std::string_view kResultsLegend =
    "slack: (mean limit - p95 of the day's usage) / mean limit, by job-day · footprint: sum of limits,\n"
    "mean over time · OOM-day: a job-day with a window over the limit (CPU: throttled day) · serious:\n"
    "over max(4, a fifth of the tasks) such windows · none: job-days without a limit change ·\n"
    "throttled: CPU used above the limit · not used: limits less usage, mean over time ·\n"
    "slack < 0: the p95 of the day's usage is above the mean limit\n";

std::string ConcentrationTable(const ReplayResult& result, Resource resource, size_t width) {
  TextTable table({"recommender", "jobs", ThrottlesAtLimit(resource) ? "with\nthrot. days" : "with\nOOM-days",
                   "\nonly one", "80 % have\nat most", "worst job\ndays", "\nof its", "worst\ntenth has",
                   "not\nused", "slack\n< 0"});
  for (const LaneResult& lane : result.lanes) {
    if (lane.resource != resource) continue;
    const Concentration c = ConcentrationOf(lane, ByJob(lane));
    std::vector<std::string> row = {
        Shortened(Name(lane.policy), width), FormatCount(c.jobs), FormatCount(c.with), "", "", "", "", ""};
    if (c.with > 0) {
      row = {row[0],
             row[1],
             row[2],
             Percent(static_cast<double>(c.once) / static_cast<double>(c.with), 0),
             fmt::format("{}", c.most_have),
             fmt::format("{}", c.worst_days),
             Percent(c.worst_share, 0),
             Percent(c.of_worst_tenth, 0)};
    }
    const Totals& t = lane.summary.totals;
    row.push_back(FormatAmount(resource, AbsoluteSlack(lane, result.first_scored_day)));
    row.push_back(Percent(
        t.job_days > 0 ? static_cast<double>(t.negative_slack_days) / static_cast<double>(t.job_days) : 0,
        1));
    table.Add(row);
  }
  return table.Render();
}

// Returns the tables of promises, for recommenders that make promises.
std::string PromiseTables(const ReplayResult& result) {
  std::string out;
  for (const LaneResult& lane : result.lanes) {
    const std::string table = ReplayedPromisesText(PromisesJson(lane.risks));
    if (table.empty()) continue;
    out += fmt::format("{}: {}, promised and delivered\n{}\n", Name(lane.policy), RowOf(lane.resource).word,
                       table);
  }
  return out;
}

Json LaneJson(const LaneResult& lane, int32_t first_scored_day) {
  const std::string_view unit = UnitName(lane.resource);
  Json j;
  j["recommender"] = Name(lane.policy);
  j["resource"] = Name(lane.resource);
  for (const LaneScore& score : LaneScores(lane, first_scored_day)) {
    // "limit_seconds" of bytes is called "limit_bytes_seconds".
    std::string name(score.name);
    if (score.is_amount) {
      const size_t end = name.ends_with(kSeconds) ? name.size() - kSeconds.size() : name.size();
      name.insert(end, StrCat("_", unit));
    }
    Json& out = j[name];
    if (const auto* count = std::get_if<uint64_t>(&score.value)) out = *count;
    if (const auto* number = std::get_if<double>(&score.value)) out = *number;
  }
  const Json promises = PromisesJson(lane.risks);
  j["promises"] = {{"totals", promises["totals"]}, {"rows", promises["rows"]}};
  return j;
}

Json RecordedJson(const RecordedKills& recorded) {
  if (recorded.told_windows == 0) return nullptr;
  return {{"oom_kills", recorded.kills},
          {"task_windows_with_kills", recorded.killed_windows},
          {"job_days_with_kills", recorded.job_days},
          {"task_windows_told", recorded.told_windows},
          {"task_windows", recorded.task_windows}};
}

Json JobsJson(const LaneResult& lane, const std::vector<JobInfo>& jobs) {
  Json list = Json::array();
  for (size_t i = 0; i < lane.per_job.size(); ++i) {
    const Totals& t = lane.per_job[i];
    if (t.job_days == 0) continue;
    list.push_back({{"job", jobs[i].name},
                    {"job_days", t.job_days},
                    {"slack_mean", t.mean_slack()},
                    {"limit_seconds", t.limit_seconds},
                    {"owner_limit_seconds", t.owner_limit_seconds},
                    {"usage_seconds", t.usage_seconds},
                    {"windows", t.windows},
                    {"windows_over", t.windows_over},
                    {"usage_over_seconds", t.usage_over_seconds},
                    {"oom_days", t.oom_days},
                    {"serious_oom_days", t.serious_oom_days},
                    {"ooms", t.ooms},
                    {"changes", t.changes},
                    {"days_without_change", t.days_without_change}});
  }
  return list;
}

}  // namespace

std::string RecordedText(const RecordedKills& recorded) {
  if (recorded.told_windows == 0) return "";
  std::string out = fmt::format("recorded OOM kills: {}", FormatCount(recorded.kills));
  if (recorded.kills > 0) {
    out += fmt::format(" in {} task-windows on {} job-days", FormatCount(recorded.killed_windows),
                       FormatCount(recorded.job_days));
  }
  if (recorded.told_windows < recorded.task_windows) {
    const double told =
        static_cast<double>(recorded.told_windows) / static_cast<double>(recorded.task_windows);
    out += fmt::format("; unknown in {} of the task-windows", Percent(1 - told));
  }
  return out + "\n";
}

std::string ResultTables(const ReplayResult& result, bool details) {
  std::string out;
  for (Resource r : {Resource::kMemory, Resource::kCpu}) {
    bool asked = false;
    for (const LaneResult& lane : result.lanes) asked |= lane.resource == r;
    if (!asked) continue;
    out += fmt::format("{}\n{}", RowOf(r).title,
                       FittedTable(40, 12, [&](size_t width) { return Table(result, r, width); }));
    if (r == Resource::kMemory) out += RecordedText(result.recorded);
    out += "\n";
  }
  if (!details) return out;
  for (Resource r : {Resource::kMemory, Resource::kCpu}) {
    if (std::none_of(result.lanes.begin(), result.lanes.end(),
                     [&](const LaneResult& lane) { return lane.resource == r; })) {
      continue;
    }
    out +=
        fmt::format("{}, by job\n{}\n", RowOf(r).title,
                    FittedTable(40, 12, [&](size_t width) { return ConcentrationTable(result, r, width); }));
  }
  out += PromiseTables(result);
  return out + std::string(kResultsLegend);
}

std::string ResultJson(const ReplayResult& result, const std::vector<JobInfo>& jobs, bool with_jobs) {
  Json j;
  j["format"] = "taut-replay/1";
  j["partial"] = result.partial;
  j["days_done"] = result.days_done;
  j["days_total"] = result.days_total;
  j["first_day_start_s"] = int64_t{result.first_day} * kDaySeconds;
  j["first_scored_day_start_s"] = int64_t{result.first_scored_day} * kDaySeconds;
  j["last_day_start_s"] = int64_t{result.last_day} * kDaySeconds;
  j["jobs"] = result.jobs;
  j["job_windows"] = result.job_windows;
  j["state_bytes_per_job"] = result.state_bytes_per_job;
  j["capped_at_owner"] = result.capped_at_owner;
  j["recorded"] = RecordedJson(result.recorded);
  j["lanes"] = Json::array();
  for (const LaneResult& lane : result.lanes) {
    Json l = LaneJson(lane, result.first_scored_day);
    if (with_jobs) l["by_job"] = JobsJson(lane, jobs);
    j["lanes"].push_back(std::move(l));
  }
  // Names of jobs are external input, and invalid UTF-8 must not abort the program.
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace taut::tools
