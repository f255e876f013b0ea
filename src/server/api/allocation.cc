// API handler for GET /allocation, for clients of OpenCost, with the names and units of OpenCost's API.
//
// Source: the OpenCost specification and API documentation.
#include <algorithm>
#include <map>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "common/base/utc_text.h"
#include "server/api/allocation_filter.h"
#include "server/api/allocation_idle.h"
#include "server/api/allocation_window.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"
#include "server/pool/capacity_service.h"
#include "server/pool/capacity_text.h"
#include "server/pool/costs.h"

namespace taut::server {
namespace {

constexpr int kDigits = 10;
constexpr std::string_view kUnallocated = "__unallocated__";
constexpr int64_t kMostSteps = 1000;

// A grouping of jobs, from one element of the comma-separated parameter `aggregate`.
struct Aggregate {
  std::string property;  // key in the row's "properties"; "" for a label
  std::string by;        // property by which jobs are grouped (CostQuery::by)
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

// Writes the row's amounts and costs of a resource. `idle_cost` is the row's share of the cost of idle capacity.
void PutResource(Resource r, const AccountAmounts& a, double hours, double price, double idle_cost,
                 JsonWriter& json) {
  const bool cpu = r == Resource::kCpu;
  const double unit = cpu ? 1 : kGiB;  // one core, or one GiB in bytes
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
  put(cpu ? "cpuCost" : "ramCost", UnitHours(r, a.billed) * price + idle_cost);
  put(cpu ? "cpuCostIdle" : "ramCostIdle", idle_cost);
  put(cpu ? "cpuCostAdjustment" : "ramCostAdjustment", 0);
}

// Returns usage divided by allocation; 1 if there was usage without an allocation.
double Efficiency(const AccountAmounts& a) {
  if (a.allocation > 0) return static_cast<double>(a.usage) / static_cast<double>(a.allocation);
  return a.usage > 0 ? 1 : 0;
}

// Returns the name of a group, which joins its values: "shop/web".
std::string GroupName(const CostGroup& group) {
  std::string name;
  for (const auto& value : group.values)
    StrAppend(&name, name.empty() ? "" : "/", value.has_value() ? std::string_view(*value) : kUnallocated);
  return name;
}

struct Span {
  int64_t start_s, end_s;
};

// One row of a set. The rows of a set are sorted by name.
struct Row {
  size_t group = 0;
  AccountEntry sums;
  double shared = 0;              // share of the cost of shared namespaces
  PerResource<double> idle = {};  // share of the cost of idle capacity, by resource
};

double CostOf(Resource r, const AccountEntry& sums, const Prices& prices) {
  return UnitHours(r, sums.amounts(r).billed) * prices.per_hour[static_cast<size_t>(r)];
}

double CostOf(const AccountEntry& sums, const Prices& prices) {
  return CostOf(Resource::kCpu, sums, prices) + CostOf(Resource::kMemory, sums, prices);
}

// A parsed request for allocations.
struct AllocationQuery {
  TimeSpan window;
  std::vector<Aggregate> aggregates;
  int64_t step_s = 0;
  bool one_set = false;
  CostQuery costs;
  std::vector<std::string> shared;  // namespaces whose costs are shared among the rows of other namespaces
  bool shared_evenly = false;
  bool has_idle = false, shares_idle = false;
};

// Sources of the data for a response.
struct AllocationSource {
  History& history;
  const FleetView& view;
  const Reach& reach;
  const Prices& prices;
  int64_t now_s;
  const CapacityService* capacity;  // capacity; null: not configured

