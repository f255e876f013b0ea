// GET /allocation as OpenCost answers it, so that its clients work: names and units are those of its API.
//
// Source: the OpenCost specification and API documentation.
#include <algorithm>
#include <map>

#include "absl/time/time.h"
#include "api/allocation_window.h"
#include "api/api.h"
#include "api/costs.h"
#include "api/parameters.h"
#include "base/strings.h"

namespace taut {
namespace {

constexpr int kDigits = 10;
constexpr std::string_view kUnallocated = "__unallocated__";
constexpr int64_t kMostSteps = 1000;

// What jobs are grouped by; one of `aggregate`, separated by commas.
struct Aggregate {
  std::string property;  // of "properties", "" for a label
  std::string by;        // as CostKeyOf
};

absl::StatusOr<std::vector<Aggregate>> AggregatesOf(std::string_view text) {
  std::vector<Aggregate> out;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), name.size() + 1));
    if (name.starts_with("label:") && name.size() > 6) {
      out.push_back({"", std::string(name.substr(6))});
    } else if (name == "namespace" || name == "cluster") {
      out.push_back({std::string(name), std::string(name)});
    } else if (name == "controller") {
      out.push_back({std::string(name), std::string(kByJob)});
    } else {
      return absl::InvalidArgumentError(
          StrCat("invalid aggregate=", name,
                 ": expected cluster, namespace, controller (a job) or label:NAME, or several of them with "
                 "commas; tautd's account has jobs, not pods, nodes or services"));
    }
  }
  if (out.empty()) out.push_back({"controller", std::string(kByJob)});
  return out;
}

struct Row {
  std::vector<std::string> keys;  // by aggregate
  AccountEntry sums;
};

void PutResource(Resource r, const AccountAmounts& a, double hours, double price, JsonWriter& json) {
  const bool cpu = r == Resource::kCpu;
  const double unit = cpu ? 1 : 1024.0 * 1024 * 1024;  // of a core, and of a GiB in bytes
  const auto put = [&](std::string_view name, double value) {
    json.Key(name);
    json.Number(value, kDigits);
  };
  const auto average = [&](uint64_t quantity) {
    return hours > 0 ? UnitHours(r, quantity) * unit / hours : 0;
  };
  put(cpu ? "cpuCores" : "ramBytes", average(a.billed));
  put(cpu ? "cpuCoreRequestAverage" : "ramByteRequestAverage", average(a.allocation));
  put(cpu ? "cpuCoreUsageAverage" : "ramByteUsageAverage", average(a.usage));
  put(cpu ? "cpuCoreHours" : "ramByteHours", UnitHours(r, a.billed) * unit);
  put(cpu ? "cpuCost" : "ramCost", UnitHours(r, a.billed) * price);
  put(cpu ? "cpuCostAdjustment" : "ramCostAdjustment", 0);
}

// Usage over what was asked for; 1 where nothing was, but something was used.
double Efficiency(const AccountAmounts& a) {
  if (a.allocation > 0) return static_cast<double>(a.usage) / static_cast<double>(a.allocation);
  return a.usage > 0 ? 1 : 0;
}

void PutRow(const std::string& name, const Row& row, std::span<const Aggregate> aggregates, int64_t start_s,
            int64_t end_s, const Prices& prices, JsonWriter& json) {
  const auto time = [](int64_t s) {
    return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixSeconds(s), absl::UTCTimeZone());
  };
  const double hours = static_cast<double>(end_s - start_s) / 3600;
  const AccountAmounts& cpu = row.sums.amounts(Resource::kCpu);
  const AccountAmounts& memory = row.sums.amounts(Resource::kMemory);
  json.Key(name);
  json.BeginObject();
  json.Field("name", std::string_view(name));
  json.Key("properties");
  json.BeginObject();
  for (size_t i = 0; i < aggregates.size(); ++i) {
    if (!aggregates[i].property.empty()) json.Field(aggregates[i].property, std::string_view(row.keys[i]));
  }
  json.Key("labels");
  json.BeginObject();
  for (size_t i = 0; i < aggregates.size(); ++i) {
    if (aggregates[i].property.empty()) json.Field(aggregates[i].by, std::string_view(row.keys[i]));
  }
  json.EndObject();
  json.EndObject();
  json.Key("window");
  json.BeginObject();
  json.Field("start", std::string_view(time(start_s)));
  json.Field("end", std::string_view(time(end_s)));
  json.EndObject();
  json.Field("start", std::string_view(time(start_s)));
  json.Field("end", std::string_view(time(end_s)));
  json.Key("minutes");
  json.Number(hours * 60, kDigits);
  PutResource(Resource::kCpu, cpu, hours, prices.core_hour, json);
  json.Field("cpuEfficiency", Efficiency(cpu));
  PutResource(Resource::kMemory, memory, hours, prices.gib_hour, json);
  json.Field("ramEfficiency", Efficiency(memory));
  // What tautd does not measure has no cost.
  for (const std::string_view none :
       {"gpuCount", "gpuHours", "gpuCost", "gpuCostAdjustment", "networkTransferBytes", "networkReceiveBytes",
        "networkCost", "networkCostAdjustment", "loadBalancerCost", "loadBalancerCostAdjustment", "pvBytes",
        "pvByteHours", "pvCost", "pvCostAdjustment", "sharedCost", "externalCost"}) {
    json.Field(none, int64_t{0});
  }
  const double cpu_cost = UnitHours(Resource::kCpu, cpu.billed) * prices.core_hour;
  const double ram_cost = UnitHours(Resource::kMemory, memory.billed) * prices.gib_hour;
  json.Key("totalCost");
  json.Number(cpu_cost + ram_cost, kDigits);
  const double both = cpu_cost + ram_cost;
  json.Field("totalEfficiency",
             both > 0 ? (Efficiency(cpu) * cpu_cost + Efficiency(memory) * ram_cost) / both : 0.0);
  json.EndObject();
}

