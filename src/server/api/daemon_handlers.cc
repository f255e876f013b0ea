// What the API says of the daemon itself: settings, status, metrics.
#include "common/base/metrics_text.h"
#include "common/base/strings.h"
#include "server/api/agents.h"
#include "server/api/api.h"
#include "server/api/parameters.h"
#include "server/control/control_metrics.h"

namespace taut::server {
namespace {

constexpr size_t kMaxChanges = 100;

std::string PodsWithoutContainersText(uint64_t pods) {
  return StrCat(
      pods, pods == 1 ? " pod has" : " pods have",
      " no container series, only series of the pod as a whole, and so are no jobs: the kubelet's "
      "cAdvisor does not know the containers of this runtime (some k3s, cri-dockerd). Send "
      "container_cpu_usage_seconds_total and container_memory_working_set_bytes with the labels pod and "
      "container, or run tautlet on the nodes.");
}

void PutTexts(std::string_view key, std::span<const brain::KeyValue> texts, JsonWriter& json) {
  json.Key(key);
  json.BeginObject();
  for (const auto& [name, value] : texts) json.Field(name, std::string_view(value));
  json.EndObject();
}

}  // namespace

void Api::PutRules(JsonWriter& json) const {
  json.Key("rules");
  json.BeginArray();
  control_.WithFleet([&](const brain::LiveFleet& fleet) {
    const brain::PolicyRules& rules = fleet.settings().rules;
    for (size_t i = 0; i < rules.rules().size(); ++i) {
      const brain::JobRule& rule = rules.rules()[i];
      int64_t fits = 0;
      for (const brain::LiveJob& job : fleet.jobs()) {
        const JobRecord& record = job.record;
        fits += rules.Fits(i, record.name, record.labels) ? 1 : 0;
      }
      json.BeginObject();
      json.Field("name", std::string_view(rule.name));
      PutTexts("match", rule.match, json);
      PutTexts("set", rule.set, json);
      PutTexts("cap", rule.cap, json);
      json.Field("jobs", fits);
      json.EndObject();
    }
  });
  json.EndArray();
}

// Those that a job may have, with what a what-if can turn of each.
HttpResponse Api::Recommenders(const HttpRequest& request, const Reach& /*reach*/) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  JsonWriter json;
  json.BeginObject();
  json.Key("recommenders");
  json.BeginArray();
  for (const brain::PolicyInfo& p : brain::Policies()) {
    if (p.replay_only) continue;
    json.BeginObject();
    json.Field("name", p.name);
    json.Field("help", p.what);
    json.Key("knobs");
    json.BeginArray();
    for (const brain::WhatIfKnob& knob : p.knobs) {
      json.BeginObject();
      json.Field("key", knob.key);
      json.Field("name", knob.name);
      json.Field("help", knob.help);
      json.Field("unit", Name(knob.unit));
      json.Field("low", knob.low);
      json.Field("high", knob.high);
      json.Field("initial", knob.initial);
      json.Field("logarithmic", knob.logarithmic);
      json.EndObject();
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return JsonResponse(200, json.Take());
}

HttpResponse Api::Settings(const HttpRequest& request, const Reach& reach) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  // Of some groups alone it looks through the newest.
  constexpr size_t kLookedThrough = 10'000;
  auto changes = control_.history().Settings(std::nullopt, reach.all() ? kMaxChanges : kLookedThrough);
  if (!changes.ok()) return ErrorResponse(changes.status());
  if (!reach.all()) {
    std::erase_if(*changes, [&](const SettingChange& c) { return !FindJob(c.job, reach).has_value(); });
    changes->resize(std::min(changes->size(), kMaxChanges));
  }
  brain::JobPolicy defaults;
  control_.WithFleet([&](const brain::LiveFleet& fleet) { defaults = fleet.settings().rules.defaults(); });
  JsonWriter json;
  json.BeginObject();
  json.Key("table");
  json.BeginArray();
  for (const brain::JobSetting& s : brain::JobSettingsTable()) {
    json.BeginObject();
    json.Field("key", s.key);
    json.Field("help", s.help);
    json.Field("kind", Name(s.kind));
    json.Key("choices");
    json.BeginArray();
    for (const std::string_view choice : s.choices) json.String(choice);
    json.EndArray();
    json.Field("default", std::string_view(brain::GetJobSetting(s.key, defaults)));
    json.EndObject();
  }
  json.EndArray();
  if (reach.all()) {
    PutRules(json);
  } else {
    // Their patterns name other groups' jobs.
    json.Key("rules");
    json.BeginArray();
    json.EndArray();
  }
  json.Key("changes");
  json.BeginArray();
  for (const SettingChange& c : *changes) PutSettingChange(c, json);
  json.EndArray();
  json.Key("config_file");
  if (options_.config_file.empty() || !reach.all()) {
    json.Null();
  } else {
    json.String(options_.config_file);
  }
  json.EndObject();
  return JsonResponse(200, json.Take());
}

// The cell and its machines, of the status.
void Api::PutCell(JsonWriter& json) const {
  json.Key("cell");
  json.BeginObject();
  json.Field("name", std::string_view(options_.cell_name));
  json.Key("links");
  json.BeginArray();
  for (const CellLink& link : options_.cell_links) {
    json.BeginObject();
    json.Field("name", std::string_view(link.name));
    json.Field("url", std::string_view(link.url));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  const AgentHubCounts counts = options_.agents != nullptr ? options_.agents->counts() : AgentHubCounts();
  json.Key("agents");
  json.BeginObject();
  json.Field("enabled", options_.agents != nullptr);
  json.Field("connected", static_cast<int64_t>(counts.connected));
  json.Field("known", static_cast<int64_t>(counts.agents));
  json.EndObject();
  json.Key("nodes");
  if (const auto facts =
          options_.cluster != nullptr ? std::optional(options_.cluster->facts()) : std::nullopt;
      facts.has_value() && facts->synced) {
    json.Int(static_cast<int64_t>(facts->nodes));
  } else {
    json.Null();
  }
}

HttpResponse Api::ConfirmClock(const HttpRequest& request, const Reach& /*reach*/) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  if (!options_.confirm_clock || !options_.confirm_clock())
    return ErrorResponse(409, "tautd does not wait for a confirmation of its clock");
  return JsonResponse(200, R"({"confirmed":true})");
}

HttpResponse Api::Agents(const HttpRequest& request, const Reach& /*reach*/) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  JsonWriter json;
  const AgentHub* const hub = options_.agents != nullptr ? options_.agents->hub() : nullptr;
  PutAgents(hub != nullptr ? hub->Agents() : std::vector<AgentView>(),
            hub != nullptr ? hub->RefusedAgents() : std::vector<RefusedAgent>(), options_.agents != nullptr,
            json);
  return JsonResponse(200, json.Take());
}

