#include "tools/cli/export_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/answer_fields.h"
#include "tools/cli/export_values.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

constexpr PerResource<const char*> kReportKeys = {"cpu", "memory"};

struct ReportSums {
  double now = 0, after = 0;
  uint64_t jobs = 0;  // number of summed jobs

  void Add(double now_amount, double then) {
    now += now_amount;
    after += then;
    ++jobs;
  }
  Json ToJson() const { return {{"now", now}, {"after", after}, {"saved", now - after}}; }
};

// Sums of the jobs of one group.
struct ReportRow {
  uint64_t jobs = 0, recommended = 0, changed = 0, tasks = 0;
  PerResource<ReportSums> requests, limits;
  PerResource<uint64_t> without_limit = {};
  std::optional<double> saving;  // monthly saving of the plan's changes; absent without prices

  void AddMoney(const Json& job, Resource r, double less);
  void Add(const PatchOptions& options, const Json& job);
  Json ToJson() const;
};

bool IsOther(Resource r, const std::optional<double>& planned, const std::optional<double>& now) {
  return planned.has_value() && (!now.has_value() || !IsSameAmount(r, *planned, *now));
}

// Adds the money that a reduction of the resource by `less`, summed over all tasks, saves at the API's prices.
void ReportRow::AddMoney(const Json& job, Resource r, double less) {
  const Json& price = At(At(job, "price_per_month"), kReportKeys[static_cast<size_t>(r)]);
  if (price.is_number()) saving = saving.value_or(0) + price.get<double>() * less / UnitOf(r).large;
}

void ReportRow::Add(const PatchOptions& options, const Json& job) {
  ++jobs;
  const auto its_tasks = static_cast<double>(std::max<int64_t>(0, IntAt(job, "tasks")));
  const bool knows_container = KnowsContainer(job);
  const ExportPlan plan = PlanExport(options, job);
  bool has_plan = false, changes = false;
  for (const Resource r : kResources) {
    const auto i = static_cast<size_t>(r);
    const ContainerResources& planned = plan.of(r);
    if (!planned.request.has_value() && !planned.limit.has_value()) continue;
    has_plan = true;
    const ContainerResources now = AmountsNow(job, kReportKeys[i]);
    const std::optional<double> limit = planned.limit.has_value() ? planned.limit : now.limit;
    changes |= IsOther(r, planned.request, now.request) || IsOther(r, planned.limit, now.limit);
    // Kubernetes uses the limit as the request of a container that has no request.
    const double request = now.request.value_or(now.limit.value_or(0));
    // A cluster bills requests. For a job without a request only the limit is known.
    if (knows_container || now.request.has_value()) {
      requests[i].Add(its_tasks * request, its_tasks * planned.request.value_or(request));
      AddMoney(job, r, its_tasks * (request - planned.request.value_or(request)));
    } else if (now.limit.has_value() && limit.has_value()) {
      AddMoney(job, r, its_tasks * (*now.limit - *limit));
    }
    if (now.limit.has_value() && limit.has_value()) {
      limits[i].Add(its_tasks * *now.limit, its_tasks * *limit);
    } else {
      ++without_limit[i];
    }
  }
  if (!has_plan) return;
  ++recommended;
  changed += changes ? 1 : 0;
  tasks += static_cast<uint64_t>(Whole(its_tasks));
}

Json ReportRow::ToJson() const {
  Json out = {{"jobs", jobs}, {"recommended", recommended}, {"changed", changed}, {"tasks", tasks}};
  for (const Resource r : kResources) {
    const auto i = static_cast<size_t>(r);
    out[kReportKeys[i]] = {{"requests", requests[i].jobs > 0 ? requests[i].ToJson() : Json()},
                           {"limits", limits[i].jobs > 0 ? limits[i].ToJson() : Json()},
                           {"without_limit", without_limit[i]}};
  }
  out["saving_per_month"] = saving.has_value() ? Json(*saving) : Json();
  return out;
}

// Returns the job's value of each label; nullopt, which sorts first, if the job lacks the label.
std::vector<std::optional<std::string>> ReportValues(const Json& job, const std::vector<std::string>& by) {
  std::vector<std::optional<std::string>> out;
  const Json& labels = At(job, "labels");
  for (const std::string& label : by) {
    const Json& value = At(labels, label);
    out.push_back(value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt);
  }
  return out;
}

std::string ReportAmount(Resource r, const Json& sums, const char* key) {
  const Json& amount = At(sums, key);
  if (!amount.is_number()) return kNothing;
  const auto value = amount.get<double>();
  if (InBytes(r)) return value < 0 ? StrCat("-", FormatBytes(-value)) : FormatBytes(value);
  return fmt::format("{:.3g}", value);
}