using Rows = std::map<std::string, Row>;

void AddTo(const CostJob& job, const AccountEntry& sums, std::span<const Aggregate> aggregates, Rows& rows) {
  Row row;
  std::string name;
  for (const Aggregate& a : aggregates) {
    row.keys.push_back(CostKeyOf(job, a.by).value_or(std::string(kUnallocated)));
    StrAppend(&name, name.empty() ? "" : "/", row.keys.back());
  }
  Row& kept = rows.try_emplace(std::move(name), std::move(row)).first->second;
  kept.sums.Add(sums);
}

}  // namespace

HttpResponse Api::Allocation(const HttpRequest& request) {
  if (absl::Status s = OnlyParameters(request, {"window", "aggregate", "step", "accumulate", "resolution",
                                                "includeIdle", "shareIdle", "idleByNode"});
      !s.ok()) {
    return ErrorResponse(s);
  }
  const absl::StatusOr<TimeSpan> window = AllocationWindow(TextParameter(request, "window"), NowSeconds());
  if (!window.ok()) return ErrorResponse(window.status());
  const absl::StatusOr<std::vector<Aggregate>> aggregates = AggregatesOf(TextParameter(request, "aggregate"));
  if (!aggregates.ok()) return ErrorResponse(aggregates.status());
  const std::string step_text = TextParameter(request, "step");
  const bool accumulate = TextParameter(request, "accumulate") == "true";
  int64_t step_s = window->to_s - window->from_s;
  if (!step_text.empty() && !accumulate) {
    const absl::StatusOr<int64_t> step = AllocationDuration("step", step_text);
    if (!step.ok()) return ErrorResponse(step.status());
    step_s = *step;
  }
  const bool one_set = step_s >= window->to_s - window->from_s;
  if (!one_set && (step_s % 3600 != 0 || (window->to_s - window->from_s) / step_s > kMostSteps)) {
    return ErrorResponse(400, StrCat("invalid step=", step_text, ": expected whole hours, at most ",
                                     kMostSteps, " steps in the window"));
  }
  const std::shared_ptr<const FleetView> view = control_.view();
  const absl::StatusOr<CostReport> report = ReadCosts(
      control_.history(), *view, window->from_s, window->to_s,
      one_set ? kWindowsPerHour : static_cast<int32_t>(step_s / kWindowSeconds), StepJobs::kInclude);
  if (!report.ok()) return ErrorResponse(report.status());
  JsonWriter json;
  json.BeginObject();
  json.Field("code", int64_t{200});
  json.Field("status", "success");
  json.Key("data");
  json.BeginArray();
  const int64_t end_s = std::min(report->to.start_s(), NowSeconds());
  const auto put_set = [&](const Rows& rows, int64_t start_s, int64_t to_s) {
    json.BeginObject();
    for (const auto& [name, row] : rows) PutRow(name, row, *aggregates, start_s, to_s, options_.prices, json);
    json.EndObject();
  };
  if (one_set) {
    Rows rows;
    for (const CostJob& job : report->jobs) AddTo(job, job.sums, *aggregates, rows);
    put_set(rows, report->from.start_s(), std::max(end_s, report->from.start_s()));
  } else {
    for (const CostStep& step : report->steps) {
      Rows rows;
      for (const CostJob& job : report->jobs) {
        if (const auto at = step.jobs.find(job.id.value); at != step.jobs.end())
          AddTo(job, at->second, *aggregates, rows);
      }
      put_set(rows, step.first.start_s(), std::min(step.first.start_s() + step_s, end_s));
    }
  }
  json.EndArray();
  std::string warning;
  if (!options_.prices.known()) {
    warning = "costs are 0: prices.core_hour and prices.gib_hour are not set";
  }
  if (TextParameter(request, "includeIdle") == "true" || TextParameter(request, "shareIdle") == "true") {
    StrAppend(&warning, warning.empty() ? "" : "; ", "idle capacity of machines is not included");
  }
  if (!warning.empty()) json.Field("warning", std::string_view(warning));
  json.EndObject();
  return JsonResponse(200, json.Take());
}

}  // namespace taut
