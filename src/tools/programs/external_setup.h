// The external recommender of the configuration, and what the log says of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/daemon_config.h"
#include "server/control/external_recommender.h"

namespace taut::tools {

// REQUIRES: an address is configured. `now_s`, and `machine` (ExternalBounds), are asked from any thread.
absl::StatusOr<std::unique_ptr<server::ExternalRecommender>> OpenExternalRecommender(
    const server::ExternalRecommenderConfig& config, const std::string& cell, std::function<int64_t()> now_s,
    std::function<PerResource<double>()> machine);

// Logs when the service begins or ceases to answer, and of each kind and job the first answer that was not taken.
class ExternalRecommenderLog {
 public:
  void Seen(const server::ExternalHealth& health, const std::vector<server::RefusedAnswer>& refused);

 private:
  bool failed_ = false, answered_ = false;
};

}  // namespace taut::tools