std::vector<std::string> ReportCells(std::vector<std::string> cells, const Json& row, bool money) {
  cells.push_back(FieldCount(row, "jobs"));
  cells.push_back(FieldCount(row, "changed"));
  for (const Resource r : kResources) {
    const Json& of = At(row, kReportKeys[static_cast<size_t>(r)]);
    cells.push_back(ReportAmount(r, At(of, "requests"), "now"));
    cells.push_back(ReportAmount(r, At(of, "requests"), "saved"));
    cells.push_back(ReportAmount(r, At(of, "limits"), "saved"));
  }
  if (!money) return cells;
  const Json& saving = At(row, "saving_per_month");
  cells.push_back(saving.is_number() ? fmt::format("{:.2f}", saving.get<double>()) : kNothing);
  return cells;
}

// Returns the table of groups and their sum. Shortens labels and their values to `width` columns.
std::string ReportTable(const Json& report, bool money, size_t width) {
  std::vector<std::string> head, all;
  for (const Json& label : ItemsAt(report, "by")) {
    head.push_back(Shortened(Printable(label.get<std::string>()), width));
    all.push_back(all.empty() ? "all" : "");
  }
  head.insert(head.end(), {"jobs", "to\nchange", "cores\nrequested", "requests\nsaved", "limits\nsaved",
                           "memory\nrequested", "requests\nsaved", "limits\nsaved"});
  if (money) head.emplace_back("saved a\nmonth");
  TextTable table(head);
  for (const Json& group : ItemsAt(report, "groups")) {
    std::vector<std::string> cells;
    for (const auto& value : At(group, "labels"))
      cells.push_back(value.is_string() ? Shortened(Printable(value.get<std::string>()), width) : "(none)");
    table.Add(ReportCells(std::move(cells), group, money));
  }
  table.Add(ReportCells(std::move(all), At(report, "total"), money));
  return table.Render();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ParseReportLabels(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string_view part : Split(text, ',')) {
    std::string label(StripSpace(part));
    if (label.empty() || std::ranges::find(out, label) != out.end()) {
      return absl::InvalidArgumentError(
          StrCat("--by: \"", text, "\": expected labels of jobs, each once, such as namespace,team"));
    }
    out.push_back(std::move(label));
  }
  return out;
}

Json ExportReport(const ReportOptions& options, const std::vector<ExportedJob>& jobs) {
  std::map<std::vector<std::optional<std::string>>, ReportRow> groups;
  ReportRow total;
  Json currency;
  for (const ExportedJob& job : jobs) {
    groups[ReportValues(job.job, options.by)].Add(options.plan, job.job);
    total.Add(options.plan, job.job);
    if (const Json& named = At(job.job, "currency"); named.is_string()) currency = named;
  }
  Json out = {{"by", options.by}, {"currency", currency}, {"groups", Json::array()}};
  for (const auto& [values, row] : groups) {
    Json labels = Json::object();
    for (size_t i = 0; i < values.size(); ++i)
      labels[options.by[i]] = values[i].has_value() ? Json(*values[i]) : Json();
    Json group = row.ToJson();
    group["labels"] = std::move(labels);
    out["groups"].push_back(std::move(group));
  }
  out["total"] = total.ToJson();
  return out;
}

std::string ExportReportText(const Json& report) {
  const bool money = At(report, "currency").is_string();
  std::string out = FittedTable(24, 6, [&](size_t width) { return ReportTable(report, money, width); });
  const Json& total = At(report, "total");
  StrAppend(&out, "Sums over the tasks of jobs with a recommendation (", FieldCount(total, "recommended"),
            " of ", FieldCount(total, "jobs"), "); less than 0: more is needed.\n");
  for (const Resource r : kResources) {
    const char* const key = kReportKeys[static_cast<size_t>(r)];
    if (const Json& of = At(total, key); FieldNumber(of, "without_limit") > 0.0)
      StrAppend(&out, "Without a ", key,
                " limit, now or then, and in no sum of limits: ", FieldCount(of, "without_limit"), ".\n");
  }
  return out +
         Wrapped(money ? StrCat("Money in ", TextAt(report, "currency"),
                                ": what this changes, at the configured prices: requests of containers, "
                                "which a cluster bills; of other jobs limits.")
                       : "Set prices.core_hour and prices.gib_hour in tautd's configuration to see money.",
                 "");
}

}  // namespace taut::tools
