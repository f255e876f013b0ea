// API handlers for the daemon: status, health, agents, metrics.
#include "common/base/metrics_text.h"
#include "common/base/strings.h"
#include "server/api/agents.h"
#include "server/api/pages.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"
#include "server/control/control_metrics.h"

namespace taut::server {
namespace {

std::string PodsWithoutContainersText(uint64_t pods) {
  return StrCat(
      pods, pods == 1 ? " pod has" : " pods have",
      " no container series, only series of the pod as a whole, and so are no jobs: the kubelet's "
      "cAdvisor does not know the containers of this runtime (some k3s, cri-dockerd). Send "
      "container_cpu_usage_seconds_total and container_memory_working_set_bytes with the labels pod and "
      "container, or run tautlet on the nodes.");
}

// Writes the caller, and the acts that the caller may perform in at least one group.
void PutCaller(const HttpRequest& request, JsonWriter& json) {
  json.Key("caller");
  json.BeginObject();
  json.Field("user", std::string_view(request.user));
  json.Field("role", Name(request.role));
  json.Field("session", request.by_session);
  json.Key("valid_until");
  if (request.valid_until_s.has_value()) {
    json.Int(*request.valid_until_s);
  } else {
    json.Null();
  }
  json.Key("groups");
  json.BeginArray();
  if (request.bindings != nullptr) {
    for (const GroupBinding& binding : *request.bindings) {
      json.BeginObject();
      json.Field("group", std::string_view(binding.group));
      json.Field("as", Name(binding.as));
      json.EndObject();
    }
  }
  json.EndArray();
  json.Key("may");
  json.BeginArray();
  for (const Permission& permission : Permissions()) {
    if (May(request, permission.act)) json.String(permission.name);
  }
  json.EndArray();
  json.EndObject();
}

// Writes the fields of the status that are equal for all callers.
void PutAbout(const FleetAccess& access, const ApiParts& parts, JsonWriter& json) {
  json.Field("version", std::string_view(parts.about.version));
  json.Field("started", parts.about.started_s);
  json.Field("quota", parts.quota != nullptr);
  json.Field("bills", parts.price_book != nullptr && parts.price_book->pricing() != nullptr);
  json.Field("businesses", parts.budgets != nullptr);
  json.Field("ready", access.control().status().ready().ok());
  json.Field("clock", access.control().ingest().time.source() == ClockSource::kWall ? "wall" : "samples");
  json.Field("actuator", access.control().actuator_name());
  json.Field("pages", parts.about.pages && HasPages());
  const std::optional<WindowId> last = access.control().status().stored_through();
  PutTime("last_window_end", last.has_value() ? last->next().start_s() : INT64_MIN, json);
  const std::optional<Timestamp> first =
      last.has_value() ? std::nullopt : access.control().ingest().time.first_close();
  PutTime("first_window_closes", first.has_value() ? first->seconds() : INT64_MIN, json);
}

// Returns the status for callers bound to groups: the fields that the pages need, without machines, store and jobs
// of other groups.
HttpResponse GroupStatus(const HttpRequest& request, const FleetAccess& access, const ApiParts& parts) {
  JsonWriter json;
  json.BeginObject();
  PutAbout(access, parts, json);
  json.Key("warnings");
  json.BeginArray();
  json.EndArray();
  json.Field("store", "");
  json.Key("cell");
  json.BeginObject();
  json.Field("name", std::string_view(parts.about.cell_name));
  json.Key("links");
  json.BeginArray();
  json.EndArray();
  json.EndObject();
  json.Key("agents");
  json.BeginObject();
  json.Field("enabled", false);
  json.Field("connected", int64_t{0});
  json.Field("known", int64_t{0});
  json.EndObject();
  for (const std::string_view unknown : {"nodes", "last_pass", "backfill", "backfill_error"}) {
    json.Key(unknown);
    json.Null();
  }
  json.Key("ingest");
  json.BeginObject();
  json.EndObject();
  PutCaller(request, json);
  json.EndObject();
  return JsonResponse(200, json.Take());
}

// Writes the cell, its links and its machines.
void PutCell(const ApiParts& parts, JsonWriter& json) {
  json.Key("cell");
  json.BeginObject();
  json.Field("name", std::string_view(parts.about.cell_name));
  json.Key("links");
  json.BeginArray();
  for (const CellLink& link : parts.about.cell_links) {
    json.BeginObject();
    json.Field("name", std::string_view(link.name));
    json.Field("url", std::string_view(link.url));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  const AgentHubCounts counts = parts.agents != nullptr ? parts.agents->counts() : AgentHubCounts();
  json.Key("agents");
  json.BeginObject();
  json.Field("enabled", parts.agents != nullptr);
  json.Field("connected", static_cast<int64_t>(counts.connected));
  json.Field("known", static_cast<int64_t>(counts.agents));
  json.EndObject();
  json.Key("nodes");
  if (const auto facts = parts.cluster != nullptr ? std::optional(parts.cluster->facts()) : std::nullopt;
      facts.has_value() && facts->synced) {
    json.Int(static_cast<int64_t>(facts->nodes));
  } else {
    json.Null();
  }
}

void PutWarnings(const FleetAccess& access, const ComponentList* components, JsonWriter& json) {
  const ControlPlane& control = access.control();
  json.Key("warnings");
  json.BeginArray();
  if (const absl::Status ready = control.status().ready(); !ready.ok())
    json.String(StrCat("not ready: ", Message(ready)));
  if (const std::string clock = control.status().clock().sentence; !clock.empty()) json.String(clock);
  if (const absl::Status kept = control.ingest().log.status(); !kept.ok()) {
    json.String(StrCat("samples of open windows cannot be written to disk and would be lost by a crash: ",
                       Message(kept)));
  }
  if (components != nullptr) {
    for (const std::string& warning : components->Warnings()) json.String(warning);
  }
  for (const brain::BrokenPromise& broken : brain::BrokenPromises(control.view()->risks))
    json.String(brain::BrokenText(broken));
  for (const std::string& warning : control.status().lost()) json.String(warning);
  if (const uint64_t pods = control.ingest().counts.mapper().pods_without_containers; pods > 0)
    json.String(PodsWithoutContainersText(pods));
  json.EndArray();
}

void PutIngest(const ControlPlane& control, JsonWriter& json) {
  json.Key("ingest");
  json.BeginObject();
  for (const NamedCount& c : SamplesByOutcome(control.ingest().counts.samples()))
    json.Field(c.name, static_cast<int64_t>(c.count));
  json.EndObject();
  const MapperCounts mapper = control.ingest().counts.mapper();
  json.Key("jobs");
  json.BeginObject();
  json.Field("known", static_cast<int64_t>(mapper.jobs));
  json.Field("refused_series", static_cast<int64_t>(mapper.refused_jobs));
  json.Field("name_collisions", static_cast<int64_t>(mapper.name_collisions));
  json.Field("forgotten", static_cast<int64_t>(control.status().counts().forgotten_jobs));
  json.EndObject();
}

void PutLastPass(const PassTimes& pass, JsonWriter& json) {
  json.Key("last_pass");
  if (pass.steps_ms.empty()) return json.Null();
  json.BeginObject();
  json.Field("window_end", pass.window.next().start_s());
  json.Field("jobs", static_cast<int64_t>(pass.jobs));
  json.Field("milliseconds", pass.total_ms);
  json.Key("steps");
  json.BeginObject();
  for (const auto& [step, ms] : pass.steps_ms) json.Field(step, ms);
  json.EndObject();
  json.EndObject();
}

void PutBackfill(const std::optional<BackfillProgress>& backfill, JsonWriter& json) {
  json.Key("backfill");
  if (backfill.has_value() && backfill->running) {
    json.BeginObject();
    json.Field("done", static_cast<int64_t>(backfill->done));
    json.Field("total", static_cast<int64_t>(backfill->total));
    json.Field("sentence", std::string_view(backfill->sentence));
    json.EndObject();
  } else {
    json.Null();
  }
  json.Key("backfill_error");
  if (backfill.has_value() && !backfill->error.empty()) {
    json.String(backfill->error);
  } else {
    json.Null();
  }
}

void PutLateJobs(const LateProgress& late, JsonWriter& json) {
  json.Key("late_jobs");
  json.BeginObject();
  json.Field("waiting", static_cast<int64_t>(late.waiting));
  json.Field("read", static_cast<int64_t>(late.read));
  json.Field("nothing", static_cast<int64_t>(late.nothing));
  json.Field("failed", static_cast<int64_t>(late.failed));
  json.Field("error", std::string_view(late.error));
  json.EndObject();
}

std::optional<BackfillProgress> ProgressOf(const BackfillComponent* backfill) {
  return backfill == nullptr ? std::nullopt : backfill->progress();
}

HttpResponse GetStatus(const ApiCall& call, const FleetAccess& access, const ApiParts& parts) {
  if (absl::Status s = OnlyParameters(call.request, {}); !s.ok()) return ErrorResponse(s);
  if (call.request.role == Role::kGroup) return GroupStatus(call.request, access, parts);
  JsonWriter json;
  json.BeginObject();
  PutAbout(access, parts, json);
  PutWarnings(access, parts.components, json);
  json.Field("store", std::string_view(parts.about.store_text));
  PutCell(parts, json);
  PutIngest(access.control(), json);
  PutLastPass(access.control().status().last_pass(), json);
  PutBackfill(ProgressOf(parts.backfill), json);
  if (parts.late_history != nullptr) PutLateJobs(parts.late_history->progress(), json);
  PutCaller(call.request, json);
  json.EndObject();
  return JsonResponse(200, json.Take());
}

HttpResponse PostConfirmation(const ApiCall& call, DaemonClock* clock) {
  if (absl::Status s = OnlyParameters(call.request, {}); !s.ok()) return ErrorResponse(s);
  if (clock == nullptr || !clock->Confirm())
    return ErrorResponse(409, "tautd does not wait for a confirmation of its clock");
  return JsonResponse(200, R"({"confirmed":true})");
}

HttpResponse GetAgents(const ApiCall& call, const AgentsComponent* agents) {
  if (absl::Status s = OnlyParameters(call.request, {}); !s.ok()) return ErrorResponse(s);
  JsonWriter json;
  const AgentHub* const hub = agents != nullptr ? agents->hub() : nullptr;
  PutAgents(hub != nullptr ? hub->Agents() : AgentList(), agents != nullptr, json);
  return JsonResponse(200, json.Take());
}

HttpResponse GetMetrics(const ComponentList* components) {
  MetricsText out;
  if (components != nullptr) components->Collect(out);
  HttpResponse response = TextResponse(200, out.Take());
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return response;
}

HttpResponse Readiness(const FleetAccess& access, const ApiParts& parts) {
  const absl::Status ready = access.control().status().ready();
  if (!ready.ok()) return TextResponse(503, StrCat(Message(ready), "\n"));
  std::string text = "ready\n";
  if (const std::string clock = access.control().status().clock().sentence; !clock.empty())
    text = StrCat("ready; ", clock, "\n");
  const std::string why = parts.pods() != nullptr ? parts.pods()->WhyUndecided() : "";
  if (!why.empty()) StrAppend(&text, why, "\n");
  const std::optional<BackfillProgress> backfill = ProgressOf(parts.backfill);
  if (!backfill.has_value()) return TextResponse(200, text);
  // This path requires no authentication, so the response must not contain the error of the other server.
  const std::string_view state = backfill->running         ? "backfill is running\n"
                                 : backfill->error.empty() ? ""
                                                           : "backfill failed: GET /api/v1/status says why\n";
  return TextResponse(200, StrCat(text, state));
}

}  // namespace

void AddHealthRoutes(const FleetAccess& access, const ApiParts& parts, RouteTable& routes) {
  static constexpr std::string_view kPaths[] = {"/healthz", "/readyz"};
  routes.AddOpen(kPaths, [&](const HttpRequest& request) -> std::optional<HttpResponse> {
    if (request.path == "/healthz") return TextResponse(200, "ok\n");
    if (request.path == "/readyz") return Readiness(access, parts);
    return std::nullopt;
  });
}

void AddStatusRoutes(const FleetAccess& access, const ApiParts& parts, RouteTable& routes) {
  routes.Add("GET", "/api/v1/status", Act::kLook,
             [&](const ApiCall& call) { return GetStatus(call, access, parts); });
  routes.Add("POST", "/api/v1/clock/confirm", Act::kRunPlatform,
             [&](const ApiCall& call) { return PostConfirmation(call, parts.clock); });
  routes.Add("GET", "/api/v1/agents", Act::kSeePlatform,
             [&](const ApiCall& call) { return GetAgents(call, parts.agents); });
  routes.Add("GET", "/metrics", Act::kSeePlatform,
             [&](const ApiCall&) { return GetMetrics(parts.components); });
}

}  // namespace taut::server
