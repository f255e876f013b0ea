#include "brain/fleet/live_checkpoint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "brain/fleet/departures.h"
#include "brain/fleet/vertical_pass.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

constexpr uint8_t kVersion = 2, kChunkVersion = 2;

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

using SavedJobs = std::array<bool, FleetState::kChunkJobs>;

// Loads the day records, open risk days and limit risks of lanes, which are stored after the jobs of a chunk.
// Older versions did not store them.
absl::Status LoadBeside(ByteReader& in, uint32_t chunk, const SavedJobs& saved, FleetState& state) {
  absl::Status status;
  // Calls load(lane) for each saved lane until the first error. The argument is nullptr if the lane's job is
  // unknown.
  const auto for_each_lane = [&](const auto& load) {
    for (uint32_t i = 0; i < FleetState::kChunkJobs && in.remaining() > 0; ++i) {
      if (!saved[i]) continue;
      LiveJob* const job = state.jobs.Find(JobId{chunk * FleetState::kChunkJobs + i});
      for (const Resource r : kResources) {
        if (status.ok()) status = load(job != nullptr ? &job->of(r) : nullptr);
      }
    }
  };
  for_each_lane([&](LiveLane* lane) {
    DayRecord days;
    days.Load(in);
    if (lane != nullptr && !in.failed()) lane->days = days;
    return absl::OkStatus();
  });
  for_each_lane([&](LiveLane* lane) {
    OpenRiskDay risk;
    absl::Status s = risk.Load(in);
    if (s.ok() && lane != nullptr) lane->risk = risk;
    return s;
  });
  for_each_lane([&](LiveLane* lane) {
    Boxed<LimitRisk> risk;
    absl::Status s = LoadRisk(in, risk);
    if (s.ok() && lane != nullptr) lane->limit_risk = std::move(risk);
    return s;
  });
  return status;
}

}  // namespace

void LiveCheckpoint::MakeRecommenders(RunTurns run) {
  run(num_chunks(), [this](size_t chunk) {
    for (auto i = static_cast<uint32_t>(chunk * FleetState::kChunkJobs);
         i < (chunk + 1) * FleetState::kChunkJobs; ++i) {
      if (LiveJob* job = s_.jobs.Find(JobId{i}); job != nullptr && job->is_blank()) s_.MakeRecommenders(*job);
    }
  });
}

// Version 1 saved jobs without ids, in consecutive order from the chunk's first id.
void LiveCheckpoint::SaveChunk(uint32_t chunk, ByteWriter& out) const {
  out.Put(kChunkVersion);
  out.PutVarint(s_.jobs.used_in_page(chunk));
  std::string state;
  uint32_t next = chunk * FleetState::kChunkJobs;
  for (uint32_t i = next; i < (chunk + 1) * FleetState::kChunkJobs; ++i) {
    const LiveJob* job = s_.jobs.Find(JobId{i});
    if (job == nullptr) continue;
    state.clear();
    ByteWriter inner(&state);
    SaveLiveJob(*job, inner);
    out.PutVarint(i - next);
    out.PutString(state);
    next = i + 1;
  }
  // Day records and risks follow the jobs, because older versions of tautd stop reading after the jobs.
  for (uint32_t i = chunk * FleetState::kChunkJobs; i < (chunk + 1) * FleetState::kChunkJobs; ++i) {
    const LiveJob* job = s_.jobs.Find(JobId{i});
    if (job == nullptr) continue;
    for (const Resource r : kResources) job->of(r).days.Save(out);
  }
  for (uint32_t i = chunk * FleetState::kChunkJobs; i < (chunk + 1) * FleetState::kChunkJobs; ++i) {
    const LiveJob* job = s_.jobs.Find(JobId{i});
    if (job == nullptr) continue;
    for (const Resource r : kResources) job->of(r).risk.Save(out);
  }
  for (uint32_t i = chunk * FleetState::kChunkJobs; i < (chunk + 1) * FleetState::kChunkJobs; ++i) {
    const LiveJob* job = s_.jobs.Find(JobId{i});
    if (job == nullptr) continue;
    for (const Resource r : kResources) SaveRisk(job->of(r).limit_risk, out);
  }
}

absl::Status LiveCheckpoint::LoadJob(std::string_view bytes, LiveJob& job) const {
  ByteReader state(bytes);
  absl::Status s = LoadLiveJob(state, job);
  if (s.ok() && state.remaining() != 0) s = absl::DataLossError("a job with trailing bytes");
  if (s.ok()) {
    if (job.is_blank()) s_.MakeRecommenders(job);  // the job's policy now has another recommender
    return s;
  }
  LiveJobState fresh;
  // A partly loaded job must not mix old and new state, so only settings of people are kept.
  fresh.overrides = std::move(job.overrides);
  fresh.policy = job.policy;
  fresh.lost = true;
  fresh.WantHistory();
  static_cast<LiveJobState&>(job) = std::move(fresh);
  s_.MakeRecommenders(job);
  return s;
}

