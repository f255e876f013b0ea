// An external recommender over gRPC (proto/recommender.proto). It is called by a thread of its own, so a slow
// or missing service delays nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/model/resource.h"
#include "server/control/external_recommender.h"

namespace taut::server {

struct ExternalRecommenderOptions {
  std::string address;                              // HOST:PORT
  std::string ca_file, certificate_file, key_file;  // PEM; none: plain text
  std::string cell;                                 // name of the cell, in each request
  int64_t deadline_ms = 10'000;                     // of each call
  int hold_windows = 6;   // number of windows after its own for which an answer is valid
  size_t max_jobs = 500;  // of each call
  double max_step = 10;   // as in ExternalBounds
  std::function<PerResource<double>()> machine{};  // as in ExternalBounds, at present; empty: unknown
  std::function<int64_t()> now_s;                  // for health(); called on any thread
};

// The result's destructor cancels the call in progress. InvalidArgument if the address or a file is invalid.
// A service that does not answer is not an error: health() reports it, and the next window is tried again.
absl::StatusOr<std::unique_ptr<ExternalRecommender>> ConnectExternalRecommender(
    const ExternalRecommenderOptions& options);

}  // namespace taut::server