  bool Reaches(const JobRecord& job) const { return reach.all() || reach.Has(job); }
};

// Returns the length of a set in seconds, from the parameter `step` or `accumulate`.
absl::StatusOr<int64_t> StepOf(const HttpRequest& request, int64_t window_s) {
  const std::string accumulate = TextParameter(request, "accumulate"), step = TextParameter(request, "step");
  if (accumulate == "true") return window_s;
  if (accumulate == "day") return kDaySeconds;
  if (accumulate == "hour") return 3600;
  if (!accumulate.empty() && accumulate != "false") {
    return absl::InvalidArgumentError(
        StrCat("invalid accumulate=", accumulate, ": expected true, false, hour or day"));
  }
  return step.empty() ? window_s : AllocationDuration("step", step);
}

// Returns an error if a step or the whole window requires single hours of days for which the account has only
// daily sums.
absl::Status CheckHours(const TimeSpan& window, int64_t step_s, bool is_between_times, int64_t hours_from_s) {
  if (window.from_s >= hours_from_s) return absl::OkStatus();
  const int64_t length = window.to_s - window.from_s;
  if (step_s < length && step_s % kDaySeconds != 0) {
    return absl::InvalidArgumentError(
        StrCat("invalid step=", step_s, "s: the account keeps whole days before ", UtcText(hours_from_s),
               ": expected whole days, or a window that begins at that time or later"));
  }
  const bool begins_a_day = window.from_s % kDaySeconds == 0;
  const bool ends_a_day = window.to_s >= hours_from_s || window.to_s % kDaySeconds == 0;
  if (begins_a_day && ends_a_day) return absl::OkStatus();
  // a request for a duration such as "7d" is answered with whole days
  if (!is_between_times && length >= kDaySeconds) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("invalid window: from ", UtcText(window.from_s), " to ", UtcText(window.to_s),
             ", of which the account keeps whole days before ", UtcText(hours_from_s),
             ": expected midnights of UTC, or a window that begins at that time or later"));
}

bool IsIn(const std::vector<std::string>& namespaces, const JobRecord& job) {
  const auto at = std::ranges::find(job.labels, "namespace", &brain::KeyValue::first);
  return at != job.labels.end() && std::ranges::find(namespaces, at->second) != namespaces.end();
}

// Distributes `shared` over the rows, evenly or in proportion to each row's own cost.
void Share(double shared, bool evenly, const Prices& prices, std::map<std::string, Row>& rows) {
  double sum = 0;
  for (const auto& [name, row] : rows) sum += CostOf(row.sums, prices);
  for (auto& [name, row] : rows) {
    const double part =
        evenly || sum <= 0 ? 1.0 / static_cast<double>(rows.size()) : CostOf(row.sums, prices) / sum;
    row.shared = shared * part;
  }
}

// Distributes the idle cost of each resource over the rows, in proportion to their share of the cost of all jobs,
// like OpenCost.
void ShareIdle(const AccountEntry& idle, const AccountEntry& all, const Prices& prices,
               std::map<std::string, Row>& rows) {
  for (const Resource r : {Resource::kCpu, Resource::kMemory}) {
    const double of_all = CostOf(r, all, prices);
    for (auto& [name, row] : rows) {
      if (of_all > 0) row.idle[IndexOf(r)] = CostOf(r, idle, prices) * CostOf(r, row.sums, prices) / of_all;
    }
  }
}

absl::Status TakeShared(const HttpRequest& request, AllocationQuery& query) {
  const std::string namespaces = TextParameter(request, "shareNamespaces");
  for (const std::string_view name : Split(namespaces, ',')) {
    if (!StripSpace(name).empty()) query.shared.emplace_back(StripSpace(name));
  }
  const std::string split = TextParameter(request, "shareSplit");
  query.shared_evenly = split == "even";
  if (split.empty() || split == "weighted" || split == "even") return absl::OkStatus();
  return absl::InvalidArgumentError(StrCat("invalid shareSplit=", split, ": expected weighted or even"));
}

absl::Status TakeCosts(const HttpRequest& request, const AllocationSource& source, AllocationQuery& query) {
  absl::StatusOr<JobFilter> filter = AllocationFilterOf(request);
  if (!filter.ok()) return filter.status();
  if (absl::Status s = TakeShared(request, query); !s.ok()) return s;
  CostQuery& costs = query.costs;
  costs = {
      .from_s = query.window.from_s, .to_s = query.window.to_s, .by = {}, .steps = CostQuery::Steps::kNone};
  for (const Aggregate& a : query.aggregates) costs.by.push_back(a.by);
  if (!source.reach.all() || *filter != nullptr || !query.shared.empty()) {
    costs.which = [&source, filter = *std::move(filter), shared = query.shared](const JobRecord& job) {
      return source.Reaches(job) && (filter == nullptr || filter(job)) && !IsIn(shared, job);
    };
  }
  if (!query.one_set) {
    costs.step_windows = static_cast<int32_t>(query.step_s / kWindowSeconds);
    costs.steps = CostQuery::Steps::kGroups;
  }
  return absl::OkStatus();
}

absl::StatusOr<AllocationQuery> QueryOf(const HttpRequest& request, const AllocationSource& source) {
  AllocationQuery query;
  const std::string window_text = TextParameter(request, "window");
  const absl::StatusOr<TimeSpan> window = AllocationWindow(window_text, source.now_s);
  if (!window.ok()) return window.status();
  query.window = *window;
  absl::StatusOr<std::vector<Aggregate>> aggregates = AggregatesOf(TextParameter(request, "aggregate"));
  if (!aggregates.ok()) return aggregates.status();
  query.aggregates = *std::move(aggregates);
  const int64_t length = window->to_s - window->from_s;
  const absl::StatusOr<int64_t> step = StepOf(request, length);
  if (!step.ok()) return step.status();
  query.step_s = *step;
  query.one_set = *step >= length;
  if (!query.one_set && (*step % 3600 != 0 || length / *step > kMostSteps)) {
    return absl::InvalidArgumentError(StrCat("invalid step=", TextParameter(request, "step"),
                                             ": expected whole hours, at most ", kMostSteps,
                                             " steps in the window"));
  }
  const bool is_between_times = window_text.find(',') != std::string::npos;
  if (absl::Status s =
          CheckHours(*window, *step, is_between_times, HoursFrom(source.view, source.now_s).start_s());
      !s.ok()) {
    return s;
  }
  if (absl::Status s = TakeCosts(request, source, query); !s.ok()) return s;
  query.has_idle = TextParameter(request, "includeIdle") == "true" && source.reach.all();
  query.shares_idle = query.has_idle && TextParameter(request, "shareIdle") == "true";
  return query;
}

// Returns the costs of shared namespaces; empty if there are none.
absl::StatusOr<CostReport> ReadShared(const AllocationQuery& query, const AllocationSource& source) {
  if (query.shared.empty()) return CostReport();
  CostQuery costs = query.costs;
  costs.by.clear();
  if (!query.one_set) costs.steps = CostQuery::Steps::kTotals;
  costs.which = [&](const JobRecord& job) { return source.Reaches(job) && IsIn(query.shared, job); };
  return ReadCosts(source.history, source.view, costs);
}

// Data for idle capacity: the charges of all jobs, and the capacity of the machines.
struct IdleSource {
  std::optional<IdleCapacity> capacity;  // capacity; nullopt: idle capacity was not requested
  std::optional<CostReport> read;        // costs of all jobs; nullopt if the rows cover all jobs
  const CostReport* all = nullptr;

