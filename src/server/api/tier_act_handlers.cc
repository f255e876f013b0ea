// GET /api/v1/tier_acts and the corresponding event: actions of the machines' memory guards.
#include <algorithm>

#include "server/api/parameters.h"
#include "server/api/routes.h"

namespace taut::server {

void PutTierAct(const TierAct& act, JsonWriter& json) {
  json.BeginObject();
  PutTime("time", act.time_s, json);
  json.Field("machine", std::string_view(act.machine));
  json.Field("job", std::string_view(act.job));
  json.Field("task", std::string_view(act.task));
  json.Field("tier", Name(act.tier));
  json.Field("kind", Name(act.kind));
  json.Field("observed", act.observed);
  PutAmount("usage", act.usage, json);
  PutAmount("request", act.request, json);
  PutAmount("high", act.high, json);
  PutAmount("free", act.free, json);
  PutAmount("total", act.total, json);
  PutAmount("pressure_some", act.some, json);
  PutAmount("pressure_full", act.full, json);
  json.Field("text", std::string_view(act.text));
  json.EndObject();
}

namespace {

HttpResponse GetTierActs(const ApiCall& call, const FleetAccess& access) {
  if (absl::Status s = OnlyParameters(call.request, {"job", "machine", "limit"}); !s.ok())
    return ErrorResponse(s);
  TierActQuery query;
  query.job = TextParameter(call.request, "job");
  query.machine = TextParameter(call.request, "machine");
  if (!query.job.empty() && !access.FindJob(query.job, call.reach).has_value())
    return access.NoJob(query.job, call.reach);
  const absl::StatusOr<int64_t> limit = IntParameter(call.request, "limit", 100, 1, 1000);
  if (!limit.ok()) return ErrorResponse(limit.status());
  // Maximum number of the newest actions that is searched for callers bound to groups, as for OOM kills.
  constexpr size_t kLookedThrough = 20'000;
  const bool some = !call.reach.all() && query.job.empty();
  query.limit = some ? kLookedThrough : static_cast<size_t>(*limit);
  absl::StatusOr<std::vector<TierAct>> acts = access.control().history().TierActs(query);
  if (!acts.ok()) return ErrorResponse(acts.status());
  if (some) {
    std::erase_if(*acts, [&](const TierAct& act) { return !access.ReachesNamed(call.reach, act.job); });
    acts->resize(std::min(acts->size(), static_cast<size_t>(*limit)));
  }
  JsonWriter json;
  json.BeginObject();
  json.Key("acts");
  json.BeginArray();
  for (const TierAct& act : *acts) PutTierAct(act, json);
  json.EndArray();
  json.EndObject();
  return JsonResponse(200, json.Take());
}

}  // namespace

void AddTierActRoutes(const FleetAccess& access, RouteTable& routes) {
  routes.Add("GET", "/api/v1/tier_acts", Act::kSeeJobs,
             [&access](const ApiCall& call) { return GetTierActs(call, access); });
}

}  // namespace taut::server
