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

  // Processes a remote-write body. `sender` is as in SaidTime. Returns InvalidArgument for a malformed body,
  // which must not be sent again, and ResourceExhausted for a body that is too large. Returns Unavailable if
  // the body must be sent again later.
  absl::StatusOr<WriteResult> Write(std::string_view body, Timestamp now, uint64_t sender = 0);
  // Processes a backfilled series; labels ascending. Samples from `keep_from` on are logged, so that they
  // survive a restart; older samples must be read again after a restart.
  void Take(std::span<const LabelView> labels, std::span<const RemoteSample> samples, Timestamp now,
            Timestamp keep_from = Timestamp{INT64_MAX});
  // Processes and logs a value of a WorkloadIntake.
  void Take(const WorkloadPart& part, SeriesKind kind, const RemoteSample& sample, Timestamp now);
  void Take(const WorkloadFact& fact, int64_t timestamp_ms, Timestamp now);
  static constexpr size_t kMostSaid = IngestState::kMostSaid;
  // Returns the time of the newest sample of each request since the last call, including refused samples, for
  // at most kMostSaid requests. Returns nothing with `clock: samples`.
  std::vector<SaidTime> TakeSaid();

 private:
  // All private functions REQUIRE the state's mutex.
  // Returns the time of the body's arrival: `now`, or with `clock: samples` and before the first sample, the
  // median time in the body.
  Timestamp NowForBody(std::string_view body, Timestamp now);
  // Writes a series with one sample to the log. `metric` and `packed` encode a value or fact of a source.
  void LogOwn(std::string_view metric, std::string_view packed, const RemoteSample& sample, Timestamp now,
              uint64_t kept_before);

  IngestState& s_;
};

}  // namespace taut::server
