#include "server/control/ingest_front.h"

#include <algorithm>
#include <utility>

#include "common/base/strings.h"

namespace taut::server {
namespace {

// No OOM kill is believed to be further ahead of the cell's clock than clocks of machines are apart.
constexpr int64_t kClocksApartUs = kWindowSeconds * kMicrosPerSecond;

// Where time is the samples', each is compared with the newest before it.
IngestFront::Options WithSampleTime(IngestFront::Options options) {
  if (options.clock == ClockSource::kSamples) {
    options.ingest.windows.time_is_samples = true;
    options.ingest.windows.max_future_seconds = kMaxSampleStepSeconds;
  }
  return options;
}

}  // namespace

IngestFront::IngestFront(const Options& options, MappingRules mapping, SampleLog* samples,
                         const StatusBoard& board)
    : options_(WithSampleTime(options)),
      mapping_(std::move(mapping)),
      samples_(samples),
      board_(board),
      ingest_(std::make_unique<Ingest>(mapping_, options_.ingest)),
      clock_(options_.clock, options_.ingest.windows.grace_seconds) {}

// ---- samples ----

absl::Status IngestFront::CheckRoom() {
  absl::Status room = RoomNow();
  if (!room.ok()) ++deferred_writes_;
  return room;
}

absl::Status IngestFront::RoomNow() const {
  if (const uint64_t waiting = ingest_->windows().waiting_samples();
      waiting >= options_.ingest.max_waiting_samples) {
    return absl::UnavailableError(StrCat(
        waiting,
        " samples wait for their windows to close, the maximum (ingest.max_waiting_samples); retry later"));
  }
  if (waiting_windows_ >= options_.max_waiting_windows) {
    return absl::UnavailableError("the store accepts no windows at present; retry later");
  }
  if (clock_.by_samples() && clock_.last_watermark().us != INT64_MIN) {
    const int64_t ahead_s = (clock_.newest_sample().us - clock_.last_watermark().us) / kMicrosPerSecond;
    if (ahead_s > options_.max_open_windows * kWindowSeconds) {
      return absl::UnavailableError("samples are too far ahead of the open windows; retry later");
    }
  }
  return absl::OkStatus();
}

Timestamp IngestFront::NowForBody(std::string_view body, Timestamp now) {
  if (clock_.by_samples() && !clock_.has_samples()) return ingest_->MedianTime(body).value_or(Timestamp{0});
  return clock_.At(now);
}

absl::StatusOr<WriteResult> IngestFront::Write(std::string_view body, Timestamp now, uint64_t sender) {
  const std::lock_guard lock(mutex_);
  if (absl::Status s = CheckRoom(); !s.ok()) return s;
  now = NowForBody(body, now);
  EndGap(now);
  const uint64_t kept = ingest_->counts().kept();
  absl::StatusOr<WriteResult> result = ingest_->Write(body, now);
  NoteNewest();
  LogWrite(body, now, kept);
  if (result.ok()) Say({result->newest, sender}, ingest_->counts().kept() != kept);
  return result;
}

void IngestFront::Take(std::span<const LabelView> labels, std::span<const RemoteSample> samples,
                       Timestamp now, Timestamp keep_from) {
  const std::lock_guard lock(mutex_);
  const uint64_t kept = ingest_->counts().kept();
  ingest_->Take({labels, samples, Fingerprint(labels, options_.ingest.seed)}, now);
  clock_.Hear(ingest_->windows().newest_sample(), ingest_->windows().newest_of_series(), now);
  const auto first =
      std::ranges::lower_bound(samples, FloorDiv(keep_from.us, 1000), {}, &RemoteSample::timestamp_ms);
  if (samples_ == nullptr || first == samples.end()) return;
  const RemoteSeries series{{labels.begin(), labels.end()}, {first, samples.end()}};
  LogWrite(EncodeWriteRequest({&series, 1}), now, kept);
}

void IngestFront::Take(const WorkloadPart& part, SeriesKind kind, const RemoteSample& sample, Timestamp now) {
  const std::lock_guard lock(mutex_);
  const uint64_t kept = ingest_->counts().kept();
  ingest_->Take(part, kind, sample, now);
  clock_.Hear(ingest_->windows().newest_sample(), ingest_->windows().newest_of_series(), now);
  if (samples_ != nullptr) LogOwn(kPartMetric, EncodePart(part, kind), sample, now, kept);
}

void IngestFront::Take(const WorkloadFact& fact, int64_t timestamp_ms, Timestamp now) {
  const std::lock_guard lock(mutex_);
  const uint64_t kept = ingest_->counts().kept();
  ingest_->Take(fact, now);
  if (samples_ != nullptr) LogOwn(kFactMetric, EncodeFact(fact), {1, timestamp_ms}, now, kept);
}

void IngestFront::LogOwn(std::string_view metric, std::string_view packed, const RemoteSample& sample,
                         Timestamp now, uint64_t kept_before) {
  const RemoteSeries series{{{kMetricNameLabel, metric}, {kPackedLabel, packed}}, {sample}};
  LogWrite(EncodeWriteRequest({&series, 1}), now, kept_before);
}

void IngestFront::Say(const SaidTime& said, bool kept) {
  const Timestamp time = said.newest;
  if (time.us == INT64_MIN) return;
  if (!clock_.by_samples()) {
    if (said_.size() < kMostSaid) said_.push_back(said);
    return;
  }
  const std::optional<WindowId> stored = board_.stored_through();
  const std::optional<Timestamp> back = clock_.Offer(time, kept, stored);
  if (back.has_value()) ingest_->GoBack(*back, stored.has_value() ? stored->next() : WindowId{INT32_MIN / 2});
}

std::vector<SaidTime> IngestFront::TakeSaid() {
  const std::lock_guard lock(mutex_);
  return std::exchange(said_, {});
}

void IngestFront::SetSettingLabels(const std::string& job, std::vector<Label> labels) {
  const std::lock_guard lock(mutex_);
  setting_labels_.insert_or_assign(job, std::move(labels));
}

// ---- time ----

Timestamp IngestFront::now() const {
  const std::lock_guard lock(mutex_);
  return clock_.now();
}

void IngestFront::ShiftTime(Timestamp now) {
  const std::lock_guard lock(mutex_);
  clock_.Shift(now);
}

void IngestFront::DoubtTime(bool doubt) {
  const std::lock_guard lock(mutex_);
  in_doubt_ = doubt;
}

void IngestFront::GoBack(Timestamp now) {
  const std::lock_guard lock(mutex_);
  const std::optional<WindowId> stored = board_.stored_through();
  ingest_->GoBack(now, stored.has_value() ? stored->next() : WindowId{INT32_MIN / 2});
  clock_.GoBack(now);
}

void IngestFront::EndGap(Timestamp now) {
  const std::optional<CellClock::Span> gap = clock_.EndGap(now, samples_ != nullptr);
  if (gap.has_value()) ingest_->windows().NotHeard(gap->begin, gap->end);
}

std::vector<SilentSpan> IngestFront::TakeGaps() {
  const std::lock_guard lock(mutex_);
  return clock_.TakeGaps();
}

IngestLag IngestFront::lag() const {
  const std::optional<WindowId> stored = board_.stored_through();
  const std::lock_guard lock(mutex_);
  return clock_.Lag(stored);
}

std::optional<Timestamp> IngestFront::first_close() const {
  const std::lock_guard lock(mutex_);
  if (!first_heard_.has_value()) return std::nullopt;
  const Timestamp open =
      Timestamp::FromSeconds(clock_.now().seconds() - grace_s());  // windows before it are closed
  return Timestamp::FromSeconds(WindowId::Of(std::max(*first_heard_, open)).next().start_s() + grace_s());
}

// ---- counts ----

IngestCounts IngestFront::counts() const {
  const std::lock_guard lock(mutex_);
  return ingest_->counts();
}

MapperCounts IngestFront::mapper_counts() const {
  const std::lock_guard lock(mutex_);
  return ingest_->mapper().counts();
}

FoldCounts IngestFront::fold_counts() const {
  const std::lock_guard lock(mutex_);
  return ingest_->windows().fold_counts();
}

uint64_t IngestFront::deferred_writes() const {
  const std::lock_guard lock(mutex_);
  return deferred_writes_;
}

uint64_t IngestFront::waiting_samples() const {
  const std::lock_guard lock(mutex_);
  return ingest_->windows().waiting_samples();
}

absl::Status IngestFront::sample_log_status() const {
  const std::lock_guard lock(mutex_);
  return sample_log_status_;
}

size_t IngestFront::state_bytes() const {
  const std::lock_guard lock(mutex_);
  return ingest_->mapper().state_bytes() + ingest_->windows().state_bytes();
}

std::optional<IngestFront::JobSources> IngestFront::SourcesOf(JobId id) const {
  const std::lock_guard lock(mutex_);
  const SeriesMapper& mapper = ingest_->mapper();
  if (!mapper.HasJob(id) || mapper.num_slots(id) == 0) return std::nullopt;
  const SeriesMapper::MappedJob job = mapper.facts_of(id);
  return JobSources{job.oom_source, job.knows_starts, mapper.Collision(id)};
}

void IngestFront::FindNumbers(std::span<PlacedTask* const> tasks) const {
  const std::lock_guard lock(mutex_);
  for (PlacedTask* task : tasks) {
    if (!task->number.has_value()) continue;
    const std::optional<uint32_t> index = ingest_->mapper().FindTask(task->number->job, task->task);
    task->number = index.has_value() ? std::optional(TaskRef{task->number->job, *index}) : std::nullopt;
  }
}

// ---- for the passes ----

std::vector<ClosedWindow> IngestFront::CloseWindows(Timestamp now, brain::When when) {
  const std::lock_guard lock(mutex_);
  clock_.Advance(now);
  std::vector<ClosedWindow> closed;
  if (!clock_.has_samples()) return closed;  // there is nothing to close
  if (when == brain::When::kNow) EndGap(now);
  if (when == brain::When::kPast) (void)clock_.TakeGaps();
  if (hold_windows_ || (when == brain::When::kNow && clock_.catching_up(now))) return closed;
  // All of the past has been handed over; samples of the present do not bound it.
  const Timestamp watermark = clock_.Close(now, when == brain::When::kPast);
  ingest_->CloseUntil(watermark, [&](ClosedWindow&& window) { closed.push_back(std::move(window)); });
  if (!closed.empty()) ingest_->ForgetIdle(watermark);
  return closed;
}

void IngestFront::SetStartups(const absl::flat_hash_map<uint32_t, int32_t>& seconds) {
  asks_for_starts_ = !seconds.empty();
  const std::lock_guard lock(mutex_);
  ingest_->SetStartups(seconds);
}

void IngestFront::SetWaitingWindows(int waiting) {
  const std::lock_guard lock(mutex_);
  waiting_windows_ = waiting;
}

std::vector<OomSighting> IngestFront::TakeOoms(Timestamp now) {
  const std::lock_guard lock(mutex_);
  // Where the past is read, Write may have been given a later time.
  const Timestamp time = clock_.by_samples() ? clock_.newest_sample() : std::max(now, clock_.now());
  if (time.us == INT64_MIN) return {};  // before the first sample the time is unknown: they wait
  std::vector<OomSighting> seen = std::exchange(replayed_ooms_, {});
  for (const OomSighting& o : ingest_->TakeOoms()) {
    if (!o.is_first || !kills_before_.Meet(o)) seen.push_back(o);
  }
  for (OomSighting& o : seen) {
    o.time = std::min(o.time, Timestamp{time.us + kClocksApartUs});
    o.since = std::min(o.since, o.time);
  }
  return seen;
}

std::vector<GrowthSighting> IngestFront::FindGrowth(const std::function<std::vector<JobLimit>()>& limits) {
  constexpr int64_t kGrowthMicros = 15 * kMicrosPerSecond;
  const Timestamp time = now();
  const bool is_due = growth_looked_.us == INT64_MIN || time.us - growth_looked_.us >= kGrowthMicros ||
                      time < growth_looked_;  // the clock was set back
  if (time.us == INT64_MIN || !is_due) return {};
  growth_looked_ = time;
  const std::vector<JobLimit> wanted = limits();
  if (wanted.empty()) return {};
  const std::lock_guard lock(mutex_);
  return ingest_->windows().FindGrowth(wanted, time, ingest_->mapper());
}

std::vector<KernelPeak> IngestFront::TakeKernelPeaks() {
  const std::lock_guard lock(mutex_);
  return ingest_->windows().TakeKernelPeaks(ingest_->mapper());
}

std::vector<LiveWindows::TaskLimitsOfJob> IngestFront::MemoryLimits(std::span<const JobId> jobs) const {
  const std::lock_guard lock(mutex_);
  return ingest_->windows().MemoryLimits(jobs, ingest_->mapper());
}

std::vector<JobRecord> IngestFront::TakeNewJobs(Timestamp now, brain::When when) {
  std::vector<JobRecord> fresh;
  const std::lock_guard lock(mutex_);
  Timestamp seen = clock_.by_samples() ? clock_.newest_sample() : clock_.now();
  if (when == brain::When::kPast && !clock_.by_samples()) seen = now;
  if (seen.us == INT64_MIN) return fresh;  // no clock yet: jobs begin with the first sample
  SeriesMapper& mapper = ingest_->mapper();
  for (const JobId id : mapper.TakeFreshJobs()) {
    if (!mapper.HasJob(id)) continue;
    SeriesMapper::MappedJob facts = mapper.facts_of(id);
    fresh.emplace_back(id, std::move(facts.name), std::move(facts.labels), seen.seconds(), facts.parts);
  }
  return fresh;
}

IngestFront::Relabelled IngestFront::TakeRelabelled(Timestamp now, brain::When when) {
  const std::lock_guard lock(mutex_);
  Relabelled out{{}, {}, clock_.by_samples() ? clock_.newest_sample() : now};
  if (when == brain::When::kNow && out.now.us > 0) out.settings.swap(setting_labels_);
  SeriesMapper& mapper = ingest_->mapper();
  for (const JobId id : mapper.TakeRelabelledJobs()) out.jobs.push_back(mapper.facts_of(id));
  return out;
}

std::optional<Timestamp> IngestFront::CellTime(Timestamp now) const {
  const std::lock_guard lock(mutex_);
  if (!clock_.by_samples()) return now;
  return clock_.has_samples() ? std::optional(clock_.newest_sample()) : std::nullopt;
}

void IngestFront::WithMapper(absl::FunctionRef<void(SeriesMapper&)> use) {
  const std::lock_guard lock(mutex_);
  use(ingest_->mapper());
}

// ---- restore ----

void IngestFront::Restore(std::optional<WindowId> last_window, absl::FunctionRef<void(SeriesMapper&)> fill) {
  const std::lock_guard lock(mutex_);
  Ingest::Options ingest = options_.ingest;
  // With a log of samples they are closed when it is read (ReplaySamples).
  if (last_window.has_value() && samples_ == nullptr) ingest.windows.first_open = last_window->next();
  ingest_ = std::make_unique<Ingest>(mapping_, ingest);
  fill(ingest_->mapper());
  if (last_window.has_value()) {
    clock_.Restore(Timestamp::FromSeconds(last_window->next().start_s()));
    time_before_ = clock_.newest_sample();
  }
}

}  // namespace taut::server
