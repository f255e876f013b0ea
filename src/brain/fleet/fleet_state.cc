#include "brain/fleet/fleet_state.h"

#include <algorithm>
#include <utility>

#include "common/base/strings.h"
#include "common/model/labels.h"

namespace taut::brain {
namespace {

JobInfo InfoOf(const JobRecord& record) {
  return {
      .name = record.name, .logical_name = record.name, .sensitivity = Sensitivity::kUnknown, .priority = {}};
}

// Adapts the job's replicas to its policy. A new replica policy needs the stored load. Replicas whose policy was
// removed stay until their order is withdrawn and the end of their hold is reported.
void RepolicyReplicas(LiveJob& job) {
  std::unique_ptr<LiveReplicas> fresh = LiveReplicas::For(*job.policy);
  if (job.replicas == nullptr || fresh == nullptr) {
    if (fresh != nullptr) job.WantHistory();
    const bool stays = job.replicas != nullptr &&
                       (job.replicas->figures().in_force.has_value() || job.replicas->figures().held.holds());
    if (!stays) job.replicas = std::move(fresh);
    return;
  }
  if (!job.replicas->ChangePolicy(*job.policy)) job.WantHistory();
}

}  // namespace

void PassOutput::Clear() {
  decisions.clear();
  settings.clear();
  point = FleetPoint();
  day_ended = false;
  trials.clear();
  step_backs.clear();
  holds.clear();
}

void RunInOrder(size_t count, absl::FunctionRef<void(size_t turn)> turn) {
  for (size_t i = 0; i < count; ++i) turn(i);
}

FleetState::FleetState(const LiveSettings& its_settings)
    : settings(its_settings), models(std::make_unique<FleetModels>(its_settings.vertical)) {}

std::unique_ptr<Recommender> FleetState::NewRecommenderOf(const LiveJob& job, Resource r) const {
  return NewRecommender(job.policy->recommenders().of(r), r, InfoOf(*job.record),
                        SettingsFor(*job.policy, settings.vertical), *models);
}

std::shared_ptr<const JobPolicy> FleetState::PolicyOf(const LiveJob& job) {
  const PolicyRules& rules = settings.rules;
  const JobRecord& record = *job.record;
  if (!job.overrides.empty()) {
    return std::make_shared<const JobPolicy>(rules.Resolve(record.name, record.labels, job.overrides));
  }
  // Key of the cache: the result of each rule, and the labels that are settings. Jobs with equal keys share a
  // policy.
  std::string fits(rules.rules().size(), '0');
  for (size_t i = 0; i < fits.size(); ++i) {
    if (rules.Fits(i, record.name, record.labels)) fits[i] = '1';
  }
  for (const auto& [key, value] : record.labels) {
    if (key.starts_with(kSettingLabel)) StrAppend(&fits, "\n", key, "=", value);
  }
  std::shared_ptr<const JobPolicy>& policy = policies[fits];
  if (policy == nullptr) {
    policy = std::make_shared<const JobPolicy>(rules.Resolve(record.name, record.labels, {}));
  }
  return policy;
}

void FleetState::AddJob(JobRecord record) {
  const JobId id = record.id;
  AddRestoredJob(std::move(record));
  MakeRecommenders(jobs[id]);
}

void FleetState::MakeRecommenders(LiveJob& job) const {
  if (job.replicas == nullptr) job.replicas = LiveReplicas::For(*job.policy);
  for (const Resource r : kResources) {
    if (job.of(r).is_blank()) job.of(r).lane = Lane(NewRecommenderOf(job, r));
  }
  Wake(job);  // all lanes of a job sleep, or none
}

void FleetState::AddRestoredJob(JobRecord record) {
  ++records.jobs;
  LiveJob& job = jobs.Emplace(record.id);
  job.record = std::make_shared<const JobRecord>(std::move(record));
  if (const auto it = settings_of_gone.find(job.record->name); it != settings_of_gone.end()) {
    job.overrides = std::move(it->second);
    settings_of_gone.erase(it);
  }
  if (!ids.Find(job.record->name).has_value()) ids.Insert(job.record->id.value);
  job.policy = PolicyOf(job);
  job.awaits_owner = awaits_owners;
  NoteStartup(job);
  Changed(job);
}

bool FleetState::AddLabels(JobId id, std::span<const KeyValue> labels, WorkloadParts parts) {
  LiveJob& job = jobs[id];
  const bool is_known = !parts.known() || job.record->parts == parts;
  const bool has_labels = std::ranges::all_of(labels, [&own = job.record->labels](const KeyValue& label) {
    const std::string* const value = FindLabel(own, label.first);
    return value != nullptr && *value == label.second;
  });
  if (is_known && has_labels) return false;
  JobRecord record = *job.record;
  if (!is_known) record.parts = parts;
  MergeLabels(labels, record.labels);
  Relabel(*this, job, std::move(record));
  if (!has_labels) Repolicy(job);
  return true;
}

std::optional<JobId> FleetState::Find(std::string_view name) const {
  const std::optional<uint32_t> id = ids.Find(name);
  return id.has_value() ? std::optional(JobId{*id}) : std::nullopt;
}

void FleetState::Repolicy(LiveJob& job) {
  const std::shared_ptr<const JobPolicy> old = std::exchange(job.policy, PolicyOf(job));
  if (old == job.policy) return;
  // A copy must not change the map of all jobs, because the copy's settings may never be in force.
  if (IsOurs(job)) NoteStartup(job);
  bool all_same = true;
  for (const Resource r : kResources) {
    if (SameRecommender(*old, *job.policy, r)) continue;
    job.of(r).needs_history = true;
    all_same = false;
  }
  RepolicyReplicas(job);
  Changed(job);
  // When a sleeping lane wakes, its state is loaded into a recommender of the current policy. A job may therefore
  // stay asleep only if no recommender has changed.
  if (job.sleeps() && (all_same || job.is_blank())) return;
  for (const Resource r : kResources) RemakeLane(job, r, SameRecommender(*old, *job.policy, r));
}

// Recreates the lane according to the job's current policy. `keeps`: true if the new lane receives the old
// lane's state.
void FleetState::RemakeLane(LiveJob& job, Resource r, bool keeps) {
  LiveLane& lane = job.of(r);
  Lane fresh(NewRecommenderOf(job, r));
  std::string state(lane.asleep);
  if (!lane.lane.sleeps()) {
    ByteWriter out(&state);
    lane.lane.Save(out);
  }
  ByteReader in(state);
  if (keeps && !fresh.Load(in).ok()) lane.needs_history = true;
  lane.asleep.clear();
  lane.lane = std::move(fresh);
}

void FleetState::NoteStartup(const LiveJob& job) {
  const auto seconds = static_cast<int32_t>(job.policy->startup_window_s);
  const auto it = startups.find(job.record->id.value);
  if (seconds == (it == startups.end() ? 0 : it->second)) return;
  ++startups_version;
  if (seconds == 0) {
    startups.erase(it);
  } else {
    startups.insert_or_assign(job.record->id.value, seconds);
  }
}

Decision& FleetState::AddDecision(const LiveJob& job, Target target, int64_t now_s, Verdict& verdict,
                                  PassOutput& out) {
  Decision& d = out.decisions.emplace_back();
  d.id = ++last_decision;
  d.job = job.record->id;
  d.target = target;
  d.kind = *verdict.kind;
  // The outcome is final, because no actuator executes the decision.
  if (d.kind == DecisionKind::kWouldSet) d.outcome = Outcome::kDryRun;
  d.mode = job.policy->mode;
  d.time_s = now_s;
  d.before = verdict.before;
  d.after = verdict.after;
  d.sentence = std::move(verdict.sentence);
  return d;
}

bool FleetState::Enforced(const LiveJob& job) const {
  const Enforcement e = settings.enforcement;
  const bool by_agents = e == Enforcement::kByAgents || e == Enforcement::kByAgentsAndInKubernetes;
  return EnforcedWhereItRuns(*this, job) || (by_agents && job.managed);
}

LimitsApplied FleetState::AppliedTo(const LiveJob& job) const {
  if (!Enforced(job)) return LimitsApplied::kNo;
  const bool reported = job.managed || std::ranges::any_of(kResources, [&job](Resource r) {
                          return job.of(r).applied != kAbsent;
                        });
  return reported ? LimitsApplied::kAgentsReport : LimitsApplied::kActuatorSays;
}

std::optional<double> FleetState::LimitOf(const LiveJob& job, Resource r) const {
  const LiveLane& lane = job.of(r);
  const bool decided = Enforced(job) || settings.enforcement == Enforcement::kNever;
  return decided ? lane.real_limit() : lane.reported().has_value() ? lane.reported() : lane.owner();
}

SizeUse FleetState::SizeUseOf(const LiveJob& job) const {
  if (job.policy->mode == Mode::kObserve || settings.enforcement == Enforcement::kNever)
    return SizeUse::kWouldBe;
  return Enforced(job) ? SizeUse::kOrdered : SizeUse::kOwners;
}

// ---- sleeping lanes, and changes since the last checkpoint ----

void FleetState::Wake(LiveJob& job) const {
  for (const Resource r : kResources) {
    LiveLane& lane = job.of(r);
    if (!lane.lane.sleeps()) continue;
    const PackedText state = std::move(lane.asleep);
    // The state may have been saved under other settings or by another version, so that this recommender cannot
    // read it.
    if (!lane.lane.Wake(NewRecommenderOf(job, r), state).ok()) lane.needs_history = true;
  }
}

LiveJob& FleetState::Awake(JobId id) {
  LiveJob& job = jobs[id];
  Wake(job);
  return job;
}

void FleetState::Changed(JobId id) {
  const uint32_t chunk = id.value / kChunkJobs;
  if (chunk >= changed_since.size()) changed_since.resize(chunk + 1, kSaved);
  // The earliest window counts, because a restart replays all windows from this window on.
  changed_since[chunk] = std::min(changed_since[chunk], now);
}

void Relabel(FleetState& state, LiveJob& job, JobRecord record) {
  job.record = std::make_shared<const JobRecord>(std::move(record));
  ++state.records.labels;
}

// ---- steps of a job ----

void StartDay(LiveJob& job, int32_t day) {
  if (job.day == day) return;
  if (job.seen_today) {
    for (const Resource r : kResources) JobStepper(r, job.of(r)).EndDay(job.day);
    job.seen_today = job.over_today = false;
  }
  job.day = day;
  for (const Resource r : kResources) JobStepper(r, job.of(r)).StartDay(day);
}

void RecommendAgain(LiveJob& job, WindowId next) {
  if (job.sleeps()) return;
  for (const Resource r : kResources) {
    LiveLane& lane = job.of(r);
    if (lane.needs_history || !lane.lane.recommended().has_value()) continue;
    lane.lane.RecommendAgain(next);
    lane.RefreshRisk();
  }
}

void RecommendAgain(const FleetState& state, LiveJob& job) {
  if (state.passed.index != INT32_MIN) RecommendAgain(job, state.passed.next());
}

int64_t DecisionTime(const FleetState& state, int64_t now_s) {
  return state.passed.index == INT32_MIN ? now_s : std::max(now_s, state.passed.next().start_s() + 1);
}

bool EnforcedWhereItRuns(const FleetState& state, const LiveJob& job) {
  const Enforcement e = state.settings.enforcement;
  const bool in_kubernetes = e == Enforcement::kInKubernetes || e == Enforcement::kByAgentsAndInKubernetes;
  return e == Enforcement::kAlways || (in_kubernetes && job.record->parts.source() == Source::kKubernetes);
}

bool WaitsForOwner(LiveJob& job, Trigger trigger) {
  const Mode mode = job.policy->mode;
  if (!job.awaits_owner || (mode != Mode::kAuto && mode != Mode::kCanary)) return false;
  job.oom_waits = job.oom_waits || trigger == Trigger::kOom;
  job.setting_waits = job.setting_waits || trigger == Trigger::kSetting;
  return true;
}

int32_t PeakSlice(const VerticalSettings& settings, int64_t now_s) {
  const double slice_s = settings.moving_window.memory_half_life_s / 2;
  return static_cast<int32_t>(static_cast<double>(now_s) / std::max(slice_s, double{kWindowSeconds}));
}

std::vector<JobId> FindJobsFrom(uint32_t& cursor, size_t limit, const FleetState& state,
                                absl::FunctionRef<bool(const LiveJob&)> fits) {
  constexpr uint32_t kLookedAt = 20'000;
  std::vector<JobId> out;
  if (cursor >= state.jobs.end_id()) cursor = 0;
  const uint32_t end = std::min(state.jobs.end_id() - cursor, kLookedAt) + cursor;
  for (; cursor < end && out.size() < limit; ++cursor) {
    const LiveJob* const job = state.jobs.Find(JobId{cursor});
    if (job != nullptr && fits(*job)) out.push_back(job->record->id);
  }
  return out;
}

}  // namespace taut::brain
