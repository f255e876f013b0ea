// Restores after a stop: what was checkpointed, then what was stored since, in the order it happened.
#include <algorithm>

#include "base/strings.h"
#include "control/control_plane.h"
#include "control/past_in_order.h"
#include "control/unsaved.h"

namespace taut {
namespace {

constexpr size_t kMany = 1'000'000;
constexpr WindowId kNever{INT32_MIN / 2};
constexpr int64_t kToldLateSeconds = 7 * kDaySeconds;  // an OOM kill reported this late still counts

// Decided since `from_s`, oldest first.
absl::StatusOr<std::vector<Decision>> DecisionsSince(History& history, int64_t from_s) {
  DecisionQuery query;
  query.from_s = from_s;
  query.limit = kMany;
  return DecisionsInOrder(history, query);
}

// Those of after `latest_s` had a wrong clock, and have had their effect.
absl::StatusOr<std::vector<OomRecord>> OomsBetween(History& history, int64_t from_s, int64_t latest_s) {
  absl::StatusOr<std::vector<OomRecord>> ooms = OomsInOrder(history, std::nullopt, from_s, kMany);
  if (!ooms.ok()) return ooms.status();
  std::erase_if(*ooms, [&](const OomRecord& o) { return o.time_s > latest_s; });
  return ooms;
}

}  // namespace

absl::Status ControlPlane::Restore() {
  std::vector<WindowId> through;
  StoreEnds ends;
  if (absl::Status s = RestoreJobs(through, ends); !s.ok()) return s;
  if (ends.last_window.has_value()) {
    if (absl::Status s = RestoreSince(through, ends); !s.ok()) return s;
  }
  if (ends.last_window.has_value()) {
    time_before_ = Timestamp::FromSeconds(ends.last_window->next().start_s());
  }
  fleet_.EndRestore(ends.last_decision, ends.last_setting);
  if (absl::Status s = ReplaySamples(ends); !s.ok()) return s;
  restored_gap_ = true;
  const absl::StatusOr<std::vector<FleetPoint>> points =
      !ends.last_window.has_value()
          ? std::vector<FleetPoint>()
          : parts_.history->FleetPoints(WindowId{ends.last_window->index - kWindowsPerDay + 1},
                                        ends.last_window->next(), 1);
  if (!points.ok()) warnings_.push_back(StrCat("the fleet's last day: ", Message(points.status())));
  if (points.ok() && !points->empty()) {
    for (const FleetPoint& p : *points) day_points_.push_back({p.window, p.oom_kills, p.changes});
    day_points_.pop_back();  // RefreshView adds it
    RefreshView(&points->back());
  } else {
    RefreshView(nullptr);
  }
  const std::lock_guard lock(view_mutex_);
  restored_ = true;
  return absl::OkStatus();
}

absl::Status ControlPlane::RestoreJobs(std::vector<WindowId>& through, StoreEnds& ends) {
  // A number without a job is of one that was forgotten, or whose record is damaged, which the store says.
  const auto on_job = [&](const JobRecord& job) {
    if (fleet_.Has(job.id)) return absl::DataLossError(StrCat("two jobs have number ", job.id.value));
    fleet_.AddRestoredJob(job);
    return absl::OkStatus();
  };
  const auto on_setting = [&](const SettingChange& change) {
    fleet_.Redo(change);
    return absl::OkStatus();
  };
  WindowId unchanged = kNever;
  const auto run = [this](size_t count, absl::FunctionRef<void(size_t)> turn) { RunOnThreads(count, turn); };
  const auto on_checkpoint = [&](const Checkpoint& c) {
    if (c.chunk == kUnchangedChunk) {
      unchanged = c.through;
      return absl::OkStatus();
    }
    if (c.chunk == kActuatorChunk) {
      actuator_state_ = c.bytes;
      parts_.actuator->LoadState(c.bytes);
      return absl::OkStatus();
    }
    ByteReader in(c.bytes);
    const bool shared = c.chunk == kFleetChunk;
    const absl::Status s = shared ? fleet_.LoadFleet(in) : fleet_.LoadChunk(c.chunk, c.through, in, run);
    if (!s.ok()) {
      const std::string what =
          shared ? "the fleet model" : StrCat("jobs from number ", c.chunk * LiveFleet::kChunkJobs);
      warnings_.push_back(StrCat(what, " are rebuilt from stored windows: ", Message(s)));
    }
    if (shared) return absl::OkStatus();
    if (through.size() <= c.chunk) through.resize(c.chunk + 1, kNever);
    through[c.chunk] = c.through;
    return absl::OkStatus();
  };
  // The sink only refers to these: they must outlive it.
  const RestoreSink sink{on_job, on_setting, on_checkpoint};
  absl::StatusOr<StoreEnds> restored = parts_.store->Restore(sink);
  if (!restored.ok()) return restored.status();
  ends = *restored;
  const absl::Status pasts =
      parts_.store->ReadPasts([this](JobId id, PastState state) { pasts_.emplace(id.value, state); });
  if (!pasts.ok()) return pasts;
  // A chunk without a checkpoint is one of new jobs, or its checkpoint is lost.
  through.resize(fleet_.num_chunks(), kNever);
  for (uint32_t chunk = 0; chunk < through.size(); ++chunk) {
    if (through[chunk] != kNever) {
      through[chunk] = std::max(through[chunk], unchanged);
    } else if (!fleet_.ChunkHasJobs(chunk)) {
      through[chunk] = ends.last_window.value_or(WindowId{0});
    } else {
      fleet_.WantHistoryOf(chunk);
    }
  }
  fleet_.MakeRecommenders(run);

  Ingest::Options ingest = options_.ingest;
  // With a log of samples they are closed when it is read (ReplaySamples).
  if (ends.last_window.has_value() && parts_.samples == nullptr) {
    ingest.windows.first_open = ends.last_window->next();
  }
  ingest_ = std::make_unique<Ingest>(mapping_, ingest);
  SeriesMapper& mapper = ingest_->mapper();
  for (const LiveJob& job : fleet_.jobs()) mapper.RestoreJob(job.record.id, job.record.name);
  next_job_ = std::max(fleet_.jobs().end_id(), ends.last_job.has_value() ? *ends.last_job + 1 : 0);
  mapper.ReserveJobs(next_job_);
  if (ends.last_window.has_value()) RestoreForgotten(*ends.last_window);
  if (ends.last_window.has_value()) {
    newest_sample_ = Timestamp::FromSeconds(ends.last_window->next().start_s());
    now_ = newest_sample_;
  }
  return absl::OkStatus();
}

absl::Status ControlPlane::RestoreSince(const std::vector<WindowId>& through, const StoreEnds& ends) {
  if (through.empty()) return absl::OkStatus();
  // Chunks without a checkpoint (jobs that were new) process their stored history in Retrain.
  WindowId from = *ends.last_window;
  for (const WindowId w : through)
    from = std::min(from, std::max(w, WindowId{ends.last_window->index - kWindowsPerDay}));
  const int64_t from_s = from.next().start_s();
  // What is in force for jobs without a checkpoint only their decisions tell, however old.
  bool lost = false;
  for (const LiveJob& job : fleet_.jobs()) lost = lost || job.lost;
  absl::StatusOr<std::vector<Decision>> decisions =
      DecisionsSince(*parts_.history, lost ? INT64_MIN : from_s);
  if (!decisions.ok()) return decisions.status();
  absl::StatusOr<std::vector<OomRecord>> ooms = OomsBetween(*parts_.history, from_s - kToldLateSeconds,
                                                            ends.last_window->next().start_s() + kDaySeconds);
  if (!ooms.ok()) return ooms.status();
  std::erase_if(*decisions, [&](const Decision& d) {
    if (!fleet_.Has(d.job)) return true;
    const WindowId known = through[d.job.value / LiveFleet::kChunkJobs];
    return !fleet_.job(d.job).lost && d.time_s <= known.next().start_s();
  });
  auto decision = decisions->begin();
  auto oom = ooms->begin();
  const auto happen_before = [&](int64_t end_s) {
    for (; oom != ooms->end() && oom->time_s < end_s; ++oom) fleet_.Redo(*oom);
  };
  const auto run = [this](size_t count, absl::FunctionRef<void(size_t)> turn) { RunOnThreads(count, turn); };
  const absl::Status s = parts_.store->ReadWindows(from, [&](const ClosedWindow& closed) {
    const int64_t end_s = closed.window.next().start_s();
    happen_before(end_s);
    fleet_.Redo(closed, through, run);
    for (; decision != decisions->end() && decision->time_s <= end_s; ++decision) fleet_.Redo(*decision);
    return absl::OkStatus();
  });
  if (!s.ok()) return s;
  happen_before(INT64_MAX);
  for (; decision != decisions->end(); ++decision) fleet_.Redo(*decision);
  ApplyPending(*decisions);
  return RememberOoms();
}

}  // namespace taut
