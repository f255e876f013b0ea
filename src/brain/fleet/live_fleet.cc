#include "brain/fleet/live_fleet.h"

#include <algorithm>

#include "brain/fleet/live_starts.h"
#include "brain/fleet/stored_history.h"
#include "common/base/strings.h"
#include "common/model/labels.h"
#include "common/model/oom_counts.h"
#include "common/model/said_replicas.h"
#include "common/model/whole_machine.h"

namespace taut::brain {
namespace {

constexpr std::string_view kWaitsForOwner = "the settings and bounds of its owner are not known yet";
constexpr int64_t kDeafWindows = 3;  // a longer time between two windows with data is one without any data

int64_t EndOf(WindowId window) { return window.next().start_s(); }

double TotalOf(float per_task, uint32_t tasks) { return per_task >= 0 ? double{per_task} * tasks : 0; }

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

LiveFleet::LiveFleet(const LiveSettings& settings)
    : settings_(settings), models_(std::make_unique<FleetModels>(settings.vertical)) {}

// ---- jobs and their policies ----

JobInfo LiveFleet::InfoOf(const JobRecord& record) const {
  return {
      .name = record.name, .logical_name = record.name, .sensitivity = Sensitivity::kUnknown, .priority = {}};
}

std::unique_ptr<Recommender> LiveFleet::NewRecommenderOf(const LiveJob& job, Resource r) const {
  return NewRecommender(job.policy->recommenders().of(r), r, InfoOf(job.record),
                        SettingsFor(*job.policy, settings_.vertical), *models_);
}

std::shared_ptr<const JobPolicy> LiveFleet::PolicyOf(const LiveJob& job) {
  const PolicyRules& rules = settings_.rules;
  const JobRecord& record = job.record;
  if (!job.overrides.empty()) {
    return std::make_shared<const JobPolicy>(rules.Resolve(record.name, record.labels, job.overrides));
  }
  std::string fits(rules.rules().size(), '0');
  for (size_t i = 0; i < fits.size(); ++i) {
    if (rules.Fits(i, record.name, record.labels)) fits[i] = '1';
  }
  for (const auto& [key, value] : record.labels) {
    if (key.starts_with(kSettingLabel)) StrAppend(&fits, "\n", key, "=", value);
  }
  std::shared_ptr<const JobPolicy>& policy = policies_[fits];
  if (policy == nullptr) {
    policy = std::make_shared<const JobPolicy>(rules.Resolve(record.name, record.labels, {}));
  }
  return policy;
}

void LiveFleet::AddJob(JobRecord record) {
  const JobId id = record.id;
  AddRestoredJob(std::move(record));
  MakeRecommenders(jobs_[id]);
}

void LiveFleet::MakeRecommenders(LiveJob& job) const {
  if (job.replicas == nullptr) job.replicas = LiveReplicas::For(*job.policy);
  for (const Resource r : kResources) {
    if (job.of(r).is_blank()) job.of(r).lane = Lane(NewRecommenderOf(job, r));
  }
  Wake(job);  // a lane does not sleep where the other is awake
}

void LiveFleet::MakeRecommenders(RunTurns run) {
  run(num_chunks(), [this](size_t chunk) {
    for (auto i = static_cast<uint32_t>(chunk * kChunkJobs); i < (chunk + 1) * kChunkJobs; ++i) {
      if (LiveJob* job = jobs_.Find(JobId{i}); job != nullptr && job->is_blank()) MakeRecommenders(*job);
    }
  });
}

void LiveFleet::AddRestoredJob(JobRecord record) {
  ++records_.jobs;
  LiveJob& job = jobs_.Emplace(record.id);
  job.record = std::move(record);
  if (const auto it = settings_of_gone_.find(job.record.name); it != settings_of_gone_.end()) {
    job.overrides = std::move(it->second);
    settings_of_gone_.erase(it);
  }
  if (!ids_.Find(job.record.name).has_value()) ids_.Insert(job.record.id.value);
  job.policy = PolicyOf(job);
  job.awaits_owner = awaits_owners_;
  NoteStartup(job);
  Changed(job);
}

bool LiveFleet::AddLabels(JobId id, std::span<const KeyValue> labels) {
  LiveJob& job = jobs_[id];
  if (!MergeLabels(labels, job.record.labels)) return false;
  ++records_.labels;
  Repolicy(job);
  return true;
}

std::optional<JobId> LiveFleet::Find(std::string_view name) const {
  const std::optional<uint32_t> id = ids_.Find(name);
  return id.has_value() ? std::optional(JobId{*id}) : std::nullopt;
}

// The job's policy may have changed: lanes whose recommender is still the same keep what they know.
void LiveFleet::Repolicy(LiveJob& job) {
  const std::shared_ptr<const JobPolicy> old = std::exchange(job.policy, PolicyOf(job));
  if (old == job.policy) return;
  if (IsOurs(job)) NoteStartup(job);
  bool all_same = true;
  for (const Resource r : kResources) {
    if (SameRecommender(*old, *job.policy, r)) continue;
    job.of(r).needs_history = true;
    all_same = false;
  }
  RepolicyReplicas(job);
  Changed(job);
  // Its bytes are read by recommenders made with the policy of then.
  if (job.sleeps() && (all_same || job.is_blank())) return;
  for (const Resource r : kResources) RemakeLane(job, r, SameRecommender(*old, *job.policy, r));
}

// By the job's policy of now; with `keeps` it takes over what the lane knows.
void LiveFleet::RemakeLane(LiveJob& job, Resource r, bool keeps) {
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

// Another policy of replicas wants the stored load. One that is taken away stays until its order is taken back
// and the end of its hold is said.
void LiveFleet::RepolicyReplicas(LiveJob& job) {
  std::unique_ptr<LiveReplicas> fresh = LiveReplicas::For(*job.policy);
  if (job.replicas == nullptr || fresh == nullptr) {
    if (fresh != nullptr) job.WantHistory();
    const bool stays =
        job.replicas != nullptr && (job.replicas->in_force().has_value() || job.replicas->held().holds());
    if (!stays) job.replicas = std::move(fresh);
    return;
  }
  const LiveReplicas& old = *job.replicas;
  if (fresh->policy_name() != old.policy_name() || fresh->is_of_cpu() != old.is_of_cpu() ||
      fresh->startup_windows() != old.startup_windows())
    job.WantHistory();
  std::string state;
  ByteWriter out(&state);
  job.replicas->Save(out);
  ByteReader in(state);
  if (auto loaded = LiveReplicas::Load(in, *job.policy); loaded.ok()) job.replicas = *std::move(loaded);
  if (job.replicas->has_lost()) job.WantHistory();
  job.replicas->WeighSizeAnew();
}

void LiveFleet::Reload(const LiveSettings& settings) {
  settings_ = settings;
  policies_.clear();
  std::string saved;
  ByteWriter out(&saved);
  SaveFleet(out);
  // The lanes look at the old models until each has been made anew.
  const std::unique_ptr<FleetModels> old =
      std::exchange(models_, std::make_unique<FleetModels>(settings_.vertical));
  ByteReader in(saved);
  (void)LoadFleet(in);  // a fleet model that other settings cannot read starts anew
  for (LiveJob& job : jobs_) Repolicy(job);
}

// ---- a pass (its first step is in live_observe.cc) ----

// The fleet learns from the day that ended, and the jobs that were there begin the next one.
void LiveFleet::EndDay(PassOutput& out, When when) {
  PerResource<FleetRows> rows;
  risks_.BeginDay(day_);
  for (LiveJob& job : jobs_) {
    if (!job.seen_today || job.day != day_) continue;
    const bool slept = job.sleeps();
    Wake(job);
    for (const Resource r : kResources) {
      FleetRows& taught = rows[static_cast<size_t>(r)];
      const size_t before = taught.size();
      JobStepper(r, job.of(r)).EndDay(day_, taught);
      EndRiskDay(std::span(taught).subspan(before), job.of(r));
    }
    if (slept) job.Sleep();
  }
  for (const Resource r : kResources) models_->CloseDay(r, day_, std::move(rows[static_cast<size_t>(r)]));
  load_analogs_.CloseDay();
  const WindowId next{(day_ + 1) * kWindowsPerDay};
  for (LiveJob& job : jobs_) {
    if (!job.seen_today || job.day != day_) continue;
    Migrate(job, next.start_s(), out, when);
    if (job.replicas != nullptr) load_analogs_.Take(job.replicas->TakeMoves());
    job.seen_today = job.over_today = false;
    Changed(job);
    const bool slept = job.sleeps();
    Wake(job);
    StartDay(job, day_ + 1);
    if (slept) job.Sleep();
  }
  out.day_ended = true;
  ++day_;
}

void LiveFleet::Migrate(LiveJob& job, int64_t now_s, PassOutput& out, When when) {
  // A mode that was set stays, and a job that was moved stays moved.
  const auto mode = std::find_if(job.overrides.begin(), job.overrides.end(),
                                 [](const Override& o) { return o.key == "mode"; });
  if (mode != job.overrides.end()) {
    // An owner who opts out after the move takes it back.
    if (mode->who != kMigrationName || job.policy->migrate) return;
    SettingChange back;
    back.id = ++last_setting_;
    back.time_s = now_s;
    back.who = kMigrationName;
    back.job = job.record.name;
    back.key = "mode";
    back.before = mode->value;
    Redo(back);
    out.settings.push_back(std::move(back));
    return;
  }
  MigrationFacts facts{.now_s = now_s, .over_today = job.over_today, .past = when == When::kPast};
  const auto total = [&](Resource r) {
    const LiveLane& lane = job.of(r);
    return TotalOf(lane.owner_limit >= 0 ? lane.owner_limit : lane.usage_peak, lane.tasks);
  };
  facts.cpu_cores = total(Resource::kCpu);
  facts.memory_bytes = total(Resource::kMemory);
  const MigrationVerdict verdict = StepMigration(settings_.migration, *job.policy, facts, job.migration);
  if (verdict.step == MigrationStep::kNothing) return;
  job.notice = verdict.step == MigrationStep::kNotice ? verdict.sentence : "";
  if (verdict.step != MigrationStep::kMove) return;
  SettingChange change{.id = ++last_setting_,
                       .time_s = now_s,
                       .who = std::string(kMigrationName),
                       .job = job.record.name,
                       .key = "mode",
                       .value = std::string(Name(Mode::kAuto)),
                       .before = std::string(Name(job.policy->mode))};
  job.overrides.push_back({change.key, change.value, change.who});
  Repolicy(job);
  out.settings.push_back(std::move(change));
}

void LiveFleet::EndWindow(const ClosedWindow& closed, PassOutput& out, When when) {
  const bool last_of_day = closed.window.next().day() != closed.window.day();
  if (last_of_day) EndDay(out, when);
  if (when == When::kNow) TakeSilence(closed, out);
  if (closed.window.index % kWindowsPerHour == 0) PutToSleep(closed.window);
}

void LiveFleet::Decide(const ClosedWindow& closed, size_t first, size_t last, PassOutput& out, When when) {
  const int64_t now_s = EndOf(closed.window);
  for (size_t i = first; i < last; ++i) {
    LiveJob& job = Awake(closed.jobs[i].job);
    const bool is_machine = IsWholeMachine(job.record);
    if (job.last_window != closed.window) continue;  // a named signal alone: see ObserveIdle
    for (const Resource r : kResources) {
      LiveLane& lane = job.of(r);
      if (lane.tasks == 0) continue;
      const bool sets =
          job.policy->mode != Mode::kObserve || lane.gate.in_force.has_value() || lane.gate.trial.has_value();
      if (when == When::kNow || !sets) {
        if (job.policy->mode == Mode::kCanary) FindCandidates(closed, closed.jobs[i], r);
        DecideLane(job, r, now_s, Why::kWindow, out);
      }
      if (is_machine) continue;
      FleetAmounts& sum = out.point.amounts[static_cast<size_t>(r)];
      sum.usage += TotalOf(lane.usage_mean, lane.tasks);
      ++sum.jobs;
      if (!lane.owner().has_value()) continue;
      ++sum.jobs_limited;
      sum.owner_limit += TotalOf(lane.owner_limit, lane.tasks);
      sum.in_force += LimitOf(job, r).value_or(0) * lane.tasks;
      sum.would_be += lane.lane.recommended().value_or(lane.owner_limit) * lane.tasks;
    }
    if (job.replicas != nullptr) {
      if (const auto step_back = job.replicas->TakeStepBack(); step_back.has_value())
        out.step_backs.emplace_back(job.record.id, *step_back);
    }
    const bool ordered = job.replicas != nullptr && job.replicas->in_force().has_value();
    if (when == When::kNow || (job.policy->mode == Mode::kObserve && !ordered)) {
      DecideReplicasOf(job, now_s, out);
    }
    if (when == When::kNow) NoteHold(job, now_s, out);
  }
}

void LiveFleet::DecideLane(LiveJob& job, Resource r, int64_t now_s, Why why, PassOutput& out,
                           std::optional<double> at_least) {
  LiveLane& lane = job.of(r);
  lane.RefreshRisk();
  if (WaitsForOwner(job, why) || WaitsForWindow(job, r)) {
    if (lane.hold != kWaitsForOwner) lane.hold = std::string(kWaitsForOwner);
    return;
  }
  const LaneFacts facts{.resource = r,
                        .now_s = now_s,
                        .owner_limit = lane.owner(),
                        .num_tasks = lane.tasks,
                        .tasks = why == Why::kWindow ? &candidates_ : nullptr,
                        .oom = why == Why::kOom,
                        .grows = why == Why::kGrowth,
                        .applied = AppliedTo(job),
                        .knows_past = !lane.needs_history,
                        .at_least = at_least,
                        .kernel_peak = r == Resource::kMemory && job.memory != nullptr
                                           ? job.memory->kernel_peaks.Highest(PeakSlice(now_s))
                                           : std::nullopt};
  const size_t members = lane.gate.trial.has_value() ? lane.gate.trial->members.size() : 0;
  std::vector<std::string> on_trial;
  if (members > 0) {
    for (const TrialTask& t : lane.gate.trial->members) {
      if (!t.name.empty()) on_trial.push_back(t.name);
    }
  }
  const std::optional<double> in_force = lane.gate.in_force;
  Verdict verdict = JobStepper(r, lane).Decide(*job.policy, facts);
  lane.NoteOrder(in_force);
  if (lane.gate.trial.has_value() && lane.gate.trial->members.size() != members) {
    out.trials.push_back(job.record.id);
  }
  if (!verdict.kind.has_value()) {
    if (lane.hold != verdict.sentence) lane.hold = verdict.sentence;
    return;
  }
  lane.hold.clear();
  if (verdict.kind != DecisionKind::kWouldSet) ++out.point.changes;
  Decision& d = AddDecision(job, r, now_s, verdict, out);
  if (r == Resource::kMemory && RowOf(d.kind).sets_all_tasks)
    job.Memory().past_limits.Note(d.id, now_s, d.before);
  if (d.kind == DecisionKind::kRollBack) d.tasks = std::move(on_trial);
  if (d.kind == DecisionKind::kTry) {
    lane.gate.trial->decision = d.id;
    trials_[d.id] = d.job;
  }
  if (const std::optional<double> limit = verdict.after; limit.has_value()) {
    Wake(job);  // the bounds of a job that sleeps may have changed
    Reason reason;
    // A trial's limit is the recommendation of when it began.
    const bool is_recommended = limit == lane.lane.recommended();
    if (!is_recommended) reason.limit = limit;
    reason.SetRisk(is_recommended ? RiskOf(job, r, passed_.day()) : lane.lane.recommender().RiskOf(*limit));
    ExplainLane(job, r, reason);
    d.reason = SaveReason(reason);
  }
}

void LiveFleet::ExplainLane(const LiveJob& job, Resource r, Reason& reason) const {
  job.of(r).lane.recommender().Explain(reason);
  if (r == Resource::kCpu) ExplainStarts(job, SetsStarts(), reason);
  if (r == Resource::kMemory) ExplainNeeded(job, reason);
  if (r == Resource::kCpu && ScaledByOf(*job.policy) == VerticalSettings::ScaledBy::kCpu &&
      job.replicas != nullptr) {
    job.replicas->ExplainSize(reason);
  }
}

Decision& LiveFleet::AddDecision(const LiveJob& job, Target target, int64_t now_s, Verdict& verdict,
                                 PassOutput& out) {
  Decision& d = out.decisions.emplace_back();
  d.id = ++last_decision_;
  d.job = job.record.id;
  d.target = target;
  d.kind = *verdict.kind;
  if (d.kind == DecisionKind::kWouldSet) d.outcome = Outcome::kDryRun;  // it is said, and that is all
  d.mode = job.policy->mode;
  d.time_s = now_s;
  d.before = verdict.before;
  d.after = verdict.after;
  d.sentence = std::move(verdict.sentence);
  return d;
}

void LiveFleet::DecideReplicasOf(LiveJob& job, int64_t now_s, PassOutput& out) {
  if (job.replicas == nullptr || (DecidesReplicas(*job.policy) && WaitsForOwner(job, Why::kWindow))) return;
  Verdict verdict = job.replicas->Decide(*job.policy, now_s);
  if (!verdict.kind.has_value()) {
    if (!job.policy->replica_policy.empty()) return;
    // Its policy was taken away, and so is its order.
    NoteHold(job, now_s, out);
    DropReplicas(job);
    return;
  }
  if (verdict.kind != DecisionKind::kWouldSet) ++out.point.changes;
  Decision& d = AddDecision(job, Target::Replicas(), now_s, verdict, out);
  if (d.kind != DecisionKind::kWouldSet) NoteReplicaOrder(d.id, job);
  if (!d.after.has_value()) return;
  Reason reason;
  job.replicas->Explain(reason);
  d.reason = SaveReason(reason);
}

void LiveFleet::NoteReplicaOrder(uint64_t decision, LiveJob& job) {
  if (IsOurs(job)) replica_orders_.erase(job.replicas->order());
  job.replicas->NoteOrder(decision);
  if (IsOurs(job)) replica_orders_[decision] = job.record.id;
}

void LiveFleet::DropReplicas(LiveJob& job) {
  if (IsOurs(job)) replica_orders_.erase(job.replicas->order());
  job.replicas.reset();
}

bool LiveFleet::NoteHold(LiveJob& job, int64_t now_s, PassOutput& out) {
  if (job.replicas == nullptr) return false;
  std::optional<ReplicaHoldChange> change = job.replicas->TakeHoldChange(now_s, DecidesReplicas(*job.policy));
  if (!change.has_value()) return false;
  out.holds.emplace_back(job.record.id, *std::move(change));
  return true;
}

void LiveFleet::EndHold(LiveJob& job, int64_t now_s, PassOutput& out) {
  if (job.replicas == nullptr || DecidesReplicas(*job.policy)) return;
  NoteHold(job, now_s, out);
  const bool is_done = job.policy->replica_policy.empty() && !job.replicas->in_force().has_value();
  if (is_done) DropReplicas(job);
}

void LiveFleet::TakeSilence(const ClosedWindow& closed, PassOutput& out) {
  // Where nothing was measured of anybody it is tautd that hears nothing, and the jobs may be well. A job has
  // time to be heard again after such a gap.
  if (closed.jobs.empty()) return;
  if (int64_t{closed.window.index} - heard_.index > kDeafWindows) heard_since_ = closed.window;
  heard_ = closed.window;
  const int64_t now_s = EndOf(closed.window);
  for (LiveJob& job : jobs_) {
    if (job.replicas == nullptr || job.last_window >= closed.window) continue;
    const std::string hold = job.replicas->hold();
    const size_t decisions = out.decisions.size();
    if (job.replicas->TakeUnmeasured(closed.window, heard_since_.start_s()))
      DecideReplicasOf(job, now_s, out);
    const bool noted = NoteHold(job, now_s, out);
    const bool same =
        job.replicas != nullptr && job.replicas->hold() == hold && out.decisions.size() == decisions;
    if (noted || !same) Changed(job);
  }
}

void LiveFleet::TakeOom(OomRecord& oom, PassOutput& out, When when, const KillTimes& times) {
  if (oom.id = ++last_oom_; !Has(oom.job)) return;
  LiveJob& job = Awake(oom.job);
  oom.kills = std::min(oom.kills, kMostKillsAtOnce);
  if (IsAside(oom)) {
    TakeInAside(job, oom);
    out.point.oom_kills += static_cast<uint32_t>(oom.kills);
    return;
  }
  if (!oom.limit.has_value()) oom.limit = LimitAtKill(job, oom, std::min(times.since_s, oom.time_s));
  TakeInOom(job, oom);
  out.point.oom_kills += static_cast<uint32_t>(oom.kills);
  if (when == When::kPast) return;
  // A kill reported late is decided after the decisions since: a restart processes both in this
  // order.
  int64_t now_s = std::max(oom.time_s, times.now_s);
  if (passed_.index != INT32_MIN) now_s = std::max(now_s, EndOf(passed_) + 1);
  DecideLane(job, Resource::kMemory, now_s, Why::kOom, out, OwnersAnswer(job, oom));
}

// ---- history ----

void LiveFleet::WantHistoryOf(uint32_t chunk) {
  for (uint32_t i = chunk * kChunkJobs; i < (chunk + 1) * kChunkJobs; ++i) {
    LiveJob* job = jobs_.Find(JobId{i});
    if (job == nullptr) continue;
    job->lost = true;
    job->WantHistory();
  }
}

std::vector<JobId> LiveFleet::WantHistory(size_t limit) const {
  std::vector<JobId> ids;
  for (const LiveJob& job : jobs_) {
    if (ids.size() == limit) break;
    if (job.needs_history()) ids.push_back(job.record.id);
  }
  return ids;
}

Lane LiveFleet::Relived(const LiveJob& job, const StoredHistory& history) {
  ManagedLane lane{Lane(NewRecommenderOf(job, history.resource))};
  const auto nothing = [](const Signal&, std::span<const OomRecord>) {};
  const auto close = [&](const Signal& s, std::span<const OomRecord>) {
    Signal seen = s;
    if (seen.cut_at.has_value()) seen.limit = seen.cut_at;
    JobStepper(history.resource, lane)
        .Observe({.resource = history.resource, .signal = &seen, .reports = {}});
  };
  StepHistory(history, signals_, lane, {.begins = nothing, .closes = close});
  return std::move(lane.lane);
}

void LiveFleet::Retrain(JobId id, std::span<const JobDay> days, std::span<const OomRecord> ooms,
                        std::span<const Decision> decisions) {
  LiveJob& job = jobs_[id];
  Changed(job);
  int32_t begun = job.day;
  if (!days.empty()) begun = std::max(day_, days.back().day);
  if (days.empty() && day_ != INT32_MIN) begun = day_;
  // Some lanes stay as they are.
  const bool keeps = job.needs_history() && !std::ranges::all_of(job.lanes, &LiveLane::needs_history);
  if (keeps) {
    Wake(job);
    if (begun > job.day) StartDay(job, begun);
  }
  for (const Resource r : kResources) {
    LiveLane& lane = job.of(r);
    if (keeps && !lane.needs_history) continue;
    lane.lane = Relived(job, {.resource = r,
                              .days = days,
                              .ooms = ooms,
                              .decisions = decisions,
                              .open_day = day_,
                              .memory_signal = job.policy->memory_signal});
    lane.asleep.clear();
    lane.limit_risk.reset();
  }
  if (std::unique_ptr<LiveReplicas> fresh = LiveReplicas::For(*job.policy); fresh != nullptr) {
    for (const JobDay& day : days) {
      signals_.Build(day, Resource::kMemory, job.policy->memory_signal);
      for (const Signal& signal : signals_.signals()) fresh->ObserveMemory(signal, signal.owner_limit);
      signals_.Build(day, Resource::kCpu);
      for (const Signal& signal : signals_.signals())
        fresh->Observe(signal, signal.owner_limit, SizeUse::kOwners, nullptr, {SaidOf(signal.named)});
    }
    fresh->EndPast();
    if (job.replicas != nullptr) fresh->TakeGate(*job.replicas);
    job.replicas = std::move(fresh);
    TakeTaskSize(job);
  }
  RestoreStarts(days, job);
  job.day = begun;
  for (LiveLane& lane : job.lanes) {
    lane.needs_history = false;
    lane.RefreshRisk();
  }
}

}  // namespace taut::brain
