#include "tools/cli/jobs_text.h"

#include <algorithm>
#include <optional>

#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/answer_fields.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

// Returns the would-be saving of a resource over all tasks. The API reports the saving of one task.
std::string SavingOf(Resource r, const Json& job) {
  const std::optional<double> saving = FieldNumber(At(job, Name(r)), "saving"),
                              tasks = FieldNumber(job, "tasks");
  return saving && tasks ? SignedShort(r, *saving * *tasks) : kNothing;
}

// Returns the number of jobs that save requests, and the reduction of the limits of these jobs. Returns "" if no
// job has a request.
std::string RequestsText(const Json& sums) {
  std::string out;
  for (const Resource r : kResources) {
    const Json& of = At(At(sums, Name(r)), "requests");
    if (!of.is_object()) continue;
    StrAppend(&out, out.empty() ? "" : "; ", Name(r), " of ", FieldCount(of, "jobs"),
              FieldCount(of, "jobs") == "1" ? " job " : " jobs ", FieldAmount(r, of, "owner"), ", ",
              FieldAmount(r, of, "would_be"), " would be");
    if (FieldNumber(of, "limit_would_save").value_or(0) != 0)
      StrAppend(&out, " (and limits ", FieldAmount(r, of, "limit_would_save"), " lower)");
  }
  if (out.empty()) return "";
  return Wrapped(StrCat("savings are of requests, which a cluster bills, where a job has one: ", out), "");
}

// Returns the risk of the would-be limit for a table cell: the highest forecast that a day's usage exceeds the
// limit, else the share of past days. Excludes a resource with a target share of work, which permits work above
// the limit.
std::string RiskOf(const Json& job) {
  double most = -1;
  std::string text(kNothing);
  for (const Resource r : kResources) {
    const Json& a = At(job, Name(r));
    const std::optional<double> chance = FieldNumber(a, "chance"), days = FieldNumber(a, "days");
    if (FieldNumber(a, "work_over").has_value() || (!chance.has_value() && days.value_or(0) <= 0)) continue;
    const double risk = chance.has_value() ? *chance : FieldNumber(a, "days_over").value_or(0) / *days;
    if (risk <= most) continue;
    most = risk;
    text = chance.has_value() ? FormatChance(risk)
                              : StrCat(FieldCount(a, "days_over"), "/", FieldCount(a, "days"), " d");
  }
  return text;
}

// Returns the number of tasks, such as "31", or "31>10" if 10 tasks are recommended.
std::string TasksText(const Json& job) {
  const std::optional<double> would_be = FieldNumber(job, "tasks_would_be");
  if (!would_be.has_value() || would_be == FieldNumber(job, "tasks")) return FieldCount(job, "tasks");
  return StrCat(FieldCount(job, "tasks"), ">", FieldCount(job, "tasks_would_be"));
}

std::string JobsTable(const Json& jobs, size_t width) {
  bool money = false;
  for (const Json& job : jobs) money = money || At(job, "saving_per_month").is_number();
  std::vector<std::string> head = {"job", "mode", "tasks"};
  for (const Resource r : kResources) {
    head.insert(head.end(), {StrCat(RowOf(r).word, "\nusage"), "\nlimit", "would\nbe"});
    if (!money) head.emplace_back("\nsaves");
  }
  head.insert(head.end(), {"day\nover", "OOMs\n7 days"});
  if (money) head.emplace_back("saves\na month");
  TextTable table(head);
  for (const Json& job : jobs) {
    std::vector<std::string> row = {ShortenedName(FieldText(job, "name"), width),
                                    FieldText(job, "mode") + (At(job, "trial") == Json(true) ? "*" : ""),
                                    TasksText(job)};
    for (const Resource r : kResources) {
      const Json& a = At(job, Name(r));
      for (const char* key : {"usage", RealLimitKey(a, At(job, "enforced")), "would_be"})
        row.push_back(FieldShort(r, a, key));
      if (FieldNumber(a, "provisional_limit").has_value())
        row.back() = StrCat("~", FieldShort(r, a, "provisional_limit"));
      row.back() += At(a, "at_limit") == Json(true) ? "!" : "";
      if (!money) row.push_back(SavingOf(r, job));
    }
    row.push_back(RiskOf(job));
    row.push_back(FieldCount(job, "ooms"));
    if (money) {
      const std::optional<double> saving = FieldNumber(job, "saving_per_month");
      row.push_back(saving ? fmt::format("{:.2f}", *saving) : kNothing);
    }
    table.Add(std::move(row));
  }
  return table.Render();
}

