// GET /allocation as OpenCost answers it, so that its clients work: names and units are those of its API.
//
// Source: the OpenCost specification and API documentation.
#include <algorithm>
#include <map>

#include "api/allocation_window.h"
#include "api/api.h"
#include "api/costs.h"
#include "api/parameters.h"
#include "base/byte_units.h"
#include "base/strings.h"
#include "base/utc_text.h"

namespace taut {
namespace {

constexpr int kDigits = 10;
constexpr std::string_view kUnallocated = "__unallocated__";
constexpr int64_t kMostSteps = 1000;

// What jobs are grouped by; one of `aggregate`, separated by commas.
struct Aggregate {
  std::string property;  // of "properties", "" for a label
  std::string by;        // as in CostQuery
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

void PutResource(Resource r, const AccountAmounts& a, double hours, double price, JsonWriter& json) {
  const bool cpu = r == Resource::kCpu;
  const double unit = cpu ? 1 : kGiB;  // of a core, and of a GiB in bytes
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

// "shop/web": of the values of a group.
std::string GroupName(const CostGroup& group) {
  std::string name;
  for (const auto& value : group.values)
    StrAppend(&name, name.empty() ? "" : "/", value.has_value() ? std::string_view(*value) : kUnallocated);
  return name;
}

void PutRow(const std::string& name, const CostGroup& group, const AccountEntry& sums,
            std::span<const Aggregate> aggregates, int64_t start_s, int64_t end_s, const Prices& prices,
            JsonWriter& json) {
  const auto value = [&](size_t i) {
    return group.values[i].has_value() ? std::string_view(*group.values[i]) : kUnallocated;
  };
  const double hours = static_cast<double>(end_s - start_s) / 3600;
  const AccountAmounts& cpu = sums.amounts(Resource::kCpu);
  const AccountAmounts& memory = sums.amounts(Resource::kMemory);
  json.Key(name);
  json.BeginObject();
  json.Field("name", std::string_view(name));
  json.Key("properties");
  json.BeginObject();
  for (size_t i = 0; i < aggregates.size(); ++i) {
    if (!aggregates[i].property.empty()) json.Field(aggregates[i].property, value(i));
  }
  json.Key("labels");
  json.BeginObject();
  for (size_t i = 0; i < aggregates.size(); ++i) {
    if (aggregates[i].property.empty()) json.Field(aggregates[i].by, value(i));
  }
  json.EndObject();
  json.EndObject();
  json.Key("window");
  json.BeginObject();
  json.Field("start", std::string_view(UtcText(start_s)));
  json.Field("end", std::string_view(UtcText(end_s)));
  json.EndObject();
  json.Field("start", std::string_view(UtcText(start_s)));
  json.Field("end", std::string_view(UtcText(end_s)));
  json.Key("minutes");
  json.Number(hours * 60, kDigits);
  PutResource(Resource::kCpu, cpu, hours, prices.per_hour[kCpuIndex], json);
  json.Field("cpuEfficiency", Efficiency(cpu));
  PutResource(Resource::kMemory, memory, hours, prices.per_hour[kMemoryIndex], json);
  json.Field("ramEfficiency", Efficiency(memory));
  // What tautd does not measure has no cost.
  for (const std::string_view none :
       {"gpuCount", "gpuHours", "gpuCost", "gpuCostAdjustment", "networkTransferBytes", "networkReceiveBytes",
        "networkCost", "networkCostAdjustment", "loadBalancerCost", "loadBalancerCostAdjustment", "pvBytes",
        "pvByteHours", "pvCost", "pvCostAdjustment", "sharedCost", "externalCost"}) {
    json.Field(none, int64_t{0});
  }
  const double cpu_cost = UnitHours(Resource::kCpu, cpu.billed) * prices.per_hour[kCpuIndex];
  const double ram_cost = UnitHours(Resource::kMemory, memory.billed) * prices.per_hour[kMemoryIndex];
  json.Key("totalCost");
  json.Number(cpu_cost + ram_cost, kDigits);
  const double both = cpu_cost + ram_cost;
  json.Field("totalEfficiency",
             both > 0 ? (Efficiency(cpu) * cpu_cost + Efficiency(memory) * ram_cost) / both : 0.0);
  json.EndObject();
}

}  // namespace

HttpResponse Api::Allocation(const HttpRequest& request, const Reach& reach) {
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
  const std::string accumulate_text = TextParameter(request, "accumulate");
  if (!accumulate_text.empty() && accumulate_text != "true" && accumulate_text != "false")
    return ErrorResponse(400, StrCat("invalid accumulate=", accumulate_text, ": expected true or false"));
  const bool accumulate = accumulate_text == "true";
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
  const WindowId hours_from = HoursFrom(*view, window->to_s);
  if (!one_set && step_s % kDaySeconds != 0 && window->from_s < hours_from.start_s()) {
    return ErrorResponse(400, StrCat("invalid step=", step_text, ": the account keeps whole days before ",
                                     UtcText(hours_from.start_s()),
                                     ": expected whole days, or a window that begins at that time or later"));
  }
  CostQuery query{.from_s = window->from_s, .to_s = window->to_s, .by = {}, .steps = CostQuery::Steps::kNone};
  for (const Aggregate& a : *aggregates) query.by.push_back(a.by);
  if (!reach.all()) query.which = [&reach](const JobRecord& job) { return reach.Has(job); };
  if (!one_set) {
    query.step_windows = static_cast<int32_t>(step_s / kWindowSeconds);
    query.steps = CostQuery::Steps::kGroups;
  }
  const absl::StatusOr<CostReport> report = ReadCosts(control_.history(), *view, query);
  if (!report.ok()) return ErrorResponse(report.status());
  JsonWriter json;
  json.BeginObject();
  json.Field("code", int64_t{200});
  json.Field("status", "success");
  json.Key("data");
  json.BeginArray();
  const int64_t end_s = std::min(report->to.start_s(), NowSeconds());
  // Groups whose values make one name are one: a set has each name once.
  const auto put_set = [&](int64_t start_s, int64_t to_s, auto sums_of) {
    std::map<std::string, std::pair<size_t, AccountEntry>> by_name;
    for (size_t i = 0; i < report->groups.size(); ++i) {
      const AccountEntry* sums = sums_of(i);
      if (sums == nullptr) continue;
      by_name.try_emplace(GroupName(report->groups[i]), i, AccountEntry()).first->second.second.Add(*sums);
    }
    json.BeginObject();
    for (const auto& [name, row] : by_name) {
      PutRow(name, report->groups[row.first], row.second, *aggregates, start_s, to_s, options_.prices, json);
    }
    json.EndObject();
  };
  if (one_set) {
    const int64_t start_s = report->from.start_s();
    put_set(start_s, std::max(end_s, start_s), [&](size_t i) { return &report->groups[i].sums; });
  } else {
    for (const CostStep& step : report->steps) {
      const int64_t start_s = step.first.start_s();
      put_set(std::max(start_s, report->from.start_s()), std::min(start_s + step_s, end_s), [&](size_t i) {
        const bool measured = i < step.groups.size() && !(step.groups[i] == AccountEntry());
        return measured ? &step.groups[i] : nullptr;
      });
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
