// The Prometheus of backfill.prometheus: how it is reached, and what its series lack.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/time.h"
#include "server/config/daemon_config.h"
#include "server/ingest/prometheus_history.h"

namespace taut::server {

// backfill.history before `now`.
Timestamp EarliestOf(const BackfillConfig& config, Timestamp now);

// Labels that remote write adds to series and queries do not show (backfill.labels): history and live samples
// must be of one job.
class AddedLabels {
 public:
  static absl::StatusOr<AddedLabels> Of(const BackfillConfig& config);
  // `labels`, which are ascending by name, with those that they lack; also ascending, and good until the next
  // call.
  std::span<const LabelView> AddTo(std::span<const LabelView> labels);

 private:
  std::vector<std::pair<std::string, std::string>> added_;
  std::vector<LabelView> all_;
};

// Reads the token file; asks the server nothing yet. `timeout`: of one request; nullopt: the client's own.
absl::StatusOr<std::unique_ptr<PrometheusHistory>> OpenHistory(
    const BackfillConfig& config, const std::vector<MappingRule>& rules, const HistoryOptions& options = {},
    std::optional<std::chrono::seconds> timeout = std::nullopt);

}  // namespace taut::server
