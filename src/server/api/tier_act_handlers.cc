// What guards of machines' memory did: GET /api/v1/tier_acts, and the event of each.
#include <algorithm>

#include "server/api/api.h"
#include "server/api/parameters.h"

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

bool Api::ReachesNamed(const Reach& reach, std::string_view job) const {
  return reach.all() || FindJob(job, reach).has_value();
}

HttpResponse Api::TierActs(const HttpRequest& request, const Reach& reach) {
  if (absl::Status s = OnlyParameters(request, {"job", "machine", "limit"}); !s.ok()) return ErrorResponse(s);
  TierActQuery query;
  query.job = TextParameter(request, "job");
  query.machine = TextParameter(request, "machine");
  if (!query.job.empty() && !FindJob(query.job, reach).has_value()) return NoJob(query.job, reach);
  const absl::StatusOr<int64_t> limit = IntParameter(request, "limit", 100, 1, 1000);
  if (!limit.ok()) return ErrorResponse(limit.status());
  // Of some groups alone it looks through the newest, as Ooms.
  constexpr size_t kLookedThrough = 20'000;
  const bool some = !reach.all() && query.job.empty();
  query.limit = some ? kLookedThrough : static_cast<size_t>(*limit);
  absl::StatusOr<std::vector<TierAct>> acts = control_.history().TierActs(query);
  if (!acts.ok()) return ErrorResponse(acts.status());
  if (some) {
    std::erase_if(*acts, [&](const TierAct& act) { return !ReachesNamed(reach, act.job); });
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

}  // namespace taut::server
