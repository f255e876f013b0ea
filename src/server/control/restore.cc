// Restores the state after a stop: first the checkpoints, then everything stored since then, in the order of
// events.
#include <algorithm>

#include "common/base/strings.h"
#include "common/model/labels.h"
#include "server/control/control_plane.h"
#include "server/control/past_in_order.h"

namespace taut::server {
namespace {

constexpr size_t kMany = 1'000'000;
constexpr WindowId kNever{INT32_MIN / 2};
constexpr size_t kOomsRemembered = 20'000;
constexpr size_t kFailedRemembered = 20'000;  // greatest number of failed orders that are restored
// Greatest delay of the report of a kill under a replaced limit, seconds.
constexpr int64_t kLimitsRemembered = 900;
constexpr int64_t kToldLateSeconds = 7 * kDaySeconds;  // greatest delay of a report of an OOM kill

// Versions of tautd before version 10 of the store's tables stored a job's name, but not its workload.
JobRecord WithWorkload(JobRecord job) {
  if (job.parts.known()) return job;
  const std::string* const cell = FindLabel(job.labels, "cluster");
  const std::string* const namespace_name = FindLabel(job.labels, "namespace");
  const std::optional<Workload> workload = WorkloadOfStoredName(job.name, cell == nullptr ? "" : *cell);
  if (workload.has_value() && namespace_name != nullptr && workload->namespace_name == *namespace_name)
    job.parts = WorkloadParts::Of(*workload);
  return job;
}

// Returns the decisions since `from_s`, oldest first.
absl::StatusOr<std::vector<Decision>> DecisionsSince(History& history, int64_t from_s) {
  DecisionQuery query;
  query.from_s = from_s;
  query.limit = kMany;
  return DecisionsInOrder(history, query);
}

// Returns the OOM kills in the order of their processing. Leaves out kills after `latest_s`: a wrong clock
// dated these kills, and they have already had their effect.
absl::StatusOr<std::vector<OomRecord>> OomsBetween(History& history, int64_t from_s, int64_t latest_s) {
  absl::StatusOr<std::vector<OomRecord>> ooms = history.Ooms(std::nullopt, from_s, kMany);
  if (!ooms.ok()) return ooms.status();
  std::erase_if(*ooms, [&](const OomRecord& o) { return o.time_s > latest_s; });
  std::ranges::sort(*ooms, {}, &OomRecord::id);
  return ooms;
}

}  // namespace

// Contents of a store that the restore needs.
struct ControlPlane::Restored {
  StoreEnds ends;
  std::vector<WindowId> through;  // last window before each chunk's checkpoint; kNever: no checkpoint
  WindowId unchanged = kNever;    // last window up to which older checkpoints are valid
};

absl::Status ControlPlane::Restore() {
  Restored restored;
  if (absl::Status s = RestoreJobs(restored); !s.ok()) return s;
  const StoreEnds& ends = restored.ends;
  absl::Status since = ends.last_window.has_value() ? RestoreSince(restored) : RestoreWithoutWindows();
  if (!since.ok()) return since;
  if (absl::Status s = RememberFailedOrders(); !s.ok()) return s;
  committer_.NotePublished(ends.last_decision);
  const absl::StatusOr<std::vector<OomRecord>> told =
      parts_.history->Ooms(std::nullopt, INT64_MIN, kOomsRemembered);
  if (!told.ok()) return told.status();
  ingest_.agents.RememberOoms(*told);
  const absl::StatusOr<std::vector<TierAct>> acts =
      parts_.history->TierActs({.job = "", .machine = "", .limit = TierActQueue::kRemembered});
  if (!acts.ok()) return acts.status();
  tier_acts_.Remember(*acts);
  fleet_.unshared().restore.End(ends.last_decision, ends.last_setting, ends.last_oom);
  PassOnStartups();
  const auto on_damage = [this](std::string_view damage) { lost_.emplace_back(damage); };
  if (absl::Status s = ingest_.log.Replay(ends.last_window, *parts_.history, on_damage); !s.ok()) return s;
  return ShowRestored(restored);
}

absl::Status ControlPlane::ShowRestored(const Restored& restored) {
  const std::optional<WindowId>& last = restored.ends.last_window;
  const absl::StatusOr<std::vector<FleetPoint>> points =
      !last.has_value()
          ? std::vector<FleetPoint>()
          : parts_.history->FleetPoints(WindowId{last->index - kWindowsPerDay + 1}, last->next(), 1);
  if (!points.ok()) lost_.push_back(StrCat("the fleet's last day: ", Message(points.status())));
  if (points.ok() && !points->empty()) {
    views_.Seed(*points);
    views_.Refresh(&points->back());
  } else {
    views_.Refresh(nullptr);
  }
  status_.NoteRestored(std::exchange(lost_, {}));
  return absl::OkStatus();
}

absl::Status ControlPlane::RestoreJobs(Restored& restored) {
  brain::LiveFleet& fleet = fleet_.unshared();
  // A number without a job belonged to a forgotten job or to a damaged record. The store reports damaged records.
  const auto on_job = [&](const JobRecord& job) {
    if (fleet.Has(job.id)) return absl::DataLossError(StrCat("two jobs have number ", job.id.value));
    fleet.AddRestoredJob(WithWorkload(job));
    return absl::OkStatus();
  };
  const auto on_setting = [&](const SettingChange& change) {
    fleet.restore.Redo(change);
    return absl::OkStatus();
  };
  const auto on_checkpoint = [&](const Checkpoint& c) { return RestoreCheckpoint(c, restored); };
  // The sink refers to these lambdas, which must therefore outlive the sink.
  const RestoreSink sink{on_job, on_setting, on_checkpoint};
  absl::StatusOr<StoreEnds> ends = parts_.store->Restore(sink);
  if (!ends.ok()) return ends.status();
  restored.ends = *ends;
  if (absl::Status s = pasts_.Restore(*parts_.store); !s.ok()) return s;
  FindChunksToRead(restored);
  fleet.checkpoint.MakeRecommenders(
      [this](size_t count, absl::FunctionRef<void(size_t)> turn) { fleet_.RunOnThreads(count, turn); });
  jobs_.Restore(restored.ends, *parts_.store,
                [this](std::string damage) { lost_.push_back(std::move(damage)); });
  return absl::OkStatus();
}

absl::Status ControlPlane::RestoreCheckpoint(const Checkpoint& c, Restored& restored) {
  if (c.chunk == kUnchangedChunk) {
    restored.unchanged = c.through;
    return absl::OkStatus();
  }
  if (c.chunk == kActuatorChunk) {
    checkpointer_.RestoreActuator(c);
    return absl::OkStatus();
  }
  brain::LiveFleet& fleet = fleet_.unshared();
  const auto run = [this](size_t count, absl::FunctionRef<void(size_t)> turn) {
    fleet_.RunOnThreads(count, turn);
  };
  ByteReader in(c.bytes);
  const bool shared = c.chunk == kFleetChunk;
  const absl::Status s =
      shared ? fleet.checkpoint.LoadFleet(in) : fleet.checkpoint.LoadChunk(c.chunk, c.through, in, run);
  if (!s.ok()) {
    const std::string what =
        shared ? "the fleet model" : StrCat("jobs from number ", c.chunk * brain::LiveFleet::kChunkJobs);
    lost_.push_back(StrCat(what, " are rebuilt from stored windows: ", Message(s)));
  }
  if (shared) return absl::OkStatus();
  if (restored.through.size() <= c.chunk) restored.through.resize(c.chunk + 1, kNever);
  restored.through[c.chunk] = c.through;
  return absl::OkStatus();
}

// A chunk without a checkpoint contains only new jobs, or its checkpoint is lost.
void ControlPlane::FindChunksToRead(Restored& restored) {
  brain::LiveFleet& fleet = fleet_.unshared();
  restored.through.resize(fleet.checkpoint.num_chunks(), kNever);
  for (uint32_t chunk = 0; chunk < restored.through.size(); ++chunk) {
    WindowId& through = restored.through[chunk];
    if (through != kNever) {
      through = std::max(through, restored.unchanged);
    } else if (!fleet.checkpoint.ChunkHasJobs(chunk)) {
      through = restored.ends.last_window.value_or(WindowId{0});
    } else {
      fleet.history.WantOfChunk(chunk);
    }
  }
}

absl::Status ControlPlane::RestoreSince(const Restored& restored) {
  const std::vector<WindowId>& through = restored.through;
  if (through.empty()) return absl::OkStatus();
  brain::LiveFleet& fleet = fleet_.unshared();
  const WindowId last = *restored.ends.last_window;
  // Chunks without a checkpoint replay their stored history later, in RetrainSome.
  WindowId from = last;
  for (const WindowId w : through) from = std::min(from, std::max(w, WindowId{last.index - kWindowsPerDay}));
  const int64_t from_s = from.next().start_s();
  // For jobs without a checkpoint, only their decisions contain the values in force, even if the decisions
  // are old.
  bool lost = false;
  for (const brain::LiveJob& job : fleet.jobs) lost = lost || job.lost;
  const int64_t recent_s = last.next().start_s() - kLimitsRemembered;
  absl::StatusOr<std::vector<Decision>> decisions =
      DecisionsSince(*parts_.history, lost ? INT64_MIN : std::min(from_s, recent_s));
  if (!decisions.ok()) return decisions.status();
  absl::StatusOr<std::vector<OomRecord>> ooms =
      OomsBetween(*parts_.history, from_s - kToldLateSeconds, last.next().start_s() + kDaySeconds);
  if (!ooms.ok()) return ooms.status();
  std::erase_if(*decisions, [&](const Decision& d) {
    if (!fleet.Has(d.job)) return true;
    fleet.orders.RememberSent(d);
    const WindowId known = through[d.job.value / brain::LiveFleet::kChunkJobs];
    return !fleet.job(d.job).lost && d.time_s <= known.next().start_s();
  });
  auto decision = decisions->begin();
  auto oom = ooms->begin();
  // Replays OOM kills in the order in which they were first processed (by ID). A kill that was reported late
  // therefore follows all kills that were processed earlier, including kills with later times.
  const auto happen_before = [&](int64_t end_s) {
    for (; oom != ooms->end() && oom->time_s < end_s; ++oom) fleet.restore.Redo(*oom);
  };
  const auto run = [this](size_t count, absl::FunctionRef<void(size_t)> turn) {
    fleet_.RunOnThreads(count, turn);
  };
  const absl::Status s = parts_.store->ReadWindows(from, [&](const ClosedWindow& closed) {
    const int64_t end_s = closed.window.next().start_s();
    happen_before(end_s);
    fleet.restore.Redo(closed, through, run);
    for (; decision != decisions->end() && decision->time_s <= end_s; ++decision)
      fleet.restore.Redo(*decision);
    return absl::OkStatus();
  });
  if (!s.ok()) return s;
  happen_before(INT64_MAX);
  for (; decision != decisions->end(); ++decision) fleet.restore.Redo(*decision);
  // An order may have failed after the checkpoint that contains it.
  DecisionQuery failed;
  failed.target = Target::Replicas();
  failed.outcome = Outcome::kFailed;
  failed.from_s = from_s - kDaySeconds;
  failed.limit = kMany;
  const absl::StatusOr<std::vector<Decision>> orders = DecisionsInOrder(*parts_.history, failed);
  if (!orders.ok()) return orders.status();
  for (const Decision& d : *orders) fleet.restore.RedoOutcome(d);
  return SendAgain(*decisions);
}

// An OOM kill may have raised a limit before the first window closed.
absl::Status ControlPlane::RestoreWithoutWindows() {
  const absl::StatusOr<std::vector<Decision>> decisions = DecisionsSince(*parts_.history, INT64_MIN);
  if (!decisions.ok()) return decisions.status();
  const absl::StatusOr<std::vector<OomRecord>> ooms = OomsBetween(*parts_.history, INT64_MIN, INT64_MAX);
  if (!ooms.ok()) return ooms.status();
  for (const OomRecord& oom : *ooms) fleet_.unshared().restore.Redo(oom);
  for (const Decision& d : *decisions) {
    fleet_.unshared().orders.RememberSent(d);
    fleet_.unshared().restore.Redo(d);
  }
  if (checkpointer_.actuator_saved().has_value()) return SendAgain(*decisions);
  committer_.ApplyAgain(*decisions);
  return absl::OkStatus();
}

// After a failed order of any age, tasks keep the limit from before this order.
absl::Status ControlPlane::RememberFailedOrders() {
  brain::LiveFleet& fleet = fleet_.unshared();
  DecisionQuery query;
  query.target = Resource::kMemory;
  query.outcome = Outcome::kFailed;
  query.limit = kFailedRemembered;
  const absl::StatusOr<std::vector<Decision>> failed = DecisionsInOrder(*parts_.history, query);
  if (!failed.ok()) return failed.status();
  for (const Decision& d : *failed) {
    if (!fleet.orders.IsLast(d)) continue;
    DecisionQuery of_job;
    of_job.job = d.job;
    of_job.target = Resource::kMemory;
    // Bound that includes decisions which do not apply to all tasks.
    of_job.limit = 4 * brain::PastLimits::kKept;
    const absl::StatusOr<std::vector<Decision>> orders = DecisionsInOrder(*parts_.history, of_job);
    if (!orders.ok()) return orders.status();
    fleet.orders.RememberAllSent(d.job, *orders);
  }
  return absl::OkStatus();
}

// The restored actuator's state is as old as its checkpoint and includes no later orders, with or without an
// outcome. The state of an older version does not contain the ID of its last decision. The actuator then receives
// all stored orders.
absl::Status ControlPlane::SendAgain(std::span<const Decision> since_checkpoints) {
  const std::optional<Checkpointer::ActuatorSaved>& saved = checkpointer_.actuator_saved();
  if (!saved.has_value()) {
    committer_.ApplyPending(since_checkpoints);
    return absl::OkStatus();
  }
  const uint64_t known = saved->decision.value_or(0);
  const auto later = std::ranges::find_if(since_checkpoints, [&](const Decision& d) { return d.id > known; });
  committer_.ApplyPending({since_checkpoints.begin(), later});
  DecisionQuery query;
  query.after_id = known;
  query.limit = kMany;
  const absl::StatusOr<std::vector<Decision>> unknown = DecisionsInOrder(*parts_.history, query);
  if (!unknown.ok()) return unknown.status();
  committer_.ApplyAgain(*unknown);
  return absl::OkStatus();
}

}  // namespace taut::server
