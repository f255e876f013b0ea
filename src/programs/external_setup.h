// The external recommender of the configuration, and what the log says of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "config/daemon_config.h"
#include "ports/external_recommender.h"

namespace taut {

// REQUIRES: an address is configured. `now_s` is asked from any thread.
absl::StatusOr<std::unique_ptr<ExternalRecommender>> OpenExternalRecommender(
    const ExternalRecommenderConfig& config, const std::string& cell, std::function<int64_t()> now_s);

// Logs when the service begins or ceases to answer, and the first answer that was not taken of each kind.
class ExternalRecommenderLog {
 public:
  void Seen(const ExternalHealth& health);

 private:
  bool failed_ = false, answered_ = false;
  std::string invalid_;
};

}  // namespace taut
