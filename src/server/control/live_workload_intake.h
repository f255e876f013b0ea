// Interface of the control plane for sources with known workloads: they report values and facts to the
// ingest.
#pragma once

#include <functional>
#include <utility>

#include "server/control/live_ingest.h"
#include "server/ingest/workload_sample.h"

namespace taut::server {

// Thread-safe. The time of a report's arrival is `now`. Reports survive a restart, like samples of open windows.
class LiveWorkloadIntake final : public WorkloadIntake {
 public:
  // `ingest` must outlive this object. `now` returns the believed time.
  LiveWorkloadIntake(LiveIngest& ingest, std::function<Timestamp()> now)
      : ingest_(ingest), now_(std::move(now)) {}

  void Take(const WorkloadPart& part, SeriesKind kind, const RemoteSample& sample) override {
    ingest_.samples.Take(part, kind, sample, now_());
  }
  void Take(const WorkloadFact& fact, int64_t timestamp_ms) override {
    ingest_.samples.Take(fact, timestamp_ms, now_());
  }

 private:
  LiveIngest& ingest_;
  const std::function<Timestamp()> now_;
};

}  // namespace taut::server
