// Settings made by people: all settings of a request are applied to a copy of the job, and are in force after
// the store has accepted them.
#include "brain/fleet/live_overrides.h"

#include <algorithm>

#include "common/base/strings.h"

namespace taut::brain {
namespace {

bool IsInTable(std::string_view key) {
  const std::span<const JobSetting> table = JobSettingsTable();
  return std::any_of(table.begin(), table.end(), [&](const JobSetting& s) { return s.key == key; });
}

bool IsGiven(std::string_view key, std::span<const KeyValue> settings) {
  return std::any_of(settings.begin(), settings.end(), [&](const KeyValue& s) { return s.first == key; });
}

// Adds, replaces or removes an override. Converts old keys, which stores of older versions contain.
void PutOverride(const SettingChange& change, std::vector<Override>& overrides) {
  auto [key, value] = JobSettingNow(change.key, change.value);
  std::erase_if(overrides, [&k = key](const Override& o) { return o.key == k; });
  if (!value.empty()) overrides.push_back({std::move(key), std::move(value), change.who});
}

std::vector<KeyValue> SettingsNow(std::span<const KeyValue> settings) {
  std::vector<KeyValue> out;
  for (const auto& [key, value] : settings) out.push_back(JobSettingNow(key, value));
  return out;
}

}  // namespace

std::vector<KeyValue> LiveOverrides::Check(JobId id, std::span<const KeyValue> given) const {
  const std::vector<KeyValue> now = SettingsNow(given);
  const std::span<const KeyValue> settings = now;
  std::vector<KeyValue> errors;
  const LiveJob* known = s_.jobs.Find(id);
  if (known == nullptr) return {{"", "the job is no longer known"}};
  const LiveJob& job = *known;
  std::vector<Override> kept = job.overrides;
  std::erase_if(kept, [&](const Override& o) { return IsGiven(o.key, settings); });
  JobPolicy policy = s_.settings.rules.Resolve(job.record->name, job.record->labels, kept);
  for (size_t i = 0; i < settings.size(); ++i) {
    const auto& [key, value] = settings[i];
    if (IsGiven(key, settings.subspan(0, i))) {
      errors.emplace_back(key, StrCat(key, ": set twice in one request"));
    } else if (!value.empty() || !IsInTable(key)) {
      if (absl::Status s = SetJobSetting(key, value, policy); !s.ok()) errors.emplace_back(key, Message(s));
    }
  }
  for (const auto& [key, value] : settings) {
    if (!value.empty()) kept.push_back({key, value, ""});
  }
  const JobPolicy resolved = s_.settings.rules.Resolve(job.record->name, job.record->labels, kept);
  for (const auto& [key, value] : settings) {
    if (value.empty() || !errors.empty()) continue;
    if (absl::Status s = CheckOrder(key, resolved); !s.ok()) errors.emplace_back(key, Message(s));
  }
  if (absl::Status s = CheckJobPolicy(policy); errors.empty() && !s.ok()) errors.emplace_back("", Message(s));
  return errors;
}

absl::StatusOr<PreparedSettings> LiveOverrides::Prepare(JobId id, std::span<const KeyValue> given,
                                                        std::string_view who, int64_t now_s) {
  const std::vector<KeyValue> settings = SettingsNow(given);
  if (!s_.Has(id)) return absl::NotFoundError("the job is no longer known");
  if (const std::vector<KeyValue> errors = Check(id, settings); !errors.empty()) {
    std::string all;
    for (const auto& [key, error] : errors) StrAppend(&all, all.empty() ? "" : "; ", error);
    return absl::InvalidArgumentError(all);
  }
  const LiveJob& job = s_.jobs[id];
  PreparedSettings prepared;
  prepared.id = id;
  LiveJob& copy = prepared.job;
  copy.record = job.record;
  copy.overrides = job.overrides;
  copy.policy = job.policy;
  s_.MakeRecommenders(copy);
  std::string state;
  ByteWriter out(&state);
  SaveLiveJob(job, out);
  ByteReader in(state);
  if (absl::Status s = LoadLiveJob(in, copy); !s.ok()) return s;
  CopyNotSaved(job, copy);
  uint64_t last_setting = s_.last_setting;
  for (const auto& [key, value] : settings) {
    prepared.changes.push_back({.id = ++last_setting,
                                .time_s = now_s,
                                .who = std::string(who),
                                .job = job.record->name,
                                .key = key,
                                .value = value,
                                .before = GetJobSetting(key, *job.policy)});
    PutOverride(prepared.changes.back(), copy.overrides);
  }
  s_.Repolicy(copy);
  // The recommendation may violate the new bounds. Without this call, a request with mode auto and a lower bound
  // would set a limit below the bound until the next window closes.
  RecommendAgain(s_, copy);
  const uint64_t last_decision = s_.last_decision;
  const int64_t decided_s = DecisionTime(s_, now_s);
  for (const Resource r : kResources)
    pass_.DecideLane(copy, r, decided_s, Trigger::kSetting, prepared.output);
  replicas_.Decide(copy, decided_s, prepared.output);
  replicas_.EndHold(copy, decided_s, prepared.output);
  // Take assigns the ids permanently, if the store accepts the request.
  s_.last_decision = last_decision;
  return prepared;
}

void LiveOverrides::Take(PreparedSettings prepared) {
  LiveJob* job = s_.jobs.Find(prepared.id);
  if (job == nullptr) return;
  s_.Changed(*job);
  // The order of the copy may differ from the order of `job`; KeepOrder registers the copy's order.
  replicas_.ForgetOrder(*job);
  static_cast<LiveJobState&>(*job) = std::move(static_cast<LiveJobState&>(prepared.job));
  replicas_.KeepOrder(*job);
  s_.NoteStartup(*job);
  if (!prepared.changes.empty()) s_.last_setting = prepared.changes.back().id;
  if (!prepared.output.decisions.empty()) s_.last_decision = prepared.output.decisions.back().id;
}

void RedoSetting(const SettingChange& change, FleetState& state, ReplicaPass& replicas) {
  state.last_setting = std::max(state.last_setting, change.id);
  const std::optional<JobId> id = state.Find(change.job);
  if (id.has_value()) {
    LiveJob& job = state.jobs[*id];
    PutOverride(change, job.overrides);
    state.Repolicy(job);
    RecommendAgain(state, job);
    PassOutput said;  // holds were already reported before the restart
    replicas.EndHold(job, change.time_s, said);
    return;
  }
  // Overrides are kept for a job that returns later.
  std::vector<Override>& overrides = state.settings_of_gone[change.job];
  PutOverride(change, overrides);
  if (overrides.empty()) state.settings_of_gone.erase(change.job);
}

}  // namespace taut::brain
