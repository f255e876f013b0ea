// API handlers for the cell's machines.
#include "common/base/strings.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"
#include "server/pool/explain_machine.h"
#include "server/pool/machine_list.h"

namespace taut::server {
namespace {

constexpr const char* kNoMachines =
    "no source of machines is configured (agents.listen or kubernetes.kubeconfig)";

void PutCounts(const PromiseCounts& counts, JsonWriter& json) {
  json.Key("promises");
  json.BeginObject();
  json.Field("judged", static_cast<int64_t>(counts.judged));
  json.Field("passed", static_cast<int64_t>(counts.passed));
  json.EndObject();
}

void PutMachineAmounts(const MachineAmounts& a, JsonWriter& json) {
  json.BeginObject();
  PutAmount("capacity", a.capacity, json);
  PutAmount("limits", a.limits, json);
  json.Field("without_limit", int64_t{a.without_limit});
  json.Field("measured_tasks", int64_t{a.measured_tasks});
  PutAmount("reservations", a.reservations, json);
  PutAmount("usage", a.usage, json);
  PutAmount("predicted", a.predicted, json);
  json.Field("learnt", a.learnt);
  PutAmount("reclaimable", a.reclaimable, json);
  PutAmount("reclaimable_now", a.reclaimable_now, json);
  json.Field("why", std::string_view(a.why));
  PutCounts(a.promises, json);
  json.EndObject();
}

// Writes the fields of a Machine without the braces.
void PutMachineFields(const MachineView& m, JsonWriter& json) {
  json.Field("name", std::string_view(m.name));
  json.Field("source", std::string_view(m.source));
  json.Key("also_in");
  json.BeginArray();
  for (const std::string& source : m.also_in) json.String(source);
  json.EndArray();
  json.Field("present", m.present);
  json.Field("ready", m.ready);
  PutTime("seen", m.seen_s, json);
  json.Field("tasks", static_cast<int64_t>(m.tasks.size()));
  for (const Resource r : kResources) {
    json.Key(Name(r));
    PutMachineAmounts(m.of(r), json);
  }
}

void PutSums(const MachineTotals::Of& of, JsonWriter& json) {
  json.BeginObject();
  PutAmount("capacity", of.capacity.value(), json);
  PutAmount("limits", of.limits.value(), json);
  PutAmount("reservations", of.reservations.value(), json);
  PutAmount("usage", of.usage.value(), json);
  json.Field("measured_machines", int64_t{of.usage.machines});
  PutAmount("predicted", of.predicted.value(), json);
  json.Field("predicted_machines", int64_t{of.predicted.machines});
  json.Field("learnt_machines", int64_t{of.learnt});
  PutAmount("reclaimable", of.reclaimable.value(), json);
  PutAmount("reclaimable_now", of.reclaimable_now.value(), json);
  json.EndObject();
}

void PutHead(const MachinesView& view, JsonWriter& json) {
  PutTime("window_end", view.window.has_value() ? view.window->next().start_s() : INT64_MIN, json);
  json.Field("risk", view.risk);
  json.Field("horizon_seconds", static_cast<int64_t>(view.horizon_h * 3600));
}

void PutTotals(const MachinesView& view, JsonWriter& json) {
  json.Key("totals");
  json.BeginArray();
  for (const MachineTotals& totals : view.totals) {
    json.BeginObject();
    json.Field("source", std::string_view(totals.source));
    json.Field("machines", int64_t{totals.machines});
    json.Field("present", int64_t{totals.present});
    json.Field("tasks", int64_t{totals.tasks});
    for (const Resource r : kResources) {
      json.Key(Name(r));
      PutSums(totals.of[static_cast<size_t>(r)], json);
    }
    json.EndObject();
  }
  json.EndArray();
  json.Key("delivered");
  json.BeginObject();
  json.Field("days", int64_t{kPromiseDays});
  for (const Resource r : kResources) {
    json.Key(Name(r));
    json.BeginObject();
    PutCounts(view.promises[static_cast<size_t>(r)], json);
    json.EndObject();
  }
  json.EndObject();
}

void PutTask(const MachineTaskView& task, JsonWriter& json) {
  json.BeginObject();
  json.Field("job", std::string_view(task.job));
  json.Field("task", std::string_view(task.task));
  for (const Resource r : kResources) {
    const auto i = static_cast<size_t>(r);
    json.Key(Name(r));
    json.BeginObject();
    PutAmount("limit", task.limit[i], json);
    PutAmount("reservation", task.reservation[i], json);
    PutAmount("usage", task.usage[i], json);
    json.EndObject();
  }
  json.EndObject();
}

// Parses the query. Without the parameter `order`, the default order of the sort key applies.
absl::StatusOr<MachinesQuery> QueryOf(const HttpRequest& request) {
  MachinesQuery query;
  query.search = TextParameter(request, "search");
  query.source = TextParameter(request, "source");
  if (const std::string sort = TextParameter(request, "sort"); !sort.empty()) query.sort = sort;
  if (!IsMachineSort(query.sort))
    return absl::InvalidArgumentError(StrCat("invalid sort=", query.sort, ": expected ", MachineSorts()));
  const absl::StatusOr<PageOfList> page = PageParameters(request);
  if (!page.ok()) return page.status();
  query.ascending = page->ascending;
  query.offset = page->offset;
  query.limit = page->limit;
  return query;
}

HttpResponse GetMachines(const ApiCall& call, const MachineService* service) {
  if (absl::Status s = OnlyParameters(call.request, {"search", "source", "sort", "order", "offset", "limit"});
      !s.ok())
    return ErrorResponse(s);
  const absl::StatusOr<MachinesQuery> query = QueryOf(call.request);
  if (!query.ok()) return ErrorResponse(query.status());
  const std::shared_ptr<const MachinesView> view =
      service != nullptr ? service->View() : std::make_shared<MachinesView>();
  const MachinesPage page = ListMachines(*view, *query);
  JsonWriter json;
  json.BeginObject();
  json.Field("enabled", service != nullptr);
  PutHead(*view, json);
  json.Field("total", static_cast<int64_t>(page.total));
  json.Field("offset", static_cast<int64_t>(query->offset));
  PutTotals(*view, json);
  json.Key("machines");
  json.BeginArray();
  for (const auto& machine : page.machines) {
    json.BeginObject();
    PutMachineFields(*machine, json);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return JsonResponse(200, json.Take());
}

HttpResponse GetMachine(const ApiCall& call, const MachineService* service) {
  if (absl::Status s = OnlyParameters(call.request, {"source"}); !s.ok()) return ErrorResponse(s);
  if (service == nullptr) return ErrorResponse(404, kNoMachines);
  const absl::StatusOr<MachineService::Detail> found =
      service->Find(call.request.segments[3], TextParameter(call.request, "source"));
  if (!found.ok()) return ErrorResponse(found.status());
  const std::shared_ptr<const MachinesView> view = service->View();
  JsonWriter json;
  json.BeginObject();
  PutHead(*view, json);
  PutMachineFields(*found->machine, json);
  json.Key("explanation");
  json.BeginArray();
  for (const Resource r : kResources)
    json.String(ExplainMachine(*found->machine, r, found->reasons[static_cast<size_t>(r)], *view));
  json.EndArray();
  json.Key("forecasts");
  json.BeginObject();
  for (const Resource r : kResources) {
    json.Key(Name(r));
    PutReason(found->reasons[static_cast<size_t>(r)], json);
  }
  json.EndObject();
  json.Key("task_list");
  json.BeginArray();
  for (const MachineTaskView& task : found->machine->tasks) PutTask(task, json);
  json.EndArray();
  json.EndObject();
  return JsonResponse(200, json.Take());
}

}  // namespace

void AddMachineRoutes(const MachineService* service, RouteTable& routes) {
  routes.Add("GET", "/api/v1/machines", Act::kSeePlatform,
             [service](const ApiCall& call) { return GetMachines(call, service); });
  routes.Add("GET", "/api/v1/machines/{name}", Act::kSeePlatform,
             [service](const ApiCall& call) { return GetMachine(call, service); });
}

}  // namespace taut::server
