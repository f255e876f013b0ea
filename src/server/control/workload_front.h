// What sources that know their workloads see of a control plane: they report to the front of ingest.
#pragma once

#include <functional>
#include <utility>

#include "server/control/ingest_front.h"
#include "server/ingest/workload_sample.h"

namespace taut::server {

// From any thread, as `now`. What is reported outlives a restart, as samples of open windows do.
class WorkloadFront final : public WorkloadIntake {
 public:
  // `front` must outlive it. `now`: the time that is believed.
  WorkloadFront(IngestFront& front, std::function<Timestamp()> now) : front_(front), now_(std::move(now)) {}

  void Take(const WorkloadPart& part, SeriesKind kind, const RemoteSample& sample) override {
    front_.samples.Take(part, kind, sample, now_());
  }
  void Take(const WorkloadFact& fact, int64_t timestamp_ms) override {
    front_.samples.Take(fact, timestamp_ms, now_());
  }

 private:
  IngestFront& front_;
  const std::function<Timestamp()> now_;
};

}  // namespace taut::server
