// Stop and go on: the fleet's state as bytes and back, and what was stored since, once more.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "brain/fleet/live_fleet.h"
#include "common/base/strings.h"
#include "common/model/oom_counts.h"

namespace taut::brain {
namespace {

constexpr uint8_t kVersion = 2, kChunkVersion = 2;
constexpr int64_t kClocksApartSeconds = 3600;

void SaveRisk(const Boxed<LimitRisk>& known, ByteWriter& out) {
  out.Put(static_cast<uint8_t>(known.has_value()));
  if (!known.has_value()) return;
  const LimitRisk& risk = *known;
  for (const double v : {risk.limit, risk.chance, risk.asked}) out.Put(v);
  for (const float v : {risk.most_chance, risk.work_over, risk.work_ordered}) out.Put(v);
  out.Put(risk.days);
  out.Put(risk.days_over);
  out.Put(risk.decided_day);
}

absl::Status LoadRisk(ByteReader& in, Boxed<LimitRisk>& known) {
  known.reset();
  if (in.Get<uint8_t>() == 0) return in.status("the risk of a limit");
  LimitRisk& risk = known.emplace();
  for (double* v : {&risk.limit, &risk.chance, &risk.asked}) *v = in.Get<double>();
  for (float* v : {&risk.most_chance, &risk.work_over, &risk.work_ordered}) *v = in.Get<float>();
  risk.days = in.Get<uint8_t>();
  risk.days_over = in.Get<uint8_t>();
  risk.decided_day = in.Get<int32_t>();
  if (absl::Status s = in.status("the risk of a limit"); !s.ok()) return s;
  const auto is_share = [](double v) { return v == LimitRisk::kNone || (v >= 0 && v <= 1.001); };
  const auto is_amount = [](double v) { return v == LimitRisk::kNone || (v >= 0 && std::isfinite(v)); };
  const bool possible = is_amount(risk.limit) && is_amount(risk.asked) && is_share(risk.chance) &&
                        is_share(risk.most_chance) && is_share(risk.work_over) &&
                        is_share(risk.work_ordered) && risk.days_over <= risk.days;
  return possible ? absl::OkStatus() : absl::DataLossError("the risk of a limit: an impossible figure");
}

}  // namespace

// Version 1 had the jobs without their numbers: all from the chunk's first on.
void LiveFleet::SaveChunk(uint32_t chunk, ByteWriter& out) const {
  out.Put(kChunkVersion);
  out.PutVarint(jobs_.used_in_page(chunk));
  std::string state;
  uint32_t next = chunk * kChunkJobs;
  for (uint32_t i = next; i < (chunk + 1) * kChunkJobs; ++i) {
    const LiveJob* job = jobs_.Find(JobId{i});
    if (job == nullptr) continue;
    state.clear();
    ByteWriter inner(&state);
    SaveLiveJob(*job, inner);
    out.PutVarint(i - next);
    out.PutString(state);
    next = i + 1;
  }
  // After the jobs, where an older version of the program wrote nothing.
  for (uint32_t i = chunk * kChunkJobs; i < (chunk + 1) * kChunkJobs; ++i) {
    const LiveJob* job = jobs_.Find(JobId{i});
    if (job == nullptr) continue;
    for (const Resource r : kResources) job->of(r).days.Save(out);
  }
  for (uint32_t i = chunk * kChunkJobs; i < (chunk + 1) * kChunkJobs; ++i) {
    const LiveJob* job = jobs_.Find(JobId{i});
    if (job == nullptr) continue;
    for (const Resource r : kResources) job->of(r).risk.Save(out);
  }
  for (uint32_t i = chunk * kChunkJobs; i < (chunk + 1) * kChunkJobs; ++i) {
    const LiveJob* job = jobs_.Find(JobId{i});
    if (job == nullptr) continue;
    for (const Resource r : kResources) SaveRisk(job->of(r).limit_risk, out);
  }
}

absl::Status LiveFleet::LoadJob(std::string_view bytes, LiveJob& job) const {
  ByteReader state(bytes);
  absl::Status s = LoadLiveJob(state, job);
  if (s.ok() && state.remaining() != 0) s = absl::DataLossError("a job with trailing bytes");
  if (s.ok()) {
    if (job.is_blank()) MakeRecommenders(job);  // the policy has another one now
    return s;
  }
  LiveJobState fresh;
  fresh.overrides = std::move(job.overrides);
  fresh.policy = job.policy;
  fresh.lost = true;
  fresh.WantHistory();
  static_cast<LiveJobState&>(job) = std::move(fresh);
  MakeRecommenders(job);
  return s;
}

absl::Status LiveFleet::LoadChunk(uint32_t chunk, WindowId through, ByteReader& in, RunTurns run) {
  const auto version = in.Get<uint8_t>();
  if (version == 0 || version > kChunkVersion) {
    WantHistoryOf(chunk);
    return absl::InvalidArgumentError("a checkpoint of another version of the program");
  }
  const uint64_t count = in.GetVarint();
  if (count > kChunkJobs) {
    WantHistoryOf(chunk);
    return absl::DataLossError(StrCat("a checkpoint of ", count, " jobs"));
  }
  struct Saved {
    LiveJob* job;
    std::string_view bytes;
    absl::Status status;
  };
  std::vector<Saved> jobs;
  bool damaged = false, foreign = false;
  uint64_t next = 0;
  std::array<bool, kChunkJobs> saved{};
  for (uint64_t n = 0; n < count; ++n) {
    const uint64_t at = next + (version > 1 ? in.GetVarint() : 0);
    const std::string_view bytes = in.GetString();
    damaged = in.failed();
    foreign = at >= kChunkJobs;
    if (damaged || foreign) break;
    next = at + 1;
    saved[at] = true;
    // A job that the store does not know was forgotten after this was saved, or its record is damaged.
    LiveJob* job = jobs_.Find(JobId{chunk * kChunkJobs + static_cast<uint32_t>(at)});
    if (job != nullptr) jobs.push_back({job, bytes, absl::OkStatus()});
  }
  run((jobs.size() + kTurnJobs - 1) / kTurnJobs, [&](size_t turn) {
    const size_t end = std::min((turn + 1) * kTurnJobs, jobs.size());
    for (size_t i = turn * kTurnJobs; i < end; ++i) {
      jobs[i].status = LoadJob(jobs[i].bytes, *jobs[i].job);
      if (IsGone(*jobs[i].job, through)) jobs[i].job->Sleep();
    }
  });
  absl::Status result;
  for (Saved& loaded : jobs) {
    if (!loaded.status.ok() && result.ok()) result = std::move(loaded.status);
    NoteTrialOf(*loaded.job);
  }
  if (damaged || foreign) {
    WantHistoryOf(chunk);
    return damaged ? in.status("a checkpoint") : absl::DataLossError("a checkpoint of jobs of another chunk");
  }
  MarkSaved(chunk);
  for (uint32_t i = 0; i < kChunkJobs; ++i) {
    LiveJob* job = saved[i] ? nullptr : jobs_.Find(JobId{chunk * kChunkJobs + i});
    if (job == nullptr) continue;
    // One that came back after it had been forgotten.
    if (job->record.first_seen_s < through.start_s()) job->WantHistory();
    Changed(*job);
  }
  for (uint32_t i = 0; i < kChunkJobs && in.remaining() > 0; ++i) {
    if (!saved[i]) continue;
    LiveJob* job = jobs_.Find(JobId{chunk * kChunkJobs + i});
    for (const Resource r : kResources) {
      DayRecord days;
      days.Load(in);
      if (job != nullptr && !in.failed()) job->of(r).days = days;
    }
  }
  for (uint32_t i = 0; i < kChunkJobs && in.remaining() > 0; ++i) {
    if (!saved[i]) continue;
    LiveJob* job = jobs_.Find(JobId{chunk * kChunkJobs + i});
    for (const Resource r : kResources) {
      OpenRiskDay risk;
      if (absl::Status s = risk.Load(in); !s.ok()) return result.ok() ? s : result;
      if (job != nullptr) job->of(r).risk = risk;
    }
  }
  for (uint32_t i = 0; i < kChunkJobs && in.remaining() > 0; ++i) {
    if (!saved[i]) continue;
    LiveJob* job = jobs_.Find(JobId{chunk * kChunkJobs + i});
    for (const Resource r : kResources) {
      Boxed<LimitRisk> risk;
      if (absl::Status s = LoadRisk(in, risk); !s.ok()) return result.ok() ? s : result;
      if (job != nullptr) job->of(r).limit_risk = std::move(risk);
    }
  }
  return result;
}

// Version 1 was without promises. They come first, as models that other settings cannot read end the reading.
void LiveFleet::SaveFleet(ByteWriter& out) const {
  out.Put(kVersion);
  out.Put(day_);
  risks_.Save(out);
  models_->Save(out);
  load_analogs_.Save(out);
}

absl::Status LiveFleet::LoadFleet(ByteReader& in) {
  const auto version = in.Get<uint8_t>();
  if (version == 0 || version > kVersion) {
    return absl::InvalidArgumentError("a fleet checkpoint of another version of the program");
  }
  day_ = in.Get<int32_t>();
  if (version > 1) {
    if (absl::Status s = risks_.Load(in); !s.ok()) return s;
  }
  if (absl::Status s = models_->Load(in); !s.ok() || in.remaining() == 0) return s;
  return load_analogs_.Load(in);
}

void LiveFleet::Redo(const Decision& d) {
  LiveJob* job = jobs_.Find(d.job);
  if (job != nullptr) {
    if (d.target.is_limit()) {
      LiveLane& lane = job->of(d.target.resource());
      const std::optional<double> in_force = lane.gate.in_force;
      // Before a job's first window is closed, its first order alone says what its owner had.
      const bool is_memory = d.target == Target(Resource::kMemory);
      if (is_memory && RowOf(d.kind).sets_all_tasks && d.before.has_value()) LearnOwner(d.job, *d.before);
      JobStepper(d.target.resource(), lane).Redo(d);
      lane.NoteOrder(in_force);
      NoteTrialOf(*job);
    } else if (job->replicas != nullptr) {
      job->replicas->Redo(d);
      if (d.kind != DecisionKind::kWouldSet) {
        NoteReplicaOrder(d.id, *job);
        job->replicas->TakeOutcome(d.id, d.outcome);
      }
    }
    Changed(*job);
  }
  last_decision_ = std::max(last_decision_, d.id);
}

void LiveFleet::RedoOutcome(const Decision& d) {
  LiveJob* const job = jobs_.Find(d.job);
  if (job != nullptr && job->replicas != nullptr && job->replicas->TakeOutcome(d.id, d.outcome))
    Changed(*job);
}

void LiveFleet::Redo(const ClosedWindow& closed, std::span<const WindowId> through, RunTurns run) {
  day_ = std::max(day_, closed.window.day());
  now_ = closed.window;
  passed_ = std::max(passed_, closed.window);
  indices_.clear();
  for (size_t i = 0; i < closed.jobs.size(); ++i) {
    const JobId id = closed.jobs[i].job;
    const uint32_t chunk = id.value / kChunkJobs;
    if (!Has(id) || (chunk < through.size() && through[chunk] >= closed.window)) continue;
    indices_.push_back(static_cast<uint32_t>(i));
  }
  ObserveJobs(closed, indices_, nullptr, run);
}

void LiveFleet::TakeInOom(LiveJob& job, const OomRecord& oom) {
  Changed(job);
  LiveLane& lane = job.of(Resource::kMemory);
  job.NoteOom(oom);
  WindowId window = WindowId::Of(Timestamp::FromSeconds(oom.time_s));
  job.CountOoms(window.day(), oom.kills);
  // Where nothing is applied, tasks die at their owner's limit, and the trial's would have killed them too.
  const TrialKill trial{.kills = oom.kills, .limit = Enforced(job) ? oom.limit : std::nullopt};
  // A recommender hears of the window closed last, or of the open one.
  if (job.last_window.index != INT32_MIN)
    window = std::clamp(window, job.last_window, job.last_window.next());
  StartDay(job, window.day());
  // Usage is cut where the kill was: a recommended limit at or below that would not have held either.
  const std::optional<double> recommended = lane.lane.recommended();
  if (recommended.has_value() && *recommended <= oom.limit.value_or(*recommended))
    lane.days.Mark(window.day(), DayRecord::What::kOver);
  if (oom.limit.has_value()) lane.days.Mark(window.day(), DayRecord::What::kAtLimit);
  CountRiskOfKill(oom, window.day(), job, lane);
  const double killed_at = oom.limit.value_or(std::max(0.0F, lane.usage_peak));
  JobStepper(Resource::kMemory, lane).ObserveKill({window, oom.task, killed_at}, trial);
}

void LiveFleet::TakeInAside(LiveJob& job, const OomRecord& oom) {
  Changed(job);
  job.NoteOom(oom);
  job.CountOoms(WindowId::Of(Timestamp::FromSeconds(oom.time_s)).day(), oom.kills);
}

void LiveFleet::Redo(const OomRecord& oom) {
  if (!Has(oom.job)) return;
  // Its checkpoint has those up to the last one that was taken in, which is not always the latest; one of an
  // older version says the latest only.
  const LiveJob& job = jobs_[oom.job];
  const auto known = known_ooms_.try_emplace(oom.job.value, job.last_oom_s, job.last_oom());
  const auto& [last_s, last] = known.first->second;
  if (last > 0 ? oom.id <= last : oom.time_s <= last_s) return;
  IsAside(oom) ? TakeInAside(jobs_[oom.job], oom) : TakeInOom(Awake(oom.job), oom);
}

void LiveFleet::DistrustFuture(int64_t now_s) {
  const int64_t latest_s = now_s + kClocksApartSeconds;
  const auto mend = [&](int64_t& time_s) {
    if (time_s > latest_s) time_s = now_s;
  };
  const int32_t last_day = WindowId::Of(Timestamp::FromSeconds(latest_s)).day();
  for (LiveJob& job : jobs_) {
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

void LiveFleet::EndRestore(uint64_t last_decision, uint64_t last_setting, uint64_t last_oom) {
  known_ooms_.clear();
  last_oom_ = std::max(last_oom_, last_oom);
  for (const LiveJob& job : jobs_) {
    passed_ = std::max(passed_, job.last_window);
    last_oom_ = std::max(last_oom_, job.last_oom());
  }
  heard_ = passed_;
  last_decision_ = std::max(last_decision_, last_decision);
  last_setting_ = std::max(last_setting_, last_setting);
  for (LiveJob& job : jobs_) {
    job.lost = false;
    for (LiveLane& lane : job.lanes) lane.RefreshRisk();
    if (job.replicas != nullptr && job.replicas->order() != 0)
      replica_orders_[job.replicas->order()] = job.record.id;
  }
  // A day that had ended before the stop, but after the checkpoints of some jobs.
  for (LiveJob& job : jobs_) {
    if (!job.seen_today || job.day + 1 != day_) continue;
    Wake(job);
    StartDay(job, day_);
    Changed(job);
  }
}

}  // namespace taut::brain
