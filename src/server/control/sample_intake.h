// Samples that come in: remote write, series from elsewhere, and values of sources that know their workloads.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/control/ingest_state.h"

namespace taut::server {

// Thread-safe.
class SampleIntake {
 public:
  explicit SampleIntake(IngestState& state) : s_(state) {}

  // A remote-write body. InvalidArgument: never send it again; ResourceExhausted: too large; Unavailable:
  // send it again later.
  // `sender`: as SaidTime.
  absl::StatusOr<WriteResult> Write(std::string_view body, Timestamp now, uint64_t sender = 0);
  // The same for a series from elsewhere (backfill); labels ascending. Samples from `keep_from` on outlive a
  // restart, as those of Write do; the others have to be read again.
  void Take(std::span<const LabelView> labels, std::span<const RemoteSample> samples, Timestamp now,
            Timestamp keep_from = Timestamp{INT64_MAX});
  // The same for values of a source that knows its workloads.
  void Take(const WorkloadPart& part, SeriesKind kind, const RemoteSample& sample, Timestamp now);
  void Take(const WorkloadFact& fact, int64_t timestamp_ms, Timestamp now);
  // The senders' time: the newest sample of each request since the last call, of this many requests
  // at most, whether they were taken or not.
  static constexpr size_t kMostSaid = IngestState::kMostSaid;
  std::vector<SaidTime> TakeSaid();

 private:
  // All REQUIRE the state's mutex.
  // Where time is the samples' and it is unknown yet, most samples of a body decide.
  Timestamp NowForBody(std::string_view body, Timestamp now);
  // Logs one series of a source's own, with one sample.
  void LogOwn(std::string_view metric, std::string_view packed, const RemoteSample& sample, Timestamp now,
              uint64_t kept_before);

  IngestState& s_;
};

}  // namespace taut::server
