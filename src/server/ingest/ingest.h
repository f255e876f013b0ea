// The whole path of a remote-write request: decode, map, fold into windows.
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
  uint64_t samples = 0;         // in the request, whatever their outcome
  std::string first_refusal;    // reason why the first refused series was refused; "" if none was
  Timestamp newest{INT64_MIN};  // newest sample of the request, whatever its outcome
};

// Not thread-safe: one ingest, one thread (or one lock).
class Ingest {
 public:
  // Limits of one ingest; memory depends on them.
  struct Options {
    RemoteWriteLimits limits;
    size_t max_series = 4'000'000;
    size_t max_jobs = 1'000'000;
    // For all series together, 16 bytes each. Callers of Write check waiting_samples() first.
    uint64_t max_waiting_samples = 100'000'000;
    // A series without samples for this time is forgotten.
    int64_t idle_seconds = 3600;
    std::vector<std::string> job_labels = SeriesMapper::Options().job_labels;
    // Seed of the fingerprints; random where senders are not trusted. Does not change results.
    uint64_t seed = 0;
    LiveWindows::Options windows;
  };
  Ingest(MappingRules rules, const Options& options);

  // Processes a body with Content-Encoding snappy. Errors as RemoteWriteDecoder::Decode; series before the
  // damage are processed. A refused series or sample is counted and is not an error.
  // Series with the names of WorkloadIntake's values in a log (kPartMetric, kFactMetric) are refused, and counted
  // in `own_names`: WriteLogged would believe them, so the body may not be logged.
  absl::StatusOr<WriteResult> Write(std::string_view body, Timestamp now);
  // Returns the median time of a body's samples without processing them; nullopt if it has none or is
  // damaged.
  std::optional<Timestamp> MedianTime(std::string_view body);
  // Processes a body of the sample log, which also holds values of WorkloadIntake.
  absl::StatusOr<WriteResult> WriteLogged(std::string_view body, Timestamp now);
  // These two process values of a WorkloadIntake.
  void Take(const WorkloadPart& part, SeriesKind kind, const RemoteSample& sample, Timestamp now);
  void Take(const WorkloadFact& fact, Timestamp now);
  // Processes a series from another source (backfill). series.fingerprint is Fingerprint(labels, seed).
  void Take(const SeriesView& series, Timestamp now);

  // Returns the number of an agent's task, and registers it if it is new; `container` as in
  // SeriesMapper::ResolveTask. Returns nullopt, and counts it, if the task is refused.
  std::optional<uint32_t> TaskSlot(std::string_view job, std::string_view task,
                                   std::span<const LabelView> labels, Timestamp now,
                                   std::string_view container = {});
  // Adds a window that an agent folded. Returns false if it is too late or too far in the future.
  bool TakeWindow(uint32_t slot, ReportedWindow window, Timestamp now) {
    return windows_.AddWindow(slot, std::move(window), now);
  }
  // Counts a sample that is dropped before its series is resolved.
  void CountDropped(uint64_t IngestCounts::*why) { ++(counts_.*why); }

  // Returns the OOM kills since the last call, as OomSightings::Take.
  std::vector<OomSighting> TakeOoms() { return windows_.ooms().Take(mapper_); }
  // Closes windows and yields them, as LiveWindows::CloseUntil.
  void CloseUntil(Timestamp watermark, absl::FunctionRef<void(ClosedWindow&&)> yield);
  // Closes the windows before `first_open`, which are stored, and resets the counts.
  void StartAt(WindowId first_open) {
    counts_ = {};
    windows_.StartAt(first_open);
  }
  // Continues at `newest` after a wrong time: see LiveWindows::GoBack.
  void GoBack(Timestamp newest, WindowId first_open);

  // Sets the start-up times as LiveWindows does. If no job has one, series of start times stay unmapped.
  void SetStartups(absl::flat_hash_map<uint32_t, int32_t> seconds) {
    mapper_.WantStarts(!seconds.empty());
    windows_.SetStartups(std::move(seconds));
  }

  // Drops series without samples for idle_seconds and returns their number. O(series); once a minute is
  // enough.
  size_t ForgetIdle(Timestamp now);

  SeriesMapper& mapper() { return mapper_; }
  const SeriesMapper& mapper() const { return mapper_; }
  LiveWindows& windows() { return windows_; }
  const LiveWindows& windows() const { return windows_; }
  // Counts every sample of every decoded series in exactly one field.
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
  int64_t newest_offered_ms_ = INT64_MIN;  // in the present request
  OomWatch oom_watch_;
};

}  // namespace taut::server