// Returns the sums over jobs with a replica policy; "" if there are no such jobs.
std::string ReplicaSumsText(const Json& sums) {
  const double jobs = FieldNumber(sums, "jobs").value_or(0),
               windows = FieldNumber(sums, "windows_day").value_or(0);
  const std::optional<double> overloaded = FieldNumber(sums, "overloaded_windows_day");
  const Json& by_cause = At(sums, "jobs_held");
  const uint64_t held = static_cast<uint64_t>(std::max<int64_t>(0, IntAt(by_cause, "not_measured"))) +
                        static_cast<uint64_t>(std::max<int64_t>(0, IntAt(by_cause, "no_number")));
  if (jobs == 0 && held == 0) return "";
  std::string out = fmt::format("replicas of {}: {} run, {} recommended", FieldCount(sums, "jobs", "job"),
                                FieldCount(sums, "tasks", "task"), FieldCount(sums, "would_be"));
  if (windows > 0 && overloaded.has_value()) {
    StrAppend(&out, "; overloaded in ", PercentText(*overloaded / windows), " of the last day's windows, ",
              FieldCount(sums, "jobs_overloaded"), " now");
  }
  if (held > 0) StrAppend(&out, "; ", FormatCount(held), " held");
  return Wrapped(out, "");
}

// Returns the earliest and the latest time at which a job without a recommendation receives one; "" if every job
// has one.
std::string ProvisionalText(const Json& jobs) {
  std::optional<int64_t> first, last;
  for (const Json& job : jobs) {
    for (const Resource r : kResources) {
      const Json& of = At(job, Name(r));
      if (!At(of, "first_recommendation_at").is_number()) continue;
      const int64_t at_s = IntAt(of, "first_recommendation_at");
      first = std::min(first.value_or(at_s), at_s);
      last = std::max(last.value_or(at_s), at_s);
    }
  }
  if (!first.has_value()) return "";
  const auto time = [](int64_t t) { return StrCat(FormatTime(t), " UTC"); };
  return Wrapped(
      StrCat("~: provisional, wide as it is of few windows, set in no mode and in no saving; first "
             "recommendation at ",
             time(*first), *last > *first ? StrCat(", of the last of these jobs at ", time(*last)) : ""),
      "");
}

// Returns the number of jobs that the sums exclude, by reason; "" if the sums include all jobs.
std::string OutsideText(const Json& sums) {
  std::string out;
  if (const double idle = FieldNumber(sums, "not_measured").value_or(0); idle > 0) {
    out = Wrapped(StrCat(FieldCount(sums, "not_measured"), idle == 1 ? " of them was" : " of them were",
                         " not measured in the last window, and in no sum"),
                  "");
  }
  const double machines = FieldNumber(sums, "whole_machines").value_or(0);
  if (machines <= 0) return out;
  return out +
         Wrapped(StrCat(FieldCount(sums, "whole_machines"), machines == 1 ? " more job is" : " more jobs are",
                        " all that some machines use, and in no sum: their containers and processes are jobs "
                        "of their "
                        "own"),
                 "");
}

// Returns the group's value of the label as text of at most `width` columns.
std::string GroupName(const Json& group, size_t width) {
  return At(group, "value").is_string() ? Shortened(FieldText(group, "value"), width) : "(none)";
}

