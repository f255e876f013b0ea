#include "server/api/agents.h"

namespace taut::server {
namespace {

void PutCount(std::string_view key, uint64_t count, JsonWriter& json) {
  json.Field(key, static_cast<int64_t>(count));
}

void PutFailure(const FailedOrder& f, JsonWriter& json) {
  json.BeginObject();
  json.Field("time", f.time_s);
  PutCount("decision", f.decision, json);
  json.Field("job", std::string_view(f.job));
  json.Field("task", std::string_view(f.task));
  json.Field("resource", Name(f.resource));
  json.Field("text", std::string_view(f.text));
  json.EndObject();
}

void PutAgent(const AgentView& a, JsonWriter& json) {
  json.BeginObject();
  json.Field("name", std::string_view(a.name));
  json.Field("host", std::string_view(a.host));
  json.Field("version", std::string_view(a.version));
  json.Field("hands", std::string_view(a.hands));
  json.Field("connected", a.connected);
  json.Field("observes", a.observes);
  json.Field("cores", a.cores);
  json.Key("memory_bytes");
  json.Number(a.memory_bytes, 15);
  PutCount("tasks", a.tasks, json);
  PutCount("managed_tasks", a.managed_tasks, json);
  json.Field("heard_seconds_ago", a.heard_s);
  PutCount("queued_bytes", a.queued_bytes, json);
  PutCount("dropped_messages", a.dropped, json);
  json.Field("cpu_share_cores", a.cpu_share);
  PutCount("resident_bytes", a.resident_bytes, json);
  PutCount("windows", a.windows, json);
  PutCount("oom_kills", a.ooms, json);
  PutCount("applied", a.applied, json);
  PutCount("failed", a.failed, json);
  PutCount("not_believed", a.not_believed, json);
  json.Key("failures");
  json.BeginArray();
  for (const FailedOrder& f : a.failures) PutFailure(f, json);
  json.EndArray();
  json.EndObject();
}

}  // namespace

void PutAgents(const AgentList& agents, bool enabled, JsonWriter& json) {
  json.BeginObject();
  json.Field("enabled", enabled);
  json.Key("agents");
  json.BeginArray();
  for (const AgentView& a : agents.known) PutAgent(a, json);
  json.EndArray();
  json.Key("refused");
  json.BeginArray();
  for (const RefusedAgent& r : agents.refused) {
    json.BeginObject();
    json.Field("time", r.time_s);
    json.Field("name", std::string_view(r.name));
    json.Field("host", std::string_view(r.host));
    json.Field("why", std::string_view(r.why));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

}  // namespace taut::server