// The fields of a status that do not depend on who asks.
void Api::PutAbout(JsonWriter& json) const {
  json.Field("version", std::string_view(options_.version));
  json.Field("started", options_.started_s);
  json.Field("quota", options_.quota != nullptr);
  json.Field("bills", options_.pricing() != nullptr);
  json.Field("businesses", options_.businesses != nullptr);
  json.Field("ready", control_.status().ready().ok());
  json.Field("clock", control_.ingest().clock() == ClockSource::kWall ? "wall" : "samples");
  json.Field("actuator", control_.actuator_name());
  json.Field("pages", options_.pages && HasPages());
  const std::optional<WindowId> last = control_.status().stored_through();
  PutTime("last_window_end", last.has_value() ? last->next().start_s() : INT64_MIN, json);
  const std::optional<Timestamp> first = last.has_value() ? std::nullopt : control_.ingest().first_close();
  PutTime("first_window_closes", first.has_value() ? first->seconds() : INT64_MIN, json);
}

HttpResponse Api::Status(const HttpRequest& request, const Reach& /*reach*/) {
  if (absl::Status s = OnlyParameters(request, {}); !s.ok()) return ErrorResponse(s);
  if (request.role == Role::kGroup) return GroupStatus(request);
  JsonWriter json;
  json.BeginObject();
  PutAbout(json);
  json.Key("warnings");
  json.BeginArray();
  if (const absl::Status ready = control_.status().ready(); !ready.ok())
    json.String(StrCat("not ready: ", Message(ready)));
  if (const std::string clock = control_.status().clock().sentence; !clock.empty()) json.String(clock);
  if (const absl::Status kept = control_.ingest().sample_log_status(); !kept.ok()) {
    json.String(StrCat("samples of open windows cannot be written to disk and would be lost by a crash: ",
                       Message(kept)));
  }
  if (options_.warnings) {
    for (const std::string& warning : options_.warnings()) json.String(warning);
  }
  for (const brain::BrokenPromise& broken : brain::BrokenPromises(control_.view()->risks))
    json.String(brain::BrokenText(broken));
  for (const std::string& warning : control_.warnings()) json.String(warning);
  const MapperCounts mapper = control_.ingest().mapper_counts();
  if (mapper.pods_without_containers > 0)
    json.String(PodsWithoutContainersText(mapper.pods_without_containers));
  json.EndArray();
  json.Field("store", std::string_view(options_.store_text));
  PutCell(json);
  json.Key("ingest");
  json.BeginObject();
  for (const NamedCount& c : SamplesByOutcome(control_.ingest().counts()))
    json.Field(c.name, static_cast<int64_t>(c.count));
  json.EndObject();
  json.Key("jobs");
  json.BeginObject();
  json.Field("known", static_cast<int64_t>(mapper.jobs));
  json.Field("refused_series", static_cast<int64_t>(mapper.refused_jobs));
  json.Field("name_collisions", static_cast<int64_t>(mapper.name_collisions));
  json.Field("forgotten", static_cast<int64_t>(control_.status().counts().forgotten_jobs));
  json.EndObject();
  json.Key("last_pass");
  const PassTimes pass = control_.status().last_pass();
  if (pass.steps_ms.empty()) {
    json.Null();
  } else {
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
  json.Key("backfill");
  const std::optional<BackfillProgress> backfill = options_.backfill_progress();
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
  if (options_.late_history != nullptr) {
    const LateProgress late = options_.late_history->progress();
    json.Key("late_jobs");
    json.BeginObject();
    json.Field("waiting", static_cast<int64_t>(late.waiting));
    json.Field("read", static_cast<int64_t>(late.read));
    json.Field("nothing", static_cast<int64_t>(late.nothing));
    json.Field("failed", static_cast<int64_t>(late.failed));
    json.Field("error", std::string_view(late.error));
    json.EndObject();
  }
  PutCaller(request, json);
  json.EndObject();
  return JsonResponse(200, json.Take());
}

HttpResponse Api::Metrics(const HttpRequest& /*request*/, const Reach& /*reach*/) {
  MetricsText out;
  if (options_.collect) options_.collect(out);
  times_.Put(out);
  HttpResponse response = TextResponse(200, out.Take());
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return response;
}

}  // namespace taut::server
