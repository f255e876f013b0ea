// Stop and go on: the fleet's state as bytes and back, and what was stored since, once more.
#include <algorithm>

#include "base/strings.h"
#include "live/live_fleet.h"

namespace taut {
namespace {

constexpr uint8_t kVersion = 1;
constexpr int64_t kClocksApartSeconds = 3600;

}  // namespace

void LiveFleet::SaveChunk(uint32_t chunk, ByteWriter& out) const {
  const size_t first = size_t{chunk} * kChunkJobs;
  const size_t last = std::min(first + kChunkJobs, jobs_.size());
  out.Put(kVersion);
  out.PutVarint(last - first);
  std::string state;
  for (size_t i = first; i < last; ++i) {
    state.clear();
    ByteWriter job(&state);
    SaveLiveJob(jobs_[i], job);
    out.PutString(state);
  }
}

absl::Status LiveFleet::LoadChunk(uint32_t chunk, ByteReader& in) {
  const size_t first = size_t{chunk} * kChunkJobs;
  if (in.Get<uint8_t>() != kVersion) {
    WantHistoryOf(chunk);
    return absl::InvalidArgumentError("a checkpoint of another version of the program");
  }
  const uint64_t count = in.GetVarint();
  if (count > kChunkJobs || first + count > jobs_.size()) {
    WantHistoryOf(chunk);
    return absl::DataLossError(StrCat("a checkpoint of ", count, " jobs where the store knows fewer"));
  }
  absl::Status result;
  for (size_t i = first; i < first + count; ++i) {
    LiveJob& job = jobs_[i];
    ByteReader state(in.GetString());
    absl::Status s = in.failed() ? in.status("a checkpoint") : LoadLiveJob(state, job);
    if (s.ok() && state.remaining() != 0) s = absl::DataLossError("a job with bytes after its end");
    if (s.ok()) {
      NoteTrialOf(job);
      continue;
    }
    LiveJobState fresh;
    fresh.overrides = std::move(job.overrides);
    fresh.policy = job.policy;
    for (const Resource r : kResources)
      fresh.lanes[static_cast<size_t>(r)] = NewLane(job.record, *fresh.policy, r);
    fresh.needs_history = fresh.lost = true;
    static_cast<LiveJobState&>(job) = std::move(fresh);
    if (result.ok()) result = s;
  }
  return result;
}

void LiveFleet::SaveFleet(ByteWriter& out) const {
  out.Put(kVersion);
  out.Put(day_);
  for (const AnalogFleet* model : {&models_->cpu, &models_->memory}) model->Save(out);
}

absl::Status LiveFleet::LoadFleet(ByteReader& in) {
  if (in.Get<uint8_t>() != kVersion) {
    return absl::InvalidArgumentError("a fleet checkpoint of another version of the program");
  }
  day_ = in.Get<int32_t>();
  for (AnalogFleet* model : {&models_->cpu, &models_->memory}) {
    if (absl::Status s = model->Load(in); !s.ok()) return s;
  }
  return absl::OkStatus();
}

void LiveFleet::Redo(const Decision& d) {
  if (d.job.value >= jobs_.size()) return;
  taut::Redo(d, jobs_[d.job.value].of(d.resource).gate);
  NoteTrialOf(jobs_[d.job.value]);
  last_decision_ = std::max(last_decision_, d.id);
}

void LiveFleet::Redo(const ClosedWindow& closed, std::span<const WindowId> through) {
  day_ = std::max(day_, closed.window.day());
  passed_ = std::max(passed_, closed.window);
  for (size_t i = 0; i < closed.jobs.size(); ++i) {
    const JobId id = closed.jobs[i].job;
    const uint32_t chunk = id.value / kChunkJobs;
    if (id.value >= jobs_.size() || (chunk < through.size() && through[chunk] >= closed.window)) continue;
    ObserveJob(closed, i, nullptr);
  }
}

void LiveFleet::TakeInOom(LiveJob& job, const OomRecord& oom) {
  LiveLane& lane = job.of(Resource::kMemory);
  job.last_oom_s = std::max(job.last_oom_s, oom.time_s);
  WindowId window = WindowId::Of(Timestamp::FromSeconds(oom.time_s));
  job.CountOoms(window.day(), oom.kills);
  // Where nothing is applied, tasks die at their owner's limit, and the trial's would have killed them too.
  CountTrialOom(oom.task, oom.kills, settings_.enforced ? oom.limit : std::nullopt, lane.gate);
  // A recommender hears of the window closed last, or of the open one.
  if (job.last_window.index != INT32_MIN)
    window = std::clamp(window, job.last_window, job.last_window.next());
  StartDay(job, window.day());
  lane.lane.Oom({window, oom.task, oom.limit.value_or(std::max(0.0F, lane.usage_peak))});
}

void LiveFleet::Redo(const OomRecord& oom) {
  if (oom.job.value >= jobs_.size()) return;
  LiveJob& job = jobs_[oom.job.value];
  if (oom.time_s > job.last_oom_s) TakeInOom(job, oom);  // else its checkpoint has it
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
    for (const auto& lane : job.lanes) {
      GateState& gate = lane->gate;
      mend(gate.last_change_s);
      mend(gate.last_shown_s);
      mend(gate.rolled_back_s);
      if (gate.trial.has_value()) mend(gate.trial->since_s);
    }
  }
}

void LiveFleet::EndRestore(uint64_t last_decision, uint64_t last_setting) {
  for (const LiveJob& job : jobs_) passed_ = std::max(passed_, job.last_window);
  last_decision_ = std::max(last_decision_, last_decision);
  last_setting_ = std::max(last_setting_, last_setting);
  for (LiveJob& job : jobs_) job.lost = false;
  // A day that had ended before the stop, but after the checkpoints of some jobs.
  for (LiveJob& job : jobs_) {
    if (job.seen_today && job.day + 1 == day_) StartDay(job, day_);
  }
}

}  // namespace taut