absl::Status LiveCheckpoint::LoadChunk(uint32_t chunk, WindowId through, ByteReader& in, RunTurns run) {
  const auto version = in.Get<uint8_t>();
  if (version == 0 || version > kChunkVersion) {
    history_.WantOfChunk(chunk);
    return absl::InvalidArgumentError("a checkpoint of another version of the program");
  }
  const uint64_t count = in.GetVarint();
  if (count > FleetState::kChunkJobs) {
    history_.WantOfChunk(chunk);
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
  SavedJobs saved{};
  for (uint64_t n = 0; n < count; ++n) {
    const uint64_t at = next + (version > 1 ? in.GetVarint() : 0);
    const std::string_view bytes = in.GetString();
    damaged = in.failed();
    foreign = at >= FleetState::kChunkJobs;
    if (damaged || foreign) break;
    next = at + 1;
    saved[at] = true;
    // If no job is found, the job was forgotten after the chunk was saved, or its record is damaged.
    LiveJob* job = s_.jobs.Find(JobId{chunk * FleetState::kChunkJobs + static_cast<uint32_t>(at)});
    if (job != nullptr) jobs.push_back({job, bytes, absl::OkStatus()});
  }
  run((jobs.size() + VerticalPass::kTurnJobs - 1) / VerticalPass::kTurnJobs, [&](size_t turn) {
    const size_t end = std::min((turn + 1) * VerticalPass::kTurnJobs, jobs.size());
    for (size_t i = turn * VerticalPass::kTurnJobs; i < end; ++i) {
      jobs[i].status = LoadJob(jobs[i].bytes, *jobs[i].job);
      if (IsGone(*jobs[i].job, through)) jobs[i].job->Sleep();
    }
  });
  absl::Status result;
  for (Saved& loaded : jobs) {
    if (!loaded.status.ok() && result.ok()) result = std::move(loaded.status);
    trials_.Note(*loaded.job);
  }
  if (damaged || foreign) {
    history_.WantOfChunk(chunk);
    return damaged ? in.status("a checkpoint") : absl::DataLossError("a checkpoint of jobs of another chunk");
  }
  // MarkSaved applies to the whole chunk. Jobs that the chunk lacks are marked as changed afterwards.
  MarkSaved(chunk);
  for (uint32_t i = 0; i < FleetState::kChunkJobs; ++i) {
    LiveJob* job = saved[i] ? nullptr : s_.jobs.Find(JobId{chunk * FleetState::kChunkJobs + i});
    if (job == nullptr) continue;
    // If the job is older than the chunk, it had been forgotten and was added again.
    if (job->record->first_seen_s < through.start_s()) job->WantHistory();
    s_.Changed(*job);
  }
  const absl::Status beside = LoadBeside(in, chunk, saved, s_);
  return result.ok() ? beside : result;
}

// Version 1 had no promises. Promises precede the models, because reading stops at models that were saved under
// other settings.
void LiveCheckpoint::SaveFleet(ByteWriter& out) const {
  out.Put(kVersion);
  out.Put(s_.day);
  s_.risks.Save(out);
  s_.models->Save(out);
  s_.load_analogs.Save(out);
}

absl::Status LiveCheckpoint::LoadFleet(ByteReader& in) {
  const auto version = in.Get<uint8_t>();
  if (version == 0 || version > kVersion) {
    return absl::InvalidArgumentError("a fleet checkpoint of another version of the program");
  }
  s_.day = in.Get<int32_t>();
  if (version > 1) {
    if (absl::Status s = s_.risks.Load(in); !s.ok()) return s;
  }
  if (absl::Status s = s_.models->Load(in); !s.ok() || in.remaining() == 0) return s;
  return s_.load_analogs.Load(in);
}

std::optional<WindowId> LiveCheckpoint::ChangedSince(uint32_t chunk) const {
  if (chunk >= s_.changed_since.size() || s_.changed_since[chunk] == FleetState::kSaved) return std::nullopt;
  return s_.changed_since[chunk];
}

void LiveCheckpoint::MarkSaved(uint32_t chunk) {
  if (chunk < s_.changed_since.size()) s_.changed_since[chunk] = FleetState::kSaved;
}

size_t LiveCheckpoint::state_bytes() const {
  size_t bytes = s_.jobs.table_bytes() + s_.ids.state_bytes();
  for (const LiveJob& job : s_.jobs) {
    bytes += sizeof(job) + job.record->name.capacity() + job.notice.heap_bytes();
    if (job.starts != nullptr) bytes += sizeof(*job.starts) + job.starts->peaks.heap_bytes();
    for (const auto& [key, value] : job.record->labels) {
      bytes += sizeof(job.record->labels[0]) + key.capacity() + value.capacity();
    }
    for (const LiveLane& lane : job.lanes) {
      bytes += lane.hold.heap_bytes() + lane.asleep.heap_bytes();
      if (lane.limit_risk.has_value()) bytes += sizeof(LimitRisk);
      if (!lane.lane.sleeps()) bytes += lane.lane.recommender().state_bytes();
    }
  }
  return bytes;
}

}  // namespace taut::brain
