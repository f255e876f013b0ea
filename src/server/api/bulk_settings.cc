// API handlers for settings of many jobs at once.
#include <algorithm>

#include "common/base/pattern.h"
#include "common/base/strings.h"
#include "common/json/json_tree.h"
#include "server/api/parameters.h"
#include "server/api/routes.h"

namespace taut::server {
namespace {

// Maximum number of jobs in one request, because the settings of each job are a separate commit.
constexpr size_t kMaxJobs = 10'000;
constexpr size_t kMaxShown = 1000;

struct Change {
  JobId job;
  std::string name, key, before, after;  // new value in `after`; "": the value from the rules
};

absl::StatusOr<std::vector<brain::KeyValue>> ParseWanted(const std::string& text) {
  JsonTree tree;
  if (!tree.Parse(text).ok() || !tree.root().is_object()) {
    return absl::InvalidArgumentError(
        R"(invalid body: expected a JSON object of settings, such as {"mode": "canary"})");
  }
  std::vector<brain::KeyValue> wanted;
  absl::Status read;
  tree.root().ForEachField([&](std::string_view key, JsonNode value) {
    if (const auto setting = value.text(); setting.has_value()) {
      wanted.emplace_back(key, *setting);
    } else if (read.ok()) {
      read = absl::InvalidArgumentError(
          StrCat(key, ": expected a JSON string, also for numbers, such as \"0.1\""));
    }
  });
  if (!read.ok()) return read;
  if (wanted.empty()) return absl::InvalidArgumentError("invalid body: no setting in it");
  return wanted;
}

// Appends the changes that `wanted` causes for the job to `changes`. Returns an error if the job's settings would
// become inconsistent.
absl::Status Compare(const brain::LiveJob& job, JobId id, const std::vector<brain::KeyValue>& wanted,
                     std::vector<Change>& changes) {
  brain::JobPolicy policy = *job.policy;
  for (const auto& [key, value] : wanted) {
    const auto own = std::find_if(job.overrides.begin(), job.overrides.end(),
                                  [&key = key](const brain::Override& o) { return o.key == key; });
    const std::string before = brain::GetJobSetting(key, *job.policy);
    if (value.empty()) {
      if (own != job.overrides.end()) changes.push_back({id, job.record->name, key, before, ""});
      continue;
    }
    if (absl::Status s = brain::SetJobSetting(key, value, policy); !s.ok()) return s;
    const std::string after = brain::GetJobSetting(key, policy);
    if (own == job.overrides.end() || before != after)
      changes.push_back({id, job.record->name, key, before, after});
  }
  absl::Status fits = brain::CheckJobPolicy(policy);
  for (const auto& [key, value] : wanted) {
    if (fits.ok() && !value.empty()) fits = brain::CheckOrder(key, policy);
  }
  return fits.ok() ? fits : absl::InvalidArgumentError(StrCat(job.record->name, ": ", Message(fits)));
}

absl::Status CheckWanted(const std::vector<brain::KeyValue>& wanted) {
  brain::JobPolicy any;
  for (const auto& [key, value] : wanted) {
    // Check each value even if the pattern matches no job, or if a setting is removed.
    const std::string now = brain::JobSettingNow(key, "").first;
    const bool known = std::any_of(brain::JobSettingsTable().begin(), brain::JobSettingsTable().end(),
                                   [&now](const brain::JobSetting& s) { return s.key == now; });
    if (value.empty() && known) continue;
    if (absl::Status s = brain::SetJobSetting(key, value, any); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status Commit(std::span<const Change> changes, const std::string& who, ControlPlane& control) {
  size_t done = 0;
  // Make one commit per job, so that either all or none of its settings change.
  for (size_t first = 0; first < changes.size();) {
    size_t last = first;
    std::vector<brain::KeyValue> settings;
    for (; last < changes.size() && changes[last].job == changes[first].job; ++last)
      settings.emplace_back(changes[last].key, changes[last].after);
    const auto set = control.SetMany(changes[first].job, settings, who);
    if (!set.ok()) {
      return absl::Status(set.status().code(),
                          StrCat(changes[first].name, ": ", Message(set.status()), "; ", done, " of ",
                                 changes.size(), " changes were made; repeat the request for the rest"));
    }
    done += settings.size();
    first = last;
  }
  return absl::OkStatus();
}

void PutChanges(std::span<const Change> changes, JsonWriter& json) {
  size_t jobs = 0;
  for (size_t i = 0; i < changes.size(); ++i)
    jobs += i == 0 || changes[i].job.value != changes[i - 1].job.value ? 1 : 0;
  json.Field("changed", static_cast<int64_t>(jobs));
  json.Key("changes");
  json.BeginArray();
  for (size_t i = 0; i < std::min(changes.size(), kMaxShown); ++i) {
    const Change& c = changes[i];
    json.BeginObject();
    json.Field("job", std::string_view(c.name));
    json.Field("key", std::string_view(c.key));
    json.Field("before", std::string_view(c.before));
    json.Field("after", std::string_view(c.after));
    json.EndObject();
  }
  json.EndArray();
  json.Field("left_out", static_cast<int64_t>(changes.size() - std::min(changes.size(), kMaxShown)));
}

HttpResponse PatchSettings(const ApiCall& call, const FleetAccess& access) {
  if (absl::Status s = OnlyParameters(call.request, {"match", "dry_run", "who"}); !s.ok())
    return ErrorResponse(s);
  const absl::StatusOr<std::string> who = WhoOf(call.request);
  if (!who.ok()) return ErrorResponse(who.status());
  const std::string match = TextParameter(call.request, "match");
  if (match.empty()) return ErrorResponse(400, "match: expected a pattern of job names, such as shop/*");
  const std::string dry = TextParameter(call.request, "dry_run");
  if (!dry.empty() && dry != "true" && dry != "false") {
    return ErrorResponse(400, StrCat("dry_run=", dry, ": expected true or false"));
  }
  const absl::StatusOr<std::vector<brain::KeyValue>> wanted = ParseWanted(call.request.body);
  if (!wanted.ok()) return ErrorResponse(wanted.status());
  if (absl::Status s = CheckWanted(*wanted); !s.ok()) return ErrorResponse(s);
  std::vector<JobId> matched;
  const std::shared_ptr<const FleetView> view = access.ViewOf(call.reach);
  for (size_t i = 0; i < view->jobs.size(); ++i) {
    if (view->jobs[i].record != nullptr && FitsPattern(view->jobs[i].record->name, match))
      matched.push_back(view->jobs[i].record->id);
  }
  if (matched.size() > kMaxJobs) {
    return ErrorResponse(400,
                         StrCat("match=", match, ": ", matched.size(), " jobs; at most ", kMaxJobs,
                                " can be changed at once; for more, write a rule into the configuration"));
  }
  std::vector<Change> changes;
  absl::Status status;
  for (const JobId id : matched) {
    access.control().Look(id,
                          [&](const brain::LiveJob& job) { status = Compare(job, id, *wanted, changes); });
    if (!status.ok()) return ErrorResponse(status);
  }
  if (dry != "true") {
    if (absl::Status s = Commit(changes, *who, access.control()); !s.ok()) return ErrorResponse(s);
  }
  JsonWriter json;
  json.BeginObject();
  json.Field("dry_run", dry == "true");
  json.Field("matched", static_cast<int64_t>(matched.size()));
  PutChanges(changes, json);
  json.EndObject();
  return JsonResponse(200, json.Take());
}

}  // namespace

void AddBulkSettingsRoutes(const FleetAccess& access, RouteTable& routes) {
  routes.Add("PATCH", "/api/v1/settings", Act::kSetJobs,
             [&access](const ApiCall& call) { return PatchSettings(call, access); });
}

}  // namespace taut::server