// Returns a table of each group's risk: past days with usage above the recommended limits, and the forecast.
// Returns "" if no group has a past day.
std::string GroupRiskTable(const Json& page, size_t width) {
  // List memory first, because the kernel kills a task above its memory limit.
  const std::vector<Resource> resources(kResources.rbegin(), kResources.rend());
  std::vector<std::string> head = {Shortened(FieldText(page, "by"), width)};
  for (const Resource r : resources)
    head.insert(head.end(), {StrCat(RowOf(r).word, "\njob-days"), "above\nwould be", "forecast"});
  TextTable table(head);
  bool any = false;
  for (const Json& group : At(page, "groups")) {
    std::vector<std::string> row = {GroupName(group, width)};
    for (const Resource r : resources) {
      const Json& a = At(group, Name(r));
      const double days = FieldNumber(a, "job_days").value_or(0);
      const std::optional<double> over = FieldNumber(a, "job_days_over");
      any = any || days > 0;
      row.push_back(days > 0 ? FieldCount(a, "job_days") : kNothing);
      row.push_back(days > 0 && over.has_value() ? PercentText(*over / days) : kNothing);
      const std::optional<double> chance = FieldNumber(a, "chance");
      row.push_back(chance.has_value() ? FormatChance(*chance) : kNothing);
    }
    table.Add(std::move(row));
  }
  return any ? table.Render() : "";
}

std::string GroupRiskText(const Json& page) {
  const std::string table = FittedTable(28, 10, [&](size_t width) { return GroupRiskTable(page, width); });
  if (table.empty()) return "";
  return StrCat(
      "\n", table,
      "job-days of the last 7 days, those with usage above would be, and the mean forecast of such a day\n");
}

// Returns the sums over all jobs of the search.
std::string JobTotalsText(const Json& page, const Json& totals) {
  std::string usage, saves;
  bool adds = false;
  for (const Resource r : kResources) {
    const Json& a = At(totals, Name(r));
    StrAppend(&usage, usage.empty() ? "" : " and ", FieldAmount(r, a, "usage"));
    StrAppend(&saves, saves.empty() ? "" : " and ", FieldAmount(r, a, "would_save"));
    adds = adds || FieldNumber(a, "would_save").value_or(0) < 0;
  }
  std::string out =
      StrCat("all ",
             FieldNumber(totals, "jobs").has_value() ? FieldCount(totals, "jobs") : FieldCount(page, "total"),
             ": usage ", usage, "; mode auto would save ", saves);
  if (adds) out += " (negative: more than the owners ask for)";
  if (const std::string money = MonthlyMoney(At(totals, "saving_per_month"), At(page, "currency"));
      !money.empty())
    StrAppend(&out, ", ", money);
  return StrCat(WrappedLine(out, ""), RequestsText(totals), ReplicaSumsText(At(totals, "replicas")),
                OutsideText(totals));
}

std::string TotalsTable(const Json& page, size_t width) {
  const bool money = At(page, "currency").is_string();
  std::vector<std::string> head = {Shortened(FieldText(page, "by"), width), "jobs", "tasks"};
  for (const Resource r : kResources)
    head.insert(head.end(), {StrCat(RowOf(r).word, "\nusage"), "owner's\nlimit", "would\nbe", "saves"});
  if (money) head.emplace_back("saves\na month");
  TextTable table(head);
  for (const Json& group : At(page, "groups")) {
    std::vector<std::string> row = {GroupName(group, width), FieldCount(group, "jobs"),
                                    FieldCount(group, "tasks")};
    for (const Resource r : kResources) {
      const Json& a = At(group, Name(r));
      for (const char* key : {"usage", "owner_limit", "would_be"}) row.push_back(FieldShort(r, a, key));
      row.push_back(SignedShort(r, FieldNumber(a, "would_save")));
    }
    if (money) {
      const std::optional<double> saving = FieldNumber(group, "saving_per_month");
      row.push_back(saving ? fmt::format("{:.2f}", *saving) : kNothing);
    }
    table.Add(std::move(row));
  }
  return table.Render();
}

}  // namespace

