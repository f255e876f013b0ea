// What callers see who are bound to groups of the quota: jobs of these groups and of those below them.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/base/strings.h"
#include "server/api/api.h"

namespace taut::server {

Reach Api::ReachOf(const HttpRequest& request, Act act) const {
  return Reach::Of(request, act, options_.quota != nullptr ? options_.quota->scheme() : nullptr);
}

bool Api::Reaches(const Reach& reach, JobId id) const {
  if (reach.all()) return true;
  bool has = false;
  if (control_.Look(id, [&](const brain::LiveJob& job) { has = reach.Has(job.record); })) return has;
  // Of a job that was forgotten the store still has the labels.
  const absl::StatusOr<JobRecord> record = control_.history().Job(id);
  return record.ok() && reach.Has(*record);
}

std::optional<JobId> Api::FindJob(std::string_view name, const Reach& reach) const {
  const std::optional<JobId> id = control_.Find(name);
  return id.has_value() && Reaches(reach, *id) ? id : std::nullopt;
}

std::function<bool(JobId)> Api::ReachedJobs(const Reach& reach) const {
  return [this, reach, known = std::make_shared<absl::flat_hash_map<uint32_t, bool>>()](JobId id) {
    const auto [it, is_new] = known->try_emplace(id.value, false);
    if (is_new) it->second = Reaches(reach, id);
    return it->second;
  };
}

const Prices& Api::PricesFor(const HttpRequest& request, const Reach& shown) const {
  static const Prices kNoPrices;
  if (shown.all() && May(request.role, Act::kSeeMoney)) return options_.prices;
  const Reach money = ReachOf(request, Act::kSeeMoney);
  const bool all = !shown.all() && std::ranges::all_of(shown.groups(), [&](const std::string& group) {
    return money.Has(group);
  });
  return all ? options_.prices : kNoPrices;
}

// Of the status: who asks, and what that one may do in one group at least.
void Api::PutCaller(const HttpRequest& request, JsonWriter& json) const {
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

// What pages need; nothing of machines, the store and other groups' jobs.
HttpResponse Api::GroupStatus(const HttpRequest& request) {
  JsonWriter json;
  json.BeginObject();
  PutAbout(json);
  json.Key("warnings");
  json.BeginArray();
  json.EndArray();
  json.Field("store", "");
  json.Key("cell");
  json.BeginObject();
  json.Field("name", std::string_view(options_.cell_name));
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

}  // namespace taut::server