  const AccountEntry* AllOf(const CostStep& step) const {
    const auto at = std::ranges::find(all->steps, step.first, &CostStep::first);
    return at == all->steps.end() ? nullptr : &at->sums;
  }
};

absl::StatusOr<IdleSource> ReadIdle(const AllocationQuery& query, const AllocationSource& source,
                                    const CostReport& report) {
  IdleSource idle;
  idle.all = &report;
  if (!query.has_idle || source.capacity == nullptr) return idle;
  idle.capacity.emplace(source.capacity->History(report.from.start_s() - IdleCapacity::kBeforeSeconds,
                                                 report.to.start_s(), 3600));
  if (query.costs.which == nullptr) return idle;
  CostQuery costs = query.costs;
  costs.by.clear();
  costs.which = nullptr;
  if (!query.one_set) costs.steps = CostQuery::Steps::kTotals;
  absl::StatusOr<CostReport> all = ReadCosts(source.history, source.view, costs);
  if (!all.ok()) return all.status();
  idle.read = *std::move(all);
  idle.all = nullptr;  // `all` is set once `read` has its final address
  return idle;
}

// Writes the sets of allocations of a response.
class SetWriter {
 public:
  SetWriter(const AllocationQuery& query, const AllocationSource& source, const CostReport& report,
            const IdleSource& idle, JsonWriter& json)
      : query_(query), source_(source), report_(report), idle_(idle), json_(json) {}