std::string JobsText(const Json& page) {
  const Json& jobs = At(page, "jobs");
  const size_t shown = jobs.size();
  if (shown == 0) return FieldNumber(page, "total") == 0.0 ? "no job matches\n" : "no jobs\n";
  std::string out = FittedTable(28, 10, [&](size_t width) { return JobsTable(jobs, width); });
  const bool all = FieldNumber(page, "total") == static_cast<double>(shown);
  StrAppend(&out, shown, " of ", FieldCount(page, "total", "job"),
            all ? "" : " (--limit shows more, words filter)", "\n");
  out +=
      "amounts are for each task, savings for all; day over: the chance of a day above would be, or 1/7 "
      "d:\none of seven days was (of CPU, explain shows the throttled work)\n";
  if (std::any_of(jobs.begin(), jobs.end(),
                  [](const Json& job) { return TasksText(job) != FieldCount(job, "tasks"); })) {
    out += "tasks 6>3: 6 run, 3 are recommended\n";
  }
  out += ProvisionalText(jobs);
  if (const Json& totals = At(page, "totals"); totals.is_object()) out += JobTotalsText(page, totals);
  return out;
}

std::string TotalsText(const Json& page) {
  const Json& groups = At(page, "groups");
  if (!groups.is_array() || groups.empty()) return "no job matches\n";
  const bool money = At(page, "currency").is_string();
  const bool all = FieldCount(page, "total") == FormatCount(groups.size());
  return StrCat(
      FittedTable(28, 6, [&](size_t width) { return TotalsTable(page, width); }),
      WrappedLine(StrCat(groups.size(), " of ", FieldCount(page, "total"), " values",
                         all ? "" : " (--limit shows more)", "; amounts are for all tasks",
                         money ? StrCat(", prices in ", FieldText(page, "currency")) : std::string()),
                  ""),
      GroupRiskText(page));
}

std::string FleetText(const Json& fleet) {
  const Json& modes = At(fleet, "jobs_by_mode");
  std::string out = WrappedLine(
      fmt::format("{}  {}, {}   off {}  observe {}  canary {}  auto {}   day: {}, {}",
                  FieldTime(fleet, "time"), FieldCount(fleet, "jobs", "job"),
                  FieldCount(fleet, "tasks", "task"), FieldCount(modes, "off"), FieldCount(modes, "observe"),
                  FieldCount(modes, "canary"), FieldCount(modes, "auto"),
                  FieldCount(fleet, "changes_day", "change"), FieldCount(fleet, "oom_kills_day", "OOM kill")),
      "");
  const bool dry = At(fleet, "actuator") == Json("dry_run");
  TextTable table({"whole fleet", "usage", "owner's limits", dry ? "dry run" : "limits",
                   dry ? "saves" : "saved", "would be", "would save"});
  for (const Resource r : kResources) {
    const Json& a = At(fleet, Name(r));
    table.Add({std::string(Name(r)), FieldAmount(r, a, "usage"), FieldAmount(r, a, "owner_limit"),
               FieldAmount(r, a, "limit"), FieldAmount(r, a, "saved"), FieldAmount(r, a, "would_be"),
               FieldAmount(r, a, "would_save")});
  }
  out += table.Render();
  if (const Json& money = At(fleet, "saving_per_month"); money.is_object()) {
    StrAppend(&out, dry ? "dry run saves " : "saved ",
              MonthlyMoney(At(money, "saved"), At(money, "currency")), ", would save ",
              MonthlyMoney(At(money, "would_save"), At(money, "currency")), "\n");
  }
  StrAppend(&out, RequestsText(fleet), OutsideText(fleet));
  if (dry) out += "dry run: nothing is applied, and the owners' limits hold\n";
  return out;
}

}  // namespace taut::tools
