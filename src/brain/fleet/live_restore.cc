#include "brain/fleet/live_restore.h"

#include <algorithm>

#include "brain/fleet/live_overrides.h"
#include "common/base/probe.h"

namespace taut::brain {
namespace {

constexpr int64_t kClocksApartSeconds = 3600;

}  // namespace

void LiveRestore::Redo(const SettingChange& change) { RedoSetting(change, s_, replicas_); }

void LiveRestore::Redo(const Decision& d) {
  LiveJob* job = s_.jobs.Find(d.job);
  if (job != nullptr) {
    if (d.target.is_limit()) {
      LiveLane& lane = job->of(d.target.resource());
      const std::optional<double> in_force = lane.gate.in_force;
      // Before a job's first window is closed, the job's first order is the only source of the owner's limit.
      const bool is_memory = d.target == Target(Resource::kMemory);
      // This call must precede Redo below, which sets the gate's limit; Learn has no effect after Redo.
      if (is_memory && RowOf(d.kind).sets_all_tasks && d.before.has_value()) owners_.Learn(d.job, *d.before);
      JobStepper(d.target.resource(), lane).Redo(d);
      lane.NoteOrder(in_force);
      trials_.Note(*job);
    } else if (job->replicas != nullptr) {
      taut::brain::Redo(d, job->replicas->order().gate);
      if (d.kind != DecisionKind::kWouldSet) {
        replicas_.NoteOrder(d.id, *job);
        job->replicas->order().TakeOutcome(d.id, d.outcome);
      }
    }
    s_.Changed(*job);
  }
  s_.last_decision = std::max(s_.last_decision, d.id);
}

void LiveRestore::RedoOutcome(const Decision& d) {
  LiveJob* const job = s_.jobs.Find(d.job);
  if (job != nullptr && job->replicas != nullptr && job->replicas->order().TakeOutcome(d.id, d.outcome))
    s_.Changed(*job);
}

void LiveRestore::Redo(const ClosedWindow& closed, std::span<const WindowId> through, RunTurns run) {
  s_.day = std::max(s_.day, closed.window.day());
  // `now` must be set before ObserveAgain, which records `now` as the first window that the checkpoint lacks.
  s_.now = closed.window;
  s_.passed = std::max(s_.passed, closed.window);
  indices_.clear();
  for (size_t i = 0; i < closed.jobs.size(); ++i) {
    const JobId id = closed.jobs[i].job;
    const uint32_t chunk = id.value / FleetState::kChunkJobs;
    if (!s_.Has(id) || (chunk < through.size() && through[chunk] >= closed.window)) continue;
    indices_.push_back(static_cast<uint32_t>(i));
  }
  pass_.ObserveAgain(closed, indices_, run);
}

void LiveRestore::DistrustFuture(int64_t now_s) {
  const int64_t latest_s = now_s + kClocksApartSeconds;
  const auto mend = [&](int64_t& time_s) {
    if (time_s > latest_s) {
      TAUT_PROBE("a time of a job lies in the future");
      time_s = now_s;
    }
  };
  const int32_t last_day = WindowId::Of(Timestamp::FromSeconds(latest_s)).day();
  for (LiveJob& job : s_.jobs) {
    mend(job.last_oom_s);
    mend(job.migration.notice_s);
    if (job.ooms_day > last_day) {
      job.ooms_of_day.fill(0);
      job.ooms_day = INT32_MIN;
    }
    if (job.replicas != nullptr) job.replicas->DistrustFuture(latest_s, now_s);
    for (LiveLane& lane : job.lanes) {
      GateState& gate = lane.gate;
      mend(gate.last_change_s);
      mend(gate.last_shown_s);
      mend(gate.rolled_back_s);
      if (gate.trial.has_value()) mend(gate.trial->since_s);
    }
  }
}

void LiveRestore::End(uint64_t last_decision, uint64_t last_setting, uint64_t last_oom) {
  kills_.EndRestore();
  s_.last_oom = std::max(s_.last_oom, last_oom);
  for (const LiveJob& job : s_.jobs) {
    s_.passed = std::max(s_.passed, job.last_window);
    s_.last_oom = std::max(s_.last_oom, job.last_oom());
  }
  // This call must follow the last change of `passed`, because silence is counted from the newest stored window.
  replicas_.HeardUntil(s_.passed);
  s_.last_decision = std::max(s_.last_decision, last_decision);
  s_.last_setting = std::max(s_.last_setting, last_setting);
  for (LiveJob& job : s_.jobs) {
    job.lost = false;
    for (LiveLane& lane : job.lanes) lane.RefreshRisk();
    replicas_.KeepOrder(job);
  }
  // Starts the current day for jobs whose checkpoint precedes the end of the last day.
  for (LiveJob& job : s_.jobs) {
    if (!job.seen_today || job.day + 1 != s_.day) continue;
    s_.Wake(job);
    StartDay(job, s_.day);
    s_.Changed(job);
  }
}

}  // namespace taut::brain
