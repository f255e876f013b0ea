// An external recommender over gRPC (proto/recommender.proto). A separate thread calls the service, so that a
// slow or missing service delays nothing.
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
  std::string ca_file, certificate_file, key_file;  // PEM; all empty: plain text
  std::string cell;                                 // name of the cell, sent in each request
  int64_t deadline_ms = 10'000;                     // longest duration of a call
  int hold_windows = 6;   // number of windows after an answer's own window for which the answer is valid
  size_t max_jobs = 500;  // most jobs in one call
  double max_step = 10;   // as in ExternalBounds
  std::function<PerResource<double>()>
      machine{};                   // returns the machine size of ExternalBounds; empty: unknown
  std::function<int64_t()> now_s;  // time in health(); called on any thread
};

// Starts the thread that calls the service. The destructor of the result cancels the call in progress.
// InvalidArgument if the address or a file is invalid. A service that does not answer is not an error:
// health() reports it, and the next window is tried again.
absl::StatusOr<std::unique_ptr<ExternalRecommender>> ConnectExternalRecommender(
    const ExternalRecommenderOptions& options);

}  // namespace taut::server
