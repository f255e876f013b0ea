// The whole way of a remote-write request: decode, map, fold into windows. What the daemon's handler calls.
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
  uint64_t samples = 0;         // of the request, with any outcome
  std::string first_refusal;    // "" unless series were refused: then why the first was
  Timestamp newest{INT64_MIN};  // of its samples, with any outcome
};

// Not thread-safe: one ingest, one thread (or one lock).
class Ingest {
 public:
  struct Options {
    RemoteWriteLimits limits;
    size_t max_series = 4'000'000;
    size_t max_jobs = 1'000'000;
    // Of all series together: callers of Write check waiting_samples() before. 16 bytes each.
    uint64_t max_waiting_samples = 100'000'000;
    int64_t idle_seconds = 3600;
    std::vector<std::string> job_labels = SeriesMapper::Options().job_labels;
    // Of the fingerprints: give a random one where senders are not trusted. Changes no result.
    uint64_t seed = 0;
    LiveWindows::Options windows;
  };
  Ingest(MappingRules rules, const Options& options);

  // A body of Content-Encoding snappy. Errors as RemoteWriteDecoder::Decode; series before a damage are taken
  // in. A refused series or sample is no error: it is counted and the rest is taken in.
  absl::StatusOr<WriteResult> Write(std::string_view body, Timestamp now);
  // The median time of a body's samples, without taking them in; nullopt: it has none, or cannot be read.
  std::optional<Timestamp> MedianTime(std::string_view body);
  // A body of the log of samples, where values of WorkloadIntake are, too.
  absl::StatusOr<WriteResult> WriteLogged(std::string_view body, Timestamp now);
  // As WorkloadIntake.
  void Take(const WorkloadPart& part, SeriesKind kind, const RemoteSample& sample, Timestamp now);
  void Take(const WorkloadFact& fact, Timestamp now);
  // For a source that is not remote write (backfill). series.fingerprint: Fingerprint(labels, seed).
  void Take(const SeriesView& series, Timestamp now);

  // A task of an agent, known by this number from now on; `container` as in SeriesMapper::ResolveTask.
  // nullopt: refused, and counted.
  std::optional<uint32_t> TaskSlot(std::string_view job, std::string_view task,
                                   std::span<const LabelView> labels, Timestamp now,
                                   std::string_view container = {});
  // A window that an agent folded. False: it came too late.
  bool TakeWindow(uint32_t slot, ReportedWindow window, Timestamp now) {
    return windows_.AddWindow(slot, std::move(window), now);
  }
  // Counts a sample that is dropped before it is looked up.
  void CountDropped(uint64_t IngestCounts::*why) { ++(counts_.*why); }

  std::vector<OomSighting> TakeOoms() { return windows_.ooms().Take(mapper_); }
  void CloseUntil(Timestamp watermark, absl::FunctionRef<void(ClosedWindow&&)> yield);
  // Windows before this one are closed already; what was taken in before this call is not counted.
  void StartAt(WindowId first_open) {
    counts_ = {};
    windows_.StartAt(first_open);
  }
  void GoBack(Timestamp newest, WindowId first_open);

  // As LiveWindows. Where no job asks for it, series that say when tasks started are unmapped.
  void SetStartups(absl::flat_hash_map<uint32_t, int32_t> seconds) {
    mapper_.WantStarts(!seconds.empty());
    windows_.SetStartups(std::move(seconds));
  }

  // Drops series not heard of for idle_seconds; how many. A call a minute is plenty.
  size_t ForgetIdle(Timestamp now);

  SeriesMapper& mapper() { return mapper_; }
  const SeriesMapper& mapper() const { return mapper_; }
  LiveWindows& windows() { return windows_; }
  const LiveWindows& windows() const { return windows_; }
  // Every sample of every decoded series in exactly one field.
  const IngestCounts& counts() const { return counts_; }

 private:
  absl::StatusOr<WriteResult> Decode(std::string_view body, RemoteWriteDecoder::SeriesFn take);
  void TakeLogged(const SeriesView& series, Timestamp now);
  // Counts samples of no use.
  void Drop(std::span<const RemoteSample> samples, Timestamp now);
  void TakeIn(const SeriesMapper::Resolution& resolution, std::span<const RemoteSample> samples,
              Timestamp now);
  void Watch(const SeriesMapper::Resolution& resolution, const RemoteSample& sample, Timestamp now);

  const Options options_;
  RemoteWriteDecoder decoder_;
  SeriesMapper mapper_;
  IngestCounts counts_;
  LiveWindows windows_;
  int64_t newest_offered_ms_ = INT64_MIN;  // of the request at hand
  OomWatch oom_watch_;
};

}  // namespace taut::server