  // Writes one set. `all` contains the sums of all jobs; null: unknown. `sums_of(index)` returns the sums of a
  // group; null: none.
  template <typename SumsOf>
  void Put(Span span, double to_share, const AccountEntry* all, SumsOf sums_of) {
    // Merge groups with equal names, so that each name appears once in a set.
    std::map<std::string, Row> rows;
    for (size_t i = 0; i < report_.groups.size(); ++i) {
      if (const AccountEntry* sums = sums_of(i); sums != nullptr)
        rows.try_emplace(GroupName(report_.groups[i]), Row{i, {}, 0, {}}).first->second.sums.Add(*sums);
    }
    Share(to_share, query_.shared_evenly, source_.prices, rows);
    std::optional<AccountEntry> idle;
    if (idle_.capacity.has_value() && all != nullptr)
      idle = idle_.capacity->Of(span.start_s, span.end_s, *all);
    knows_idle_ = knows_idle_ || idle.has_value();
    if (idle.has_value() && query_.shares_idle) ShareIdle(*idle, *all, source_.prices, rows);
    json_.BeginObject();
    for (const auto& [name, row] : rows) PutRow(name, report_.groups[row.group], row, span);
    if (idle.has_value() && !query_.shares_idle) PutIdle(*idle, span);
    json_.EndObject();
  }
  bool knows_idle() const { return knows_idle_; }

 private:
  void PutRow(const std::string& name, const CostGroup& group, const Row& row, Span span);
  void PutIdle(const AccountEntry& idle, Span span);

