// Connection to the Prometheus of backfill.prometheus, and the labels that are missing in this server's series.
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

// Returns the earliest time of the history to read: `now` less backfill.days.
Timestamp EarliestOf(const BackfillConfig& config, Timestamp now);

// Labels that remote write adds to series, but that query responses do not contain (backfill.labels). With these
// labels, history and live samples belong to the same job.
class AddedLabels {
 public:
  // Parses the labels of a configuration. Returns the parser's error for a malformed label.
  static absl::StatusOr<AddedLabels> Of(const BackfillConfig& config);
  // Returns `labels`, ascending by name, with the added labels that `labels` does not contain. The result is
  // ascending as well, and valid until the next call.
  std::span<const LabelView> AddTo(std::span<const LabelView> labels);

 private:
  std::vector<std::pair<std::string, std::string>> added_;
  std::vector<LabelView> all_;
};

// Creates a client. Reads the token file and sends no request. `timeout`: maximum duration of one request;
// nullopt: the client's default.
absl::StatusOr<std::unique_ptr<PrometheusHistory>> OpenHistory(
    const BackfillConfig& config, const std::vector<MappingRule>& rules, const HistoryOptions& options = {},
    std::optional<std::chrono::seconds> timeout = std::nullopt);

}  // namespace taut::server
