// API handlers for settings: defaults and rules, and the settings of one job.
#include <algorithm>
#include <utility>

#include "common/base/strings.h"
#include "common/json/json_tree.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"

namespace taut::server {
namespace {

constexpr size_t kMaxChanges = 100;

void PutTexts(std::string_view key, std::span<const brain::KeyValue> texts, JsonWriter& json) {
  json.Key(key);
  json.BeginObject();
  for (const auto& [name, value] : texts) json.Field(name, std::string_view(value));
  json.EndObject();
}

void PutRules(const FleetAccess& access, JsonWriter& json) {
  json.Key("rules");
  json.BeginArray();
  access.control().WithFleet([&](const brain::LiveFleet& fleet) {
    const brain::PolicyRules& rules = fleet.settings.rules;
    for (size_t i = 0; i < rules.rules().size(); ++i) {
      const brain::JobRule& rule = rules.rules()[i];
      int64_t fits = 0;
      for (const brain::LiveJob& job : fleet.jobs) {
        const JobRecord& record = *job.record;
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

// Returns the recommenders that a job may have, with their what-if parameters.
HttpResponse GetRecommenders(const ApiCall& call) {
  if (absl::Status s = OnlyParameters(call.request, {}); !s.ok()) return ErrorResponse(s);
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

HttpResponse GetSettings(const ApiCall& call, const FleetAccess& access, const std::string& config_file) {
  if (absl::Status s = OnlyParameters(call.request, {}); !s.ok()) return ErrorResponse(s);
  // Maximum number of the newest changes that is searched for callers bound to groups.
  constexpr size_t kLookedThrough = 10'000;
  auto changes =
      access.control().history().Settings(std::nullopt, call.reach.all() ? kMaxChanges : kLookedThrough);
  if (!changes.ok()) return ErrorResponse(changes.status());
  if (!call.reach.all()) {
    std::erase_if(*changes,
                  [&](const SettingChange& c) { return !access.FindJob(c.job, call.reach).has_value(); });
    changes->resize(std::min(changes->size(), kMaxChanges));
  }
  brain::JobPolicy defaults;
  access.control().WithFleet(
      [&](const brain::LiveFleet& fleet) { defaults = fleet.settings.rules.defaults(); });
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
  if (call.reach.all()) {
    PutRules(access, json);
  } else {
    // Omit the rules for callers bound to groups, because their patterns name jobs of other groups.
    json.Key("rules");
    json.BeginArray();
    json.EndArray();
  }
  json.Key("changes");
  json.BeginArray();
  for (const SettingChange& c : *changes) PutSettingChange(c, json);
  json.EndArray();
  json.Key("config_file");
  if (config_file.empty() || !call.reach.all()) {
    json.Null();
  } else {
    json.String(config_file);
  }
  json.EndObject();
  return JsonResponse(200, json.Take());
}

// Returns a response with all errors, as one text and by key.
HttpResponse SettingErrors(std::span<const brain::KeyValue> errors) {
  std::string all;
  for (const auto& [key, error] : errors) StrAppend(&all, all.empty() ? "" : "; ", error);
  JsonWriter json;
  json.BeginObject();
  json.Field("error", std::string_view(all));
  json.Key("errors");
  json.BeginArray();
  for (const auto& [key, error] : errors) {
    json.BeginObject();
    json.Field("key", std::string_view(key));
    json.Field("error", std::string_view(error));
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return JsonResponse(400, json.Take());
}

// Data for GET settings, copied under the lock.
struct SettingsShown {
  std::vector<brain::SettingSource> sources;
  brain::JobPolicy policy, by_rules;
};

SettingsShown Shown(const brain::LiveJob& job, const brain::PolicyRules& rules) {
  SettingsShown shown;
  shown.policy = rules.Resolve(job.record->name, job.record->labels, job.overrides, &shown.sources);
  shown.by_rules = rules.Resolve(job.record->name, job.record->labels, {});
  return shown;
}

HttpResponse SettingsOf(JobId id, const FleetAccess& access) {
  SettingsShown shown;
  std::string name;
  access.control().WithFleet([&](const brain::LiveFleet& fleet) {
    if (!fleet.Has(id)) return;
    shown = Shown(fleet.job(id), fleet.settings.rules);
    name = fleet.job(id).record->name;
  });
  const auto changes = access.control().history().Settings(name, kMaxChanges);
  if (!changes.ok()) return ErrorResponse(changes.status());
  JsonWriter json;
  json.BeginObject();
  json.Key("values");
  json.BeginArray();
  for (const brain::SettingSource& s : shown.sources) {
    json.BeginObject();
    json.Field("key", s.key);
    json.Field("value", std::string_view(brain::GetJobSetting(s.key, shown.policy)));
    json.Field("source", std::string_view(s.source));
    json.Field("by_rules", std::string_view(brain::GetJobSetting(s.key, shown.by_rules)));
    json.EndObject();
  }
  json.EndArray();
  json.Key("changes");
  json.BeginArray();
  for (const SettingChange& c : *changes) PutSettingChange(c, json);
  json.EndArray();
  json.EndObject();
  return JsonResponse(200, json.Take());
}

HttpResponse GetJobSettings(const ApiCall& call, const FleetAccess& access) {
  if (absl::Status s = OnlyParameters(call.request, {}); !s.ok()) return ErrorResponse(s);
  return SettingsOf(call.job, access);
}

HttpResponse PatchJobSettings(const ApiCall& call, const FleetAccess& access) {
  if (absl::Status s = OnlyParameters(call.request, {"who"}); !s.ok()) return ErrorResponse(s);
  const absl::StatusOr<std::string> who = WhoOf(call.request);
  if (!who.ok()) return ErrorResponse(who.status());
  JsonTree tree;
  if (!tree.Parse(call.request.body).ok() || !tree.root().is_object()) {
    return ErrorResponse(400,
                         R"(invalid body: expected a JSON object of settings, such as {"mode": "auto"})");
  }
  std::vector<brain::KeyValue> wanted, errors;
  tree.root().ForEachField([&](std::string_view key, JsonNode value) {
    if (const auto text = value.text(); text.has_value()) {
      wanted.emplace_back(key, *text);
    } else {
      errors.emplace_back(key, StrCat(key, ": expected a string, also for numbers, such as \"0.1\""));
    }
  });
  access.control().WithFleet([&](const brain::LiveFleet& fleet) {
    for (brain::KeyValue& error : fleet.overrides.Check(call.job, wanted)) errors.push_back(std::move(error));
  });
  if (!errors.empty()) return SettingErrors(errors);
  const absl::StatusOr<std::vector<SettingChange>> changes = access.control().SetMany(call.job, wanted, *who);
  return changes.ok() ? SettingsOf(call.job, access) : ErrorResponse(changes.status());
}

}  // namespace

void AddSettingsRoutes(const FleetAccess& access, std::string config_file, RouteTable& routes) {
  routes.Add("GET", "/api/v1/recommenders", Act::kLook, GetRecommenders);
  routes.Add("GET", "/api/v1/settings", Act::kSeeJobs,
             [&access, config_file](const ApiCall& call) { return GetSettings(call, access, config_file); });
  routes.Add("GET", "/api/v1/jobs/{job}/settings", Act::kSeeJobs,
             [&access](const ApiCall& call) { return GetJobSettings(call, access); });
  routes.Add("PATCH", "/api/v1/jobs/{job}/settings", Act::kSetJobs,
             [&access](const ApiCall& call) { return PatchJobSettings(call, access); });
}

}  // namespace taut::server
