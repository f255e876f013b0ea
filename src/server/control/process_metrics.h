// Metrics of the daemon's process and of the store's files.
#pragma once

#include <cstdint>
#include <string>

#include "server/control/component.h"

namespace taut::server {

class ProcessMetrics final : public Component {
 public:
  // `context` outlives this object.
  ProcessMetrics(std::string version, int64_t started_s, const DaemonContext& context)
      : version_(std::move(version)), started_s_(started_s), context_(context) {}

  std::string_view name() const override { return "process"; }
  // Returns freed memory to the operating system after each window.
  void Tick(const LoopTurn& turn) override;
  void Collect(MetricsText& out) const override;

 private:
  const std::string version_;
  const int64_t started_s_;
  const DaemonContext& context_;
};

}  // namespace taut::server
