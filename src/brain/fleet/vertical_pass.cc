#include "brain/fleet/vertical_pass.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "brain/fleet/departures.h"
#include "brain/fleet/live_overrides.h"
#include "common/model/whole_machine.h"

namespace taut::brain {
namespace {

constexpr std::string_view kWaitsForOwner = "the settings and bounds of its owner are not known yet";

int64_t EndOf(WindowId window) { return window.next().start_s(); }

double TotalOf(float per_task, uint32_t tasks) { return per_task >= 0 ? double{per_task} * tasks : 0; }

std::vector<std::string> NamesOnTrial(const LiveLane& lane) {
  std::vector<std::string> names;
  if (!lane.gate.trial.has_value()) return names;
  for (const TrialTask& t : lane.gate.trial->members) {
    if (!t.name.empty()) names.push_back(t.name);
  }
  return names;
}

// Returns true if the job has history but no current window yet, and the owner's limit is unknown. A decision at
// this time would replace a limit that could not be restored later.
bool WaitsForWindow(const LiveJob& job, Resource r) {
  const Mode mode = job.policy->mode;
  const LiveLane& lane = job.of(r);
  if (mode != Mode::kAuto && mode != Mode::kCanary) return false;
  if (job.measured_now || job.last_window.index == INT32_MIN) return false;
  return !lane.owner().has_value() && !lane.gate.in_force.has_value() && !lane.gate.trial.has_value();
}

}  // namespace

// Passes the rows of the ended day to the fleet models. Jobs that were measured on this day start the next day.
void VerticalPass::EndDay(PassOutput& out, When when) {
  std::vector<FleetShare> shares;
  for (const Resource r : kResources) shares.push_back(s_.models->NewShare(r, s_.day));
  FleetRows rows;
  s_.risks.BeginDay(s_.day);
  for (LiveJob& job : s_.jobs) {
    if (!job.seen_today || job.day != s_.day) continue;
    const bool slept = job.sleeps();
    s_.Wake(job);
    const uint64_t key = JobKey(job.record->name);
    for (const Resource r : kResources) {
      rows.clear();
      JobStepper(r, job.of(r)).EndDay(s_.day, key, rows);
      risk_.EndDay(rows, job.of(r));
      shares[IndexOf(r)].Add(rows);
    }
    if (slept) job.Sleep();
  }
  for (const Resource r : kResources) s_.models->CloseDay(r, std::move(shares[IndexOf(r)]));
  s_.load_analogs.CloseDay();
  // A second loop is needed, because a job may start its day only after the models have learnt from all jobs.
  const WindowId next{(s_.day + 1) * kWindowsPerDay};
  for (LiveJob& job : s_.jobs) {
    if (!job.seen_today || job.day != s_.day) continue;
    Migrate(job, next.start_s(), out, when);
    if (job.replicas != nullptr) s_.load_analogs.Take(job.replicas->TakeMoves());
    job.seen_today = job.over_today = false;
    s_.Changed(job);
    const bool slept = job.sleeps();
    s_.Wake(job);
    StartDay(job, s_.day + 1);
    if (slept) job.Sleep();
  }
  out.day_ended = true;
  // The day must change last, because the steps above belong to the ended day.
  ++s_.day;
}

void VerticalPass::Migrate(LiveJob& job, int64_t now_s, PassOutput& out, When when) {
  // Migration changes no mode that a user set, and moves a job only once.
  const auto mode = std::find_if(job.overrides.begin(), job.overrides.end(),
                                 [](const Override& o) { return o.key == "mode"; });
  if (mode != job.overrides.end()) {
    // The owner has opted out after the move, so the move is undone.
    if (mode->who != kMigrationName || job.policy->migrate) return;
    SettingChange back;
    back.id = ++s_.last_setting;
    back.time_s = now_s;
    back.who = kMigrationName;
    back.job = job.record->name;
    back.key = "mode";
    back.before = mode->value;
    RedoSetting(back, s_, replicas_);
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
  const MigrationVerdict verdict = StepMigration(s_.settings.migration, *job.policy, facts, job.migration);
  if (verdict.step == MigrationStep::kNothing) return;
  job.notice = verdict.step == MigrationStep::kNotice ? verdict.sentence : "";
  if (verdict.step != MigrationStep::kMove) return;
  SettingChange change{.id = ++s_.last_setting,
                       .time_s = now_s,
                       .who = std::string(kMigrationName),
                       .job = job.record->name,
                       .key = "mode",
                       .value = std::string(Name(Mode::kAuto)),
                       .before = std::string(Name(job.policy->mode))};
  job.overrides.push_back({change.key, change.value, change.who});
  s_.Repolicy(job);
  out.settings.push_back(std::move(change));
}

void VerticalPass::EndWindow(const ClosedWindow& closed, PassOutput& out, When when) {
  const bool last_of_day = closed.window.next().day() != closed.window.day();
  if (last_of_day) EndDay(out, when);
  if (when == When::kNow) replicas_.TakeSilence(closed, out);
  if (closed.window.index % kWindowsPerHour == 0) PutToSleep(closed.window, s_);
}

void VerticalPass::Decide(const ClosedWindow& closed, size_t first, size_t last, PassOutput& out, When when) {
  const int64_t now_s = EndOf(closed.window);
  for (size_t i = first; i < last; ++i) {
    LiveJob& job = s_.Awake(closed.jobs[i].job);
    const bool is_machine = IsWholeMachine(*job.record);
    if (job.last_window != closed.window) continue;  // only a named signal was received (ObserveIdle)
    for (const Resource r : kResources) {
      LiveLane& lane = job.of(r);
      if (lane.tasks == 0) continue;
      const bool sets =
          job.policy->mode != Mode::kObserve || lane.gate.in_force.has_value() || lane.gate.trial.has_value();
      // For windows of the past, decisions may be shown but not ordered.
      if (when == When::kNow || !sets) {
        if (job.policy->mode == Mode::kCanary) FindCandidates(closed, closed.jobs[i], r);
        DecideLane(job, r, now_s, Trigger::kWindow, out);
      }
      if (is_machine) continue;
      FleetAmounts& sum = out.point.amounts[static_cast<size_t>(r)];
      sum.usage += TotalOf(lane.usage_mean, lane.tasks);
      ++sum.jobs;
      if (!lane.owner().has_value()) continue;
      ++sum.jobs_limited;
      sum.owner_limit += TotalOf(lane.owner_limit, lane.tasks);
      sum.in_force += s_.LimitOf(job, r).value_or(0) * lane.tasks;
      sum.would_be += lane.lane.recommended().value_or(lane.owner_limit) * lane.tasks;
    }
    if (job.replicas != nullptr) {
      if (const auto step_back = job.replicas->order().TakeStepBack(); step_back.has_value())
        out.step_backs.emplace_back(job.record->id, *step_back);
    }
    const bool ordered = job.replicas != nullptr && job.replicas->figures().in_force.has_value();
    if (when == When::kNow || (job.policy->mode == Mode::kObserve && !ordered)) {
      replicas_.Decide(job, now_s, out);
    }
    if (when == When::kNow) ReplicaPass::NoteHold(job, now_s, out);
  }
}

void VerticalPass::DecideLane(LiveJob& job, Resource r, int64_t now_s, Trigger trigger, PassOutput& out,
                              std::optional<double> at_least) {
  LiveLane& lane = job.of(r);
  lane.RefreshRisk();
  if (WaitsForOwner(job, trigger) || WaitsForWindow(job, r)) {
    if (lane.hold != kWaitsForOwner) lane.hold = std::string(kWaitsForOwner);
    return;
  }
  const LaneFacts facts{
      .resource = r,
      .now_s = now_s,
      .owner_limit = lane.owner(),
      .num_tasks = lane.tasks,
      .tasks = trigger == Trigger::kWindow ? &candidates_ : nullptr,
      .oom = trigger == Trigger::kOom,
      .grows = trigger == Trigger::kGrowth,
      .applied = s_.AppliedTo(job),
      .knows_past = !lane.needs_history,
      .at_least = at_least,
      .kernel_peak = r == Resource::kMemory && job.memory != nullptr
                         ? job.memory->kernel_peaks.Highest(PeakSlice(s_.settings.vertical, now_s))
                         : std::nullopt};
  const size_t members = lane.gate.trial.has_value() ? lane.gate.trial->members.size() : 0;
  std::vector<std::string> on_trial = NamesOnTrial(lane);
  const std::optional<double> in_force = lane.gate.in_force;
  Verdict verdict = JobStepper(r, lane).Decide(*job.policy, facts);
  // This call must follow the decision, which may replace in_force; some tasks may still have the previous order.
  lane.NoteOrder(in_force);
  if (lane.gate.trial.has_value() && lane.gate.trial->members.size() != members) {
    out.trials.push_back(job.record->id);
  }
  if (!verdict.kind.has_value()) {
    if (lane.hold != verdict.sentence) lane.hold = verdict.sentence;
    return;
  }
  lane.hold.clear();
  if (verdict.kind != DecisionKind::kWouldSet) ++out.point.changes;
  Decision& d = s_.AddDecision(job, r, now_s, verdict, out);
  if (r == Resource::kMemory && RowOf(d.kind).sets_all_tasks)
    job.Memory().past_limits.Note(d.id, now_s, d.before);
  if (d.kind == DecisionKind::kRollBack) {
    d.tasks = std::move(on_trial);
    out.trials.push_back(job.record->id);  // the checkpoint stores whether the limit failed
  }
  if (d.kind == DecisionKind::kTry) {
    lane.gate.trial->decision = d.id;
    trials_.Begin(d);
  }
  if (const std::optional<double> limit = verdict.after; limit.has_value()) {
    s_.Wake(job);  // the job may sleep, and its bounds may have changed
    Reason reason;
    // A trial's limit was recommended when the trial began, and may differ from the current recommendation.
    const bool is_recommended = limit == lane.lane.recommended();
    if (!is_recommended) reason.limit = limit;
    reason.SetRisk(is_recommended ? LiveRisk::Of(job, r, s_.passed.day())
                                  : lane.lane.recommender().RiskOf(*limit));
    risk_.ExplainLane(job, r, reason);
    d.reason = SaveReason(reason);
  }
}

}  // namespace taut::brain