  const AllocationQuery& query_;
  const AllocationSource& source_;
  const CostReport& report_;
  const IdleSource& idle_;
  JsonWriter& json_;
  bool knows_idle_ = false;
};

void SetWriter::PutRow(const std::string& name, const CostGroup& group, const Row& row, Span span) {
  const std::vector<Aggregate>& aggregates = query_.aggregates;
  const Prices& prices = source_.prices;
  JsonWriter& json = json_;
  const AccountEntry& sums = row.sums;
  const auto& [start_s, end_s] = span;
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
  PutResource(Resource::kCpu, cpu, hours, prices.per_hour[kCpuIndex], row.idle[kCpuIndex], json);
  json.Field("cpuEfficiency", Efficiency(cpu));
  PutResource(Resource::kMemory, memory, hours, prices.per_hour[kMemoryIndex], row.idle[kMemoryIndex], json);
  json.Field("ramEfficiency", Efficiency(memory));
  // Resources that tautd does not measure have no cost.
  for (const std::string_view none :
       {"gpuCount", "gpuHours", "gpuCost", "gpuCostAdjustment", "networkTransferBytes", "networkReceiveBytes",
        "networkCost", "networkCostAdjustment", "loadBalancerCost", "loadBalancerCostAdjustment", "pvBytes",
        "pvByteHours", "pvCost", "pvCostAdjustment", "externalCost"}) {
    json.Field(none, int64_t{0});
  }
  json.Key("sharedCost");
  json.Number(row.shared, kDigits);
  const double cpu_cost = CostOf(Resource::kCpu, sums, prices) + row.idle[kCpuIndex];
  const double ram_cost = CostOf(Resource::kMemory, sums, prices) + row.idle[kMemoryIndex];
  json.Key("totalCost");
  json.Number(cpu_cost + ram_cost + row.shared, kDigits);
  const double both = cpu_cost + ram_cost;
  json.Field("totalEfficiency",
             both > 0 ? (Efficiency(cpu) * cpu_cost + Efficiency(memory) * ram_cost) / both : 0.0);
  json.EndObject();
}

void SetWriter::PutIdle(const AccountEntry& idle, Span span) {
  CostGroup group;
  group.values.assign(query_.aggregates.size(), std::string(kIdleName));
  PutRow(std::string(kIdleName), group, Row{0, idle, 0, {}}, span);
}

// Writes all sets. Returns true if the idle capacity of a set is known.
absl::StatusOr<bool> PutData(const AllocationQuery& query, const AllocationSource& source, JsonWriter& json) {
  const absl::StatusOr<CostReport> report = ReadCosts(source.history, source.view, query.costs);
  if (!report.ok()) return report.status();
  const absl::StatusOr<CostReport> shared = ReadShared(query, source);
  if (!shared.ok()) return shared.status();
  absl::StatusOr<IdleSource> idle = ReadIdle(query, source, *report);
  if (!idle.ok()) return idle.status();
  if (idle->read.has_value()) idle->all = &*idle->read;
  json.Key("data");
  json.BeginArray();
  SetWriter sets(query, source, *report, *idle, json);
  const int64_t end_s = std::min(report->to.start_s(), source.now_s);
  if (query.one_set) {
    const int64_t start_s = report->from.start_s();
    sets.Put({start_s, std::max(end_s, start_s)}, CostOf(shared->sums, source.prices), &idle->all->sums,
             [&](size_t i) { return &report->groups[i].sums; });
  }
  for (const CostStep& step : report->steps) {
    const int64_t start_s = step.first.start_s();
    const auto of_shared = std::ranges::find(shared->steps, step.first, &CostStep::first);
    const double to_share = of_shared == shared->steps.end() ? 0 : CostOf(of_shared->sums, source.prices);
    sets.Put({std::max(start_s, report->from.start_s()), std::min(start_s + query.step_s, end_s)}, to_share,
             idle->AllOf(step), [&](size_t i) {
               const bool measured = i < step.groups.size() && !(step.groups[i] == AccountEntry());
               return measured ? &step.groups[i] : nullptr;
             });
  }
  json.EndArray();
  return sets.knows_idle();
}

// Returns a text about the parts that the response lacks, with the reasons; "" if the response is complete.
std::string AllocationWarning(const HttpRequest& request, const AllocationSource& source, bool knows_idle) {
  std::vector<std::string> parts;
  if (!source.prices.known())
    parts.emplace_back("costs are 0: prices.core_hour and prices.gib_hour are not set");
  const bool includes = TextParameter(request, "includeIdle") == "true";
  if (TextParameter(request, "shareIdle") == "true" && !includes)
    parts.emplace_back("shareIdle=true shares what includeIdle=true includes: nothing is shared");
  if (includes && !source.reach.all()) {
    parts.emplace_back("idle capacity is that of the whole cell, and left out of the costs of groups");
  } else if (includes && !knows_idle) {
    const std::string why = source.capacity != nullptr ? CapacityWhy(*source.capacity->View()) : "";
    parts.push_back(StrCat("idle capacity is left out: ",
                           why.empty() ? "the capacity of the cell is not known for this window" : why));
  }
  return Join(parts, "; ");
}

HttpResponse GetAllocation(const ApiCall& call, const FleetAccess& access, const CapacityService* capacity) {
  if (absl::Status s = OnlyParameters(
          call.request, {"window", "aggregate", "step", "accumulate", "resolution", "includeIdle",
                         "shareIdle", "idleByNode", "filter", "filterClusters", "filterNamespaces",
                         "filterControllers", "filterLabels", "shareNamespaces", "shareSplit"});
      !s.ok()) {
    return ErrorResponse(s);
  }
  const std::shared_ptr<const FleetView> view = access.control().view();
  const AllocationSource source{access.control().history(), *view,   call.reach, access.prices(),
                                access.NowSeconds(),        capacity};
  const absl::StatusOr<AllocationQuery> query = QueryOf(call.request, source);
  if (!query.ok()) return ErrorResponse(query.status());
  JsonWriter json;
  json.BeginObject();
  json.Field("code", int64_t{200});
  json.Field("status", "success");
  const absl::StatusOr<bool> knows_idle = PutData(*query, source, json);
  if (!knows_idle.ok()) return ErrorResponse(knows_idle.status());
  const std::string warning = AllocationWarning(call.request, source, *knows_idle);
  if (!warning.empty()) json.Field("warning", std::string_view(warning));
  json.EndObject();
  return JsonResponse(200, json.Take());
}

}  // namespace

void AddAllocationRoutes(const FleetAccess& access, const CapacityService* capacity, RouteTable& routes) {
  routes.Add("GET", "/allocation", Act::kSeeMoney,
             [&access, capacity](const ApiCall& call) { return GetAllocation(call, access, capacity); });
  routes.Add("GET", "/allocation/compute", Act::kSeeMoney,
             [&access, capacity](const ApiCall& call) { return GetAllocation(call, access, capacity); });
}

}  // namespace taut::server
