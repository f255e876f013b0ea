#include "control/control_plane.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "base/worker_pool.h"
#include "control/past_in_order.h"
#include "control/unsaved.h"

namespace taut {
namespace {

constexpr size_t kDecisionsOfJob = 10'000;  // the same, of what was in force
constexpr size_t kOomsOfJob = 100'000;      // that a new recommender processes, the newest
constexpr size_t kPiece = 256;              // jobs stepped before others may look in: under 5 ms
constexpr size_t kPieceOfThreads = LiveFleet::kTurnJobs * LiveFleet::kTurnsAtATime;  // on several threads
constexpr size_t kTurnsForThreads = 8;  // so many turns are worth the threads
// No OOM kill is believed to be further ahead of the cell's clock than clocks of machines are apart.
constexpr int64_t kClocksApartUs = kWindowSeconds * kMicrosPerSecond;

// So much longer than windows stay open samples may stay away before what was missed is read elsewhere.
constexpr int64_t kShortSilenceSeconds = 60;

// Where time is the samples', each is compared with the newest before it.
ControlOptions WithSampleTime(ControlOptions options) {
  if (options.clock == ClockSource::kSamples) {
    options.ingest.windows.time_is_samples = true;
    options.ingest.windows.max_future_seconds = kMaxSampleStepSeconds;
  }
  return options;
}

// Times a step of a pass by its name.
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
    : options_(WithSampleTime(options)),
      mapping_(std::move(mapping)),
      parts_(parts),
      ingest_(std::make_unique<Ingest>(mapping_, options_.ingest)),
      fleet_(options.live),
      workers_(std::make_unique<WorkerPool>(options.threads)),
      unsaved_(std::make_unique<Unsaved>()),
      view_(std::make_shared<const FleetView>()) {}

ControlPlane::~ControlPlane() = default;

// ---- samples ----

absl::Status ControlPlane::CheckRoom() {
  absl::Status room = RoomNow();
  if (!room.ok()) {
    const std::lock_guard lock(view_mutex_);
    ++counts_.deferred_writes;
  }
  return room;
}

absl::Status ControlPlane::RoomNow() const {
  if (const uint64_t waiting = ingest_->windows().waiting_samples();
      waiting >= options_.ingest.max_waiting_samples) {
    return absl::UnavailableError(StrCat(
        waiting,
        " samples wait for their windows to close, the maximum (ingest.max_waiting_samples); retry later"));
  }
  if (waiting_windows_ >= options_.max_waiting_windows) {
    return absl::UnavailableError("the store accepts no windows at present; retry later");
  }
  if (options_.clock == ClockSource::kSamples && last_watermark_.us != INT64_MIN) {
    const int64_t ahead_s = (newest_sample_.us - last_watermark_.us) / kMicrosPerSecond;
    if (ahead_s > options_.max_open_windows * kWindowSeconds) {
      return absl::UnavailableError("samples are too far ahead of the open windows; retry later");
    }
  }
  return absl::OkStatus();
}

// The cell's clock, given the wall clock.
Timestamp ControlPlane::NowFor(Timestamp now) {
  if (options_.clock == ClockSource::kSamples) now = std::max(newest_sample_, Timestamp{0});
  now_ = std::max(now_, now);
  return now;
}

void ControlPlane::NoteNewest(Timestamp newest) {
  Hear(now_);
  newest_sample_ = std::max(newest_sample_, newest);
  if (last_watermark_.us == INT64_MIN) last_watermark_ = newest_sample_;
}

absl::StatusOr<WriteResult> ControlPlane::Write(std::string_view body, Timestamp now) {
  const std::lock_guard lock(ingest_mutex_);
  if (absl::Status s = CheckRoom(); !s.ok()) return s;
  now = NowForBody(body, now);
  EndGap(now);
  const uint64_t kept = ingest_->counts().kept();
  absl::StatusOr<WriteResult> result = ingest_->Write(body, now);
  NoteNewest(ingest_->windows().newest_sample());
  LogWrite(body, now, kept);
  if (result.ok()) Say(result->newest, ingest_->counts().kept() != kept);
  return result;
}

void ControlPlane::Take(std::span<const LabelView> labels, std::span<const RemoteSample> samples,
                        Timestamp now, Timestamp keep_from) {
  const std::lock_guard lock(ingest_mutex_);
  const uint64_t kept = ingest_->counts().kept();
  ingest_->Take({labels, samples, Fingerprint(labels, options_.ingest.seed)}, now);
  Hear(now);
  newest_sample_ = std::max(newest_sample_, ingest_->windows().newest_sample());
  const auto first =
      std::ranges::lower_bound(samples, FloorDiv(keep_from.us, 1000), {}, &RemoteSample::timestamp_ms);
  if (parts_.samples == nullptr || first == samples.end()) return;
  const RemoteSeries series{{labels.begin(), labels.end()}, {first, samples.end()}};
  LogWrite(EncodeWriteRequest({&series, 1}), now, kept);
}

void ControlPlane::Hear(Timestamp now) {
  const Timestamp newest = ingest_->windows().newest_of_series();
  if (newest <= newest_of_series_) return;
  const int64_t open_s = kWindowSeconds + options_.ingest.windows.grace_seconds + kShortSilenceSeconds;
  const bool heard_before = newest_of_series_.us != INT64_MIN && options_.clock == ClockSource::kWall;
  if (heard_before && newest.us - newest_of_series_.us > open_s * kMicrosPerSecond)
    gaps_.push_back({WindowId::Of(newest_of_series_), WindowId::Of(newest)});
  newest_of_series_ = newest;
  heard_ = now;
}

Timestamp ControlPlane::Watermark(Timestamp now) const {
  if (options_.clock == ClockSource::kSamples || newest_sample_.us == INT64_MIN) return newest_sample_;
  // A clock that is wrong, and a sender that brings what it kept, close nothing too early. Agents say
  // themselves that they bring more (HoldWindows).
  if (newest_of_series_.us == INT64_MIN) return now;
  return {std::min(now.us, newest_of_series_.us + std::max<int64_t>(0, now.us - heard_.us))};
}

Timestamp ControlPlane::now() const {
  const std::lock_guard lock(ingest_mutex_);
  return options_.clock == ClockSource::kSamples ? std::max(newest_sample_, Timestamp{0}) : now_;
}

IngestLag ControlPlane::ingest_lag() const {
  const std::shared_ptr<const FleetView> seen = view();
  const std::lock_guard lock(ingest_mutex_);
  IngestLag lag;
  const auto seconds = [](Timestamp from, Timestamp to) {
    return static_cast<double>(to.us - from.us) / kMicrosPerSecond;
  };
  if (options_.clock == ClockSource::kWall && heard_.us > 0 && newest_of_series_.us != INT64_MIN)
    lag.arrival_s = seconds(newest_of_series_, heard_);
  const Timestamp now = options_.clock == ClockSource::kSamples ? newest_sample_ : now_;
  if (now.us <= 0) return lag;  // no clock yet
  if (newest_sample_.us != INT64_MIN) lag.newest_sample_s = seconds(newest_sample_, now);
  if (seen->window.has_value())
    lag.window_s = seconds(Timestamp::FromSeconds(seen->window->next().start_s()), now);
  return lag;
}

// ---- the loop ----

absl::Status ControlPlane::Tick(Timestamp now) { return TickAs(now, When::kNow); }

absl::Status ControlPlane::TickPast(Timestamp through) { return TickAs(through, When::kPast); }

absl::Status ControlPlane::TickAs(Timestamp now, When when) {
  const std::lock_guard writer(writer_mutex_);
  (void)KeepSamples();  // sample_log_status() says it
  if (when == When::kNow) DistrustFuture(now);
  SeeOoms(now);
  // Also while the store is full: samples that wait in open windows are bounded, and closed ones are counted.
  for (ClosedWindow& closed : CloseWindows(now, when)) waiting_.push_back({std::move(closed), when});
  CountWaiting();
  NoteNewJobs(now, when);
  AddNewJobs();
  RelabelJobs(now, when);
  if (absl::Status s = CheckStore(); !s.ok()) return s;
  if (absl::Status s = CommitUnsaved(); !s.ok()) return s;
  const auto present = when == When::kNow
                           ? sightings_.begin()
                           : std::stable_partition(sightings_.begin(), sightings_.end(),
                                                   [now](const OomSighting& o) { return o.time <= now; });
  const auto past = static_cast<size_t>(present - sightings_.begin());
  if (absl::Status s = ActOnOoms(past, When::kPast); !s.ok()) return s;
  if (absl::Status s = ActOnOoms(sightings_.size(), When::kNow); !s.ok()) return s;
  if (when == When::kNow) {
    if (absl::Status s = ActOnExternal(); !s.ok()) return s;
  }
  std::optional<WindowId> passed;
  while (!waiting_.empty()) {
    passed = waiting_.front().closed.window;
    Waiting next = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    const absl::Status s = Pass(std::move(next.closed), next.when);
    CountWaiting();
    if (!s.ok()) return s;
  }
  if (passed.has_value()) {
    if (absl::Status s = ForgetJobs(*passed); !s.ok()) return s;
  }
  if (absl::Status s = RetrainSome(); !s.ok()) return s;
  return StoreOutcomes();
}

std::vector<ClosedWindow> ControlPlane::CloseWindows(Timestamp now, When when) {
  const std::lock_guard lock(ingest_mutex_);
  now_ = std::max(now_, now);
  std::vector<ClosedWindow> closed;
  if (newest_sample_.us == INT64_MIN) return closed;  // there is nothing to close
  if (when == When::kNow) EndGap(now);
  if (when == When::kPast) gaps_.clear();
  if (hold_windows_ || (when == When::kNow && now < catch_up_until_)) return closed;
  // All of the past has been handed over; samples of the present do not bound it.
  const bool is_past = when == When::kPast && options_.clock == ClockSource::kWall;
  const Timestamp watermark = is_past ? now : Watermark(now);
  last_watermark_ = watermark;
  ingest_->CloseUntil(watermark, [&](ClosedWindow&& window) { closed.push_back(std::move(window)); });
  if (!closed.empty()) ingest_->ForgetIdle(watermark);
  return closed;
}

// What was restored may have been made while a clock was wrong: once, when the time is known again.
void ControlPlane::DistrustFuture(Timestamp now) {
  if (distrusted_future_) return;
  if (options_.clock == ClockSource::kSamples) {
    const std::lock_guard lock(ingest_mutex_);
    if (newest_sample_.us == INT64_MIN) return;
    now = newest_sample_;
  }
  distrusted_future_ = true;
  const std::unique_lock fleet(fleet_mutex_);
  fleet_.DistrustFuture(now.seconds());
}

// Before windows close: that forgets the names of series not heard of for long.
void ControlPlane::SeeOoms(Timestamp now) {
  const std::lock_guard lock(ingest_mutex_);
  // Where the past is read, Write may have been given a later time.
  const Timestamp clock = options_.clock == ClockSource::kSamples ? newest_sample_ : std::max(now, now_);
  if (clock.us == INT64_MIN) return;  // before the first sample the time is unknown: they wait
  std::vector<OomSighting> seen = std::exchange(replayed_ooms_, {});
  for (const OomSighting& o : ingest_->TakeOoms()) seen.push_back(o);
  for (OomSighting& o : seen) {
    o.time = std::min(o.time, Timestamp{clock.us + kClocksApartUs});
    sightings_.push_back(o);
  }
}

// Jobs that ingest met since the last time: to be stored, and then known to the fleet.
void ControlPlane::NoteNewJobs(Timestamp now, When when) {
  std::vector<JobRecord> fresh;
  {
    const std::lock_guard lock(ingest_mutex_);
    Timestamp seen = options_.clock == ClockSource::kSamples ? newest_sample_ : now_;
    if (when == When::kPast && options_.clock == ClockSource::kWall) seen = now;
    if (seen.us == INT64_MIN) return;  // no clock yet: jobs begin with the first sample
    SeriesMapper& mapper = ingest_->mapper();
    for (const JobId id : mapper.TakeFreshJobs()) {
      if (mapper.HasJob(id))
        fresh.push_back({id, std::string(mapper.job_name(id)), mapper.job_labels(id), seen.seconds()});
    }
  }
  for (JobRecord& record : fresh) {
    if (record.id.value >= next_job_) {
      next_job_ = record.id.value + 1;
      unsaved_->new_jobs.push_back(std::move(record));
      continue;
    }
    // It was forgotten and is there again.
    absl::StatusOr<JobRecord> before = parts_.history->Job(record.id);
    if (before.ok() && before->name == record.name) record = *std::move(before);
    unsaved_->returned_jobs.push_back(std::move(record));
  }
}

bool ControlPlane::holds_windows() const {
  const std::lock_guard lock(ingest_mutex_);
  return hold_windows_;
}

void ControlPlane::CountWaiting() {
  const std::lock_guard lock(ingest_mutex_);
  waiting_windows_ = static_cast<int>(waiting_.size()) + (unsaved_->window.has_value() ? 1 : 0);
}

// Jobs that ingest met since the last time: the fleet must know them before their first window.
void ControlPlane::AddNewJobs() {
  const std::unique_lock fleet(fleet_mutex_);
  for (const JobRecord& record : unsaved_->new_jobs) {
    if (!fleet_.Has(record.id)) fleet_.AddJob(record);
  }
  for (const JobRecord& record : unsaved_->returned_jobs) {
    if (fleet_.Has(record.id)) continue;
    fleet_.AddJob(record);
    fleet_.WantHistoryOf(record.id);
  }
}

// Labels of jobs that came with later series: those of their pods, mostly. Rules may set them otherwise now.
void ControlPlane::RelabelJobs(Timestamp now, When when) {
  std::vector<std::pair<JobId, SeriesMapper::JobLabels>> changed;
  std::map<std::string, std::vector<Label>> settings;
  {
    const std::lock_guard lock(ingest_mutex_);
    if (options_.clock == ClockSource::kSamples) now = newest_sample_;
    if (when == When::kNow && now.us > 0) settings.swap(setting_labels_);
    SeriesMapper& mapper = ingest_->mapper();
    for (const JobId id : mapper.TakeRelabelledJobs()) changed.emplace_back(id, mapper.job_labels(id));
  }
  if (changed.empty() && settings.empty()) return;
  const std::unique_lock fleet(fleet_mutex_);
  for (auto& [id, labels] : changed) {
    // Those of before a restart, which the mapper still has, may be gone.
    std::erase_if(labels, [](const Label& label) { return label.first.starts_with(kSettingLabel); });
    if (fleet_.Has(id) && fleet_.AddLabels(id, labels))
      unsaved_->relabelled_jobs.push_back(fleet_.job(id).record);
  }
  for (const auto& [name, labels] : settings) {
    const std::optional<JobId> id = fleet_.Find(name);
    if (id.has_value() && fleet_.SetSettingLabels(*id, labels, now.seconds(), unsaved_->output))
      unsaved_->relabelled_jobs.push_back(fleet_.job(*id).record);
  }
}

void ControlPlane::SetSettingLabels(const std::string& job, std::vector<Label> labels) {
  const std::lock_guard lock(ingest_mutex_);
  setting_labels_.insert_or_assign(job, std::move(labels));
}

absl::Status ControlPlane::ActOnOoms(size_t count, When when) {
  if (count == 0) return absl::OkStatus();
  FindTrialTasks();
  {
    const std::unique_lock fleet(fleet_mutex_);
    // Those of jobs that the fleet is yet to know wait for the next tick.
    const auto end = sightings_.begin() + static_cast<std::ptrdiff_t>(count);
    const auto known = std::stable_partition(sightings_.begin(), end,
                                             [&](const OomSighting& o) { return !fleet_.Has(o.job); });
    for (auto o = known; o != end; ++o) {
      OomRecord record{o->job, o->task, o->time.seconds(), o->kills, o->limit};
      fleet_.TakeOom(record, unsaved_->output, when);
      unsaved_->ooms.push_back(record);
    }
    sightings_.erase(known, end);
  }
  if (!unsaved_->ooms.empty()) unsaved_->when = when;
  return CommitUnsaved();
}

absl::Status ControlPlane::ActOnExternal() {
  if (parts_.external == nullptr) return absl::OkStatus();
  const std::vector<ExternalAnswer> answers = parts_.external->Take();
  if (answers.empty()) return absl::OkStatus();
  const int64_t now_s = now().seconds();
  uint64_t taken = 0;
  for (size_t first = 0; first < answers.size(); first += kPiece) {
    const std::unique_lock fleet(fleet_mutex_);
    for (const ExternalAnswer& answer :
         std::span(answers).subspan(first, std::min(kPiece, answers.size() - first)))
      taken += fleet_.TakeExternal(answer, now_s, unsaved_->output) ? 1 : 0;
  }
  {
    const std::lock_guard lock(view_mutex_);
    counts_.external_taken += taken;
    counts_.external_ignored += answers.size() - taken;
  }
  return CommitUnsaved();
}

absl::Status ControlPlane::Pass(ClosedWindow closed, When when) {
  PassTimes times{.window = closed.window, .jobs = closed.jobs.size(), .total_ms = 0, .steps_ms = {}};
  StepTimer timer(parts_.steady_ms, times);
  PassOutput& out = unsaved_->output;
  FindTrialTasks();
  const auto piecewise = [&](size_t piece, auto step) {
    for (size_t first = 0; first < std::max<size_t>(closed.jobs.size(), 1); first += piece) {
      const std::unique_lock fleet(fleet_mutex_);
      step(first, std::min(first + piece, closed.jobs.size()));
    }
  };
  const auto run = [this](size_t count, absl::FunctionRef<void(size_t)> turn) { RunOnThreads(count, turn); };
  piecewise(workers_->is_parallel() ? kPieceOfThreads : kPiece, [&](size_t first, size_t last) {
    fleet_.TakeOwnersAmounts(closed, first, last);
    fleet_.Observe(closed, first, last, out, when, run);
    fleet_.Account(closed, first, last, unsaved_->account);
  });
  timer.Done("observe");
  {
    const std::unique_lock fleet(fleet_mutex_);
    fleet_.EndWindow(closed, out, when);
  }
  timer.Done("end_day");
  piecewise(kPiece, [&](size_t first, size_t last) { fleet_.Decide(closed, first, last, out, when); });
  NameTrialTasks();
  timer.Done("decide");
  ExternalBatch asked{.window = closed.window, .jobs = {}};
  if (parts_.external != nullptr && when == When::kNow) {
    piecewise(kPiece,
              [&](size_t first, size_t last) { fleet_.ExternalJobs(closed, first, last, asked.jobs); });
  }
  const WindowId window = closed.window;
  unsaved_->window = std::move(closed);
  unsaved_->when = when;
  for (SettingChange& s : out.settings) unsaved_->settings.push_back(std::move(s));
  out.settings.clear();
  SaveWithPass(window, out.day_ended);
  absl::Status stored = CommitUnsaved();
  timer.Done("store");
  if (stored.ok() && !asked.jobs.empty()) parts_.external->Ask(std::move(asked));
  if (stored.ok()) stored = SaveDueChunks(window, false);
  timer.Done("checkpoint");
  Maintain(window);
  timer.Done("maintain");
  const std::lock_guard lock(view_mutex_);
  ++counts_.passes;
  last_pass_ = std::move(times);
  return stored;
}

void ControlPlane::RunOnThreads(size_t count, absl::FunctionRef<void(size_t turn)> turn) {
  if (count < kTurnsForThreads || !workers_->is_parallel()) return RunInOrder(count, turn);
  workers_->ForEach(count, turn);
}

void ControlPlane::Maintain(WindowId window) {
  // A piece a pass is plenty: a day has 288 of them.
  const absl::StatusOr<bool> more = parts_.store->Maintain(window);
  if (more.ok()) return;
  const std::lock_guard lock(view_mutex_);
  store_status_ = more.status();
}

// Jobs whose recommender was changed process their stored history again, some at a time.
absl::Status ControlPlane::RetrainSome() {
  std::vector<JobId> jobs;
  {
    const std::shared_lock fleet(fleet_mutex_);
    jobs = fleet_.WantHistory(8);
  }
  const std::shared_ptr<const FleetView> seen = view();
  for (const JobId id : jobs) {
    const WindowId end = seen->window.has_value() ? seen->window->next() : WindowId{0};
    absl::StatusOr<std::vector<JobDay>> days = parts_.history->JobDays(id, WindowId{INT32_MIN / 2}, end);
    absl::StatusOr<std::vector<OomRecord>> ooms = OomsInOrder(*parts_.history, id, INT64_MIN, kOomsOfJob);
    if (!ooms.ok()) ooms.emplace();
    DecisionQuery of_job;
    of_job.job = id;
    of_job.limit = kDecisionsOfJob;
    absl::StatusOr<std::vector<Decision>> decisions = DecisionsInOrder(*parts_.history, of_job);
    if (!decisions.ok()) decisions.emplace();
    const std::unique_lock fleet(fleet_mutex_);
    // What cannot be read is as if it had never been: the job starts anew.
    fleet_.Retrain(id, days.ok() ? std::span<const JobDay>(*days) : std::span<const JobDay>(), *ooms,
                   *decisions);
    const std::lock_guard lock(view_mutex_);
    ++counts_.retrained;
  }
  if (!jobs.empty()) RefreshView(nullptr);
  return absl::OkStatus();
}

void ControlPlane::Reload(const LiveSettings& settings) {
  const std::lock_guard writer(writer_mutex_);
  {
    const std::unique_lock fleet(fleet_mutex_);
    fleet_.Reload(settings);
  }
  RefreshView(nullptr);
}

}  // namespace taut
