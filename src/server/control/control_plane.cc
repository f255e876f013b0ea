#include "server/control/control_plane.h"

#include <algorithm>
#include <utility>

#include "server/control/past_in_order.h"
#include "server/control/trials.h"

namespace taut::server {
namespace {

constexpr size_t kDecisionsOfJob = 10'000;  // decisions in force that a new recommender replays
constexpr size_t kOomsOfJob = 100'000;      // newest OOM kills that a new recommender replays
constexpr size_t kPiece = 256;              // jobs stepped under one lock: less than 5 ms
// Number of jobs that several threads step under one lock.
constexpr size_t kPieceOfThreads = brain::VerticalPass::kTurnJobs * brain::VerticalPass::kTurnsAtATime;

constexpr int64_t kClocksApartS = 300;  // greatest lead of an agent's clock

// Measures the duration of each named step of a pass.
class StepTimer {
 public:
  StepTimer(const std::function<double()>& steady_ms, PassTimes& times)
      : steady_ms_(steady_ms), times_(times), start_(steady_ms()), last_(start_) {}
  void Done(std::string_view step) {
    const double now = steady_ms_();
    times_.steps_ms.emplace_back(step, now - last_);
    times_.total_ms = now - start_;
    last_ = now;
  }

 private:
  const std::function<double()>& steady_ms_;
  PassTimes& times_;
  double start_, last_;
};

}  // namespace

ControlPlane::ControlPlane(const ControlOptions& options, MappingRules mapping, const Parts& parts)
    : parts_(parts),
      ingest_(options.ingest, std::move(mapping), parts.samples, status_),
      fleet_(options.live, options.threads),
      views_(fleet_, status_),
      committer_({*parts.store, *parts.actuator, fleet_, ingest_, status_, views_}),
      checkpointer_(options.checkpoint_windows, *parts.actuator, fleet_, committer_),
      jobs_(options.jobs, {*parts.history, ingest_, fleet_, committer_}),
      owners_(parts.owners, fleet_, committer_),
      pasts_({*parts.history, fleet_, status_, committer_, checkpointer_}),
      agents_(ingest_, tier_acts_, fleet_, status_) {}

// ---- the loop ----

absl::Status ControlPlane::Tick(Timestamp now, brain::When when) {
  const std::lock_guard writer(committer_.writer());
  // The log is written first, and also while the store refuses windows, so that a kill loses at most the
  // samples since the last tick.
  ingest_.log.Keep(NotStored() == 0);
  if (when == brain::When::kNow) DistrustFuture(now);
  PassOnStartups();
  for (const OomSighting& o : ingest_.windows.TakeOoms(now)) sightings_.push_back(o);
  TakeTierActs(now);
  // Windows close even while the store is full. Samples in open windows are bounded in number, and SetWaiting
  // refuses samples once too many closed windows wait.
  for (ClosedWindow& closed : ingest_.windows.Close(now, when)) waiting_.push_back({std::move(closed), when});
  ingest_.windows.SetWaiting(NotStored());
  jobs_.AddNewJobs(now, when);
  jobs_.RelabelJobs(now, when);
  if (const auto time = ingest_.time.Of(now); when == brain::When::kNow && time.has_value())
    owners_.Step(time->seconds());
  // No OOM kill and no window is decided before the store has accepted all earlier decisions. Otherwise each
  // failed tick would add more to unsaved().
  if (absl::Status s = committer_.CheckStore(); !s.ok()) return s;
  if (absl::Status s = committer_.Commit(); !s.ok()) return s;
  if (absl::Status s = ActOnAllOoms(now, when); !s.ok()) return s;
  if (when == brain::When::kNow) {
    if (absl::Status s = ActOnGrowth(); !s.ok()) return s;
    if (absl::Status s = ActOnExternal(); !s.ok()) return s;
  }
  const absl::Status passed = PassWaiting();
  trainer_.Step(fleet_);
  if (!passed.ok()) return passed;
  if (absl::Status s = RetrainSome(); !s.ok()) return s;
  return committer_.StoreOutcomes();
}

void ControlPlane::PassOnStartups() {
  const brain::LiveFleet& fleet = fleet_.unlocked();
  if (fleet.startups_version == startups_version_) return;
  startups_version_ = fleet.startups_version;
  ingest_.windows.SetStartups(fleet.startups);
}

void ControlPlane::TakeTierActs(Timestamp now) {
  // While unstored acts wait in unsaved(), new acts stay in the queue, which is bounded.
  if (!committer_.unsaved().tier_acts.empty()) return;
  const int64_t now_s = ingest_.time.Of(now).value_or(now).seconds();
  for (TierAct& act : tier_acts_.TakeAll(now_s + kClocksApartS))
    committer_.unsaved().tier_acts.push_back(std::move(act));
}

absl::Status ControlPlane::PassWaiting() {
  std::optional<WindowId> passed;
  while (!waiting_.empty()) {
    passed = waiting_.front().closed.window;
    Waiting next = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    const absl::Status s = Pass(std::move(next.closed), next.when);
    ingest_.windows.SetWaiting(NotStored());
    if (!s.ok()) return s;
  }
  return passed.has_value() ? jobs_.ForgetJobs(*passed) : absl::OkStatus();
}

int ControlPlane::NotStored() const {
  return static_cast<int>(waiting_.size()) + (committer_.unsaved().window.has_value() ? 1 : 0);
}

void ControlPlane::DistrustFuture(Timestamp now) {
  if (distrusted_future_) return;
  const std::optional<Timestamp> time = ingest_.time.Of(now);
  if (!time.has_value()) return;
  distrusted_future_ = true;
  fleet_.Write()->restore.DistrustFuture(time->seconds());
}

absl::Status ControlPlane::ActOnAllOoms(Timestamp now, brain::When when) {
  const auto present = when == brain::When::kNow
                           ? sightings_.begin()
                           : std::stable_partition(sightings_.begin(), sightings_.end(),
                                                   [now](const OomSighting& o) { return o.time <= now; });
  const auto past = static_cast<size_t>(present - sightings_.begin());
  if (absl::Status s = ActOnOoms(past, brain::When::kPast); !s.ok()) return s;
  return ActOnOoms(sightings_.size(), brain::When::kNow);
}

absl::Status ControlPlane::ActOnOoms(size_t count, brain::When when) {
  if (count == 0) return absl::OkStatus();
  FindTrialTasks(fleet_, ingest_);
  const int64_t now_s = ingest_.time.now().seconds();
  LearnOfKilled(count, when);
  Unsaved& unsaved = committer_.unsaved();
  {
    const auto fleet = fleet_.Write();
    // Kills of jobs that are not in the fleet yet wait for the next tick.
    const auto end = sightings_.begin() + static_cast<std::ptrdiff_t>(count);
    const auto known = std::stable_partition(sightings_.begin(), end,
                                             [&](const OomSighting& o) { return !fleet->Has(o.job); });
    for (auto o = known; o != end; ++o) {
      OomRecord record{o->job, o->task, o->time.seconds(), o->kills, o->limit};
      if (o->shown.has_value()) record.shown_s = o->shown->seconds();
      if (!o->shown.has_value() && o->since < o->time) record.since_s = o->since.seconds();
      fleet->kills.TakeOom(record, unsaved.output, when, {.since_s = o->since.seconds(), .now_s = now_s});
      unsaved.ooms.push_back(record);
    }
    sightings_.erase(known, end);
  }
  if (!unsaved.ooms.empty()) unsaved.when = when;
  return committer_.Commit();
}

absl::Status ControlPlane::ActOnGrowth() {
  const std::vector<GrowthSighting> seen = ingest_.windows.FindGrowth([this] {
    std::vector<JobLimit> limits;
    for (const auto& [job, bytes] : fleet_.Read()->kills.LoweredLimits()) limits.push_back({job, bytes});
    return limits;
  });
  if (seen.empty()) return absl::OkStatus();
  const int64_t now_s = ingest_.time.now().seconds();
  {
    const auto fleet = fleet_.Write();
    for (const GrowthSighting& g : seen)
      fleet->kills.TakeGrowth(g.job, g.bytes, now_s, committer_.unsaved().output);
  }
  return committer_.Commit();
}

// A kill is decided at once, without a window. The decision needs the owner's present settings and, before
// the job's first window, the limits from series.
void ControlPlane::LearnOfKilled(size_t count, brain::When when) {
  std::vector<JobId> killed, unlimited;
  {
    const auto fleet = fleet_.Read();
    for (size_t i = 0; i < count; ++i) {
      const JobId job = sightings_[i].job;
      if (std::ranges::find(killed, job) != killed.end()) continue;
      killed.push_back(job);
      if (fleet->Has(job) && !fleet->owners.Knows(job)) unlimited.push_back(job);
    }
  }
  if (when == brain::When::kNow) owners_.Ask(killed, ingest_.time.now().seconds());
  if (unlimited.empty()) return;
  const auto limits = ingest_.windows.MemoryLimits(unlimited);
  const auto fleet = fleet_.Write();
  for (size_t i = 0; i < unlimited.size(); ++i) {
    double highest = 0;  // the highest limit is used, as in a window
    for (const auto& [task, limit] : limits[i]) {
      highest = std::max(highest, limit);
      for (OomSighting& oom : std::span(sightings_).first(count)) {
        if (oom.job == unlimited[i] && oom.task == task && !oom.limit.has_value()) oom.limit = limit;
      }
    }
    if (highest > 0) fleet->owners.Learn(unlimited[i], highest);
  }
}

absl::Status ControlPlane::ActOnExternal() {
  if (parts_.external == nullptr) return absl::OkStatus();
  const std::vector<ExternalAnswer> answers = parts_.external->Take();
  if (answers.empty()) return absl::OkStatus();
  const int64_t now_s = ingest_.time.now().seconds();
  uint64_t taken = 0;
  for (size_t first = 0; first < answers.size(); first += kPiece) {
    const auto fleet = fleet_.Write();
    for (const ExternalAnswer& answer :
         std::span(answers).subspan(first, std::min(kPiece, answers.size() - first)))
      taken += fleet->external.Take(answer, now_s, committer_.unsaved().output) ? 1 : 0;
  }
  status_.Count([&](ControlCounts& counts) {
    counts.external_taken += taken;
    counts.external_ignored += answers.size() - taken;
  });
  return committer_.Commit();
}

absl::Status ControlPlane::Pass(ClosedWindow closed, brain::When when) {
  PassTimes times{.window = closed.window, .jobs = closed.jobs.size(), .total_ms = 0, .steps_ms = {}};
  StepTimer timer(parts_.steady_ms, times);
  Unsaved& unsaved = committer_.unsaved();
  brain::PassOutput& out = unsaved.output;
  FindTrialTasks(fleet_, ingest_);
  const auto piecewise = [&](size_t piece, auto step) {
    for (size_t first = 0; first < std::max<size_t>(closed.jobs.size(), 1); first += piece) {
      const auto fleet = fleet_.Write();
      step(*fleet, first, std::min(first + piece, closed.jobs.size()));
    }
  };
  const auto run = [this](size_t count, absl::FunctionRef<void(size_t)> turn) {
    fleet_.RunOnThreads(count, turn);
  };
  piecewise(fleet_.is_parallel() ? kPieceOfThreads : kPiece,
            [&](brain::LiveFleet& fleet, size_t first, size_t last) {
              fleet.pass.TakeOwnersAmounts(closed, first, last);
              fleet.pass.Observe(closed, first, last, out, when, run);
              owners_.NoteRequests(closed, first, last, fleet);
              fleet.pass.Account(closed, first, last, unsaved.account);
            });
  timer.Done("observe");
  fleet_.Write()->pass.EndWindow(closed, out, when);
  if (when == brain::When::kNow) {
    const std::vector<KernelPeak> peaks = ingest_.windows.TakeKernelPeaks();
    const auto fleet = fleet_.Write();
    for (const KernelPeak& peak : peaks)
      fleet->kills.TakeKernelPeaks(peak.job, {peak.bytes, peak.met, peak.standing}, closed.window);
  }
  timer.Done("end_day");
  if (when == brain::When::kNow) AskOwners(closed);
  piecewise(kPiece, [&](brain::LiveFleet& fleet, size_t first, size_t last) {
    fleet.pass.Decide(closed, first, last, out, when);
  });
  NameTrialTasks(fleet_, ingest_, unsaved);
  timer.Done("decide");
  ExternalBatch asked{.window = closed.window, .jobs = {}};
  if (parts_.external != nullptr && when == brain::When::kNow) {
    piecewise(kPiece, [&](const brain::LiveFleet& fleet, size_t first, size_t last) {
      fleet.external.Jobs(closed, first, last, asked.jobs);
    });
  }
  const WindowId window = closed.window;
  unsaved.window = std::move(closed);
  unsaved.when = when;
  for (SettingChange& s : out.settings) unsaved.settings.push_back(std::move(s));
  out.settings.clear();
  checkpointer_.SaveWithPass(window, out.day_ended);
  absl::Status stored = committer_.Commit();
  timer.Done("store");
  if (stored.ok() && !asked.jobs.empty()) parts_.external->Ask(std::move(asked));
  // Checkpoints follow in separate commits, so that they do not delay the orders of this pass.
  if (stored.ok()) stored = checkpointer_.SaveDue(window);
  timer.Done("checkpoint");
  Maintain(window);
  timer.Done("maintain");
  status_.EndPass(std::move(times));
  return stored;
}

void ControlPlane::AskOwners(const ClosedWindow& closed) {
  std::vector<JobId> waiting;
  {
    const auto fleet = fleet_.Read();
    for (const JobWindowData& data : closed.jobs) {
      if (fleet->Has(data.job) && fleet->job(data.job).awaits_owner) waiting.push_back(data.job);
    }
  }
  owners_.Ask(waiting, closed.window.next().start_s());
}

void ControlPlane::Maintain(WindowId window) {
  // One call per pass is enough, because a day has 288 passes.
  const absl::StatusOr<bool> more = parts_.store->Maintain(window);
  if (!more.ok()) status_.NoteStore(more.status());
}

absl::Status ControlPlane::RetrainSome() {
  const std::vector<JobId> jobs = fleet_.Read()->history.Wanted(8, history_cursor_);
  const std::optional<WindowId> stored = status_.stored_through();
  for (const JobId id : jobs) {
    const WindowId end = stored.has_value() ? stored->next() : WindowId{0};
    absl::StatusOr<std::vector<JobDay>> days = parts_.history->JobDays(id, WindowId{INT32_MIN / 2}, end);
    absl::StatusOr<std::vector<OomRecord>> ooms = OomsInOrder(*parts_.history, id, INT64_MIN, kOomsOfJob);
    if (!ooms.ok()) ooms.emplace();
    DecisionQuery of_job;
    of_job.job = id;
    of_job.limit = kDecisionsOfJob;
    absl::StatusOr<std::vector<Decision>> decisions = DecisionsInOrder(*parts_.history, of_job);
    if (!decisions.ok()) decisions.emplace();
    // On a read error the job starts without history.
    fleet_.Write()->history.Retrain(
        id, days.ok() ? std::span<const JobDay>(*days) : std::span<const JobDay>(), *ooms, *decisions);
    status_.Count([](ControlCounts& counts) { ++counts.retrained; });
  }
  if (!jobs.empty()) views_.Refresh(nullptr);
  return absl::OkStatus();
}

absl::Status ControlPlane::CheckpointAll() {
  const std::lock_guard writer(committer_.writer());
  ingest_.log.Keep(NotStored() == 0);
  if (absl::Status s = committer_.Commit(); !s.ok()) return s;
  const std::optional<WindowId> stored = status_.stored_through();
  if (!stored.has_value()) return absl::OkStatus();
  checkpointer_.SaveWithPass(*stored, true);
  return checkpointer_.SaveAll(*stored);
}

// ---- queries ----

void ControlPlane::FindNumbers(std::span<PlacedTask* const> tasks) const {
  for (size_t first = 0; first < tasks.size(); first += kPiece) {
    const auto piece = tasks.subspan(first, std::min(kPiece, tasks.size() - first));
    {
      const auto fleet = fleet_.Read();
      for (PlacedTask* task : piece) {
        const std::optional<JobId> job = fleet->Find(task->job);
        task->number = job.has_value() ? std::optional(TaskRef{*job, 0}) : std::nullopt;
      }
    }
    ingest_.jobs.FindNumbers(piece);
  }
}

bool ControlPlane::Look(JobId id, const std::function<void(const brain::LiveJob&)>& look) const {
  const auto fleet = fleet_.Read();
  if (!fleet->Has(id)) return false;
  look(fleet->job(id));
  return true;
}

}  // namespace taut::server
