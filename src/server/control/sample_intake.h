// Receives samples: remote write, backfilled series, and values from sources that know their workloads.
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

  // Processes a remote-write body. `sender`: as SaidTime. InvalidArgument: malformed, never resend;
  // ResourceExhausted: too large; Unavailable: resend later.
  absl::StatusOr<WriteResult> Write(std::string_view body, Timestamp now, uint64_t sender = 0);
  // Processes a backfilled series; labels ascending. Samples from `keep_from` on are logged, so they survive
  // a restart; the others must be read again.
  void Take(std::span<const LabelView> labels, std::span<const RemoteSample> samples, Timestamp now,
            Timestamp keep_from = Timestamp{INT64_MAX});
  // Processes values of a WorkloadIntake; they are logged.
  void Take(const WorkloadPart& part, SeriesKind kind, const RemoteSample& sample, Timestamp now);
  void Take(const WorkloadFact& fact, int64_t timestamp_ms, Timestamp now);
  // Returns the newest sample of each request since the last call, accepted or not, for at most kMostSaid
  // requests. With time by samples it is always empty.
  static constexpr size_t kMostSaid = IngestState::kMostSaid;
  std::vector<SaidTime> TakeSaid();

 private:
  // All REQUIRE the state's mutex.
  // Returns the time at which a body counts as received. Before the first sample, with time by samples, it is
  // the median time in the body.
  Timestamp NowForBody(std::string_view body, Timestamp now);
  // Logs one series of a source with one sample.
  void LogOwn(std::string_view metric, std::string_view packed, const RemoteSample& sample, Timestamp now,
              uint64_t kept_before);

  IngestState& s_;
};

}  // namespace taut::server
