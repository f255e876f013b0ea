// Processes remote-write requests: decodes them, maps their series to jobs, and folds the samples into
// windows.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/ingest/live_windows.h"
#include "server/ingest/oom_watch.h"
#include "server/ingest/remote_write.h"
#include "server/ingest/series_mapper.h"

namespace taut::server {

struct WriteResult {
  uint64_t series = 0;
  uint64_t samples = 0;         // samples in the request, including dropped samples
  std::string first_refusal;    // reason for the first refused series; "" if no series was refused
  Timestamp newest{INT64_MIN};  // time of the request's newest sample, whether or not the sample was dropped
};

// Not thread-safe: one thread, or one lock, per object.
class Ingest {
 public:
  // Limits of one ingest, which determine its memory.
  struct Options {
    RemoteWriteLimits limits;
    size_t max_series = 4'000'000;
    size_t max_jobs = 1'000'000;
    // Greatest number of samples that wait in open windows, for all series together; 16 bytes each. Callers
    // of Write check waiting_samples() first.
    uint64_t max_waiting_samples = 100'000'000;
    // Time without samples after which a series is forgotten, seconds.
    int64_t idle_seconds = 3600;
    std::vector<std::string> job_labels = SeriesMapper::Options().job_labels;
    // Seed of the fingerprints; must be random if senders are not trusted. Does not change results.
    uint64_t seed = 0;
    LiveWindows::Options windows;
  };
  Ingest(MappingRules rules, const Options& options);

  // Processes a body with Content-Encoding snappy. Returns the errors of RemoteWriteDecoder::Decode; series
  // before the damage are processed. A refused series or sample is counted and is not an error.
  // Refuses series with the metric names of the sample log (kPartMetric, kFactMetric), and counts them in
  // `own_names`. WriteLogged would accept such series as values of a WorkloadIntake, so the body must not be
  // logged.
  absl::StatusOr<WriteResult> Write(std::string_view body, Timestamp now);
  // Returns the median time of a body's samples without processing them; nullopt if the body has no samples
  // or is damaged.
  std::optional<Timestamp> MedianTime(std::string_view body);
  // Processes a body of the sample log, which also contains values of WorkloadIntake.
  absl::StatusOr<WriteResult> WriteLogged(std::string_view body, Timestamp now);
  // The next two functions process a value and a fact of a WorkloadIntake.
  void Take(const WorkloadPart& part, SeriesKind kind, const RemoteSample& sample, Timestamp now);
  void Take(const WorkloadFact& fact, Timestamp now);
  // Processes a series from another source (backfill). series.fingerprint is Fingerprint(labels, seed).
  void Take(const SeriesView& series, Timestamp now);

  // Returns the slot of an agent's task, and registers a new task. `container`: ID of the container, "" if none
  // (see SeriesMapper::ResolveTask). If the task is refused, counts the refusal and returns nullopt.
  std::optional<uint32_t> TaskSlot(std::string_view job, std::string_view task,
                                   std::span<const LabelView> labels, Timestamp now,
                                   std::string_view container = {});
  // Adds a window that an agent folded. Returns false if the window is too late or too far in the future.
  bool TakeWindow(uint32_t slot, ReportedWindow window, Timestamp now) {
    return windows_.AddWindow(slot, std::move(window), now);
  }
  // Counts a sample that is dropped before its series is resolved.
  void CountDropped(uint64_t IngestCounts::*why) { ++(counts_.*why); }

  // Returns the OOM kills since the last call (OomSightings::Take).
  std::vector<OomSighting> TakeOoms() { return windows_.ooms().Take(mapper_); }
  // Closes windows and yields them (LiveWindows::CloseUntil).
  void CloseUntil(Timestamp watermark, absl::FunctionRef<void(ClosedWindow&&)> yield);
  // Closes the windows before `first_open`, because they are stored, and resets the counts.
  void StartAt(WindowId first_open) {
    counts_ = {};
    windows_.StartAt(first_open);
  }
  // Sets the time back to `newest` after a wrong time (LiveWindows::GoBack).
  void GoBack(Timestamp newest, WindowId first_open);

  // Sets the start-up times of jobs (LiveWindows::SetStartups). If no job has a start-up time, series of
  // start times stay unmapped.
  void SetStartups(absl::flat_hash_map<uint32_t, int32_t> seconds) {
    mapper_.WantStarts(!seconds.empty());
    windows_.SetStartups(std::move(seconds));
  }

  // Drops series without samples for idle_seconds and returns their number. O(series); one call a minute is
  // enough.
  size_t ForgetIdle(Timestamp now);

  SeriesMapper& mapper() { return mapper_; }
  const SeriesMapper& mapper() const { return mapper_; }
  LiveWindows& windows() { return windows_; }
  const LiveWindows& windows() const { return windows_; }
  // Returns the counts. Every sample of every decoded series is counted in exactly one field.
  const IngestCounts& counts() const { return counts_; }

 private:
  absl::StatusOr<WriteResult> Decode(std::string_view body, RemoteWriteDecoder::SeriesFn take);
  void TakeLogged(const SeriesView& series, Timestamp now);
  // Counts samples that are dropped, by reason.
  void Drop(std::span<const RemoteSample> samples, Timestamp now);
  void TakeIn(const SeriesMapper::Resolution& resolution, std::span<const RemoteSample> samples,
              Timestamp now);
  void Watch(const SeriesMapper::Resolution& resolution, const RemoteSample& sample, Timestamp now);

  const Options options_;
  RemoteWriteDecoder decoder_;
  SeriesMapper mapper_;
  IngestCounts counts_;
  LiveWindows windows_;
  int64_t newest_offered_ms_ = INT64_MIN;  // time of the newest sample in the present request
  OomWatch oom_watch_;
};

}  // namespace taut::server
