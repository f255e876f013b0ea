// Metrics of the control plane, and its log lines about received samples.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/control/component.h"

namespace taut::server {

struct NamedCount {
  std::string_view name;
  uint64_t count;
};
// Returns the numbers of received samples by outcome.
std::vector<NamedCount> SamplesByOutcome(const IngestCounts& counts);

class ControlMetrics final : public Component {
 public:
  // `context` must outlive this object.
  ControlMetrics(size_t max_jobs, const DaemonContext& context) : max_jobs_(max_jobs), context_(context) {}

  std::string_view name() const override { return "control"; }
  // Logs whether samples of open windows are stored on disk, and logs a first sample whose time is far ahead of
  // the stored data.
  void AfterPass(bool stored) override;
  // Logs the first refusal of a job and the first collision of names.
  void Tick(const LoopTurn& turn) override;
  void Collect(MetricsText& out) const override;

 private:
  void SayOfFirstSample();

  const size_t max_jobs_;
  const DaemonContext& context_;
  bool refusal_said_ = false, collisions_said_ = false, first_sample_seen_ = false;
  std::string samples_said_;
};

}  // namespace taut::server
