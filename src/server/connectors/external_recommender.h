// Client of an external recommender over gRPC (proto/recommender.proto). A separate thread calls the service, so
// that a slow or unreachable service delays nothing.
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
  std::string address;                              // address of the service, HOST:PORT
  std::string ca_file, certificate_file, key_file;  // paths of PEM files; all empty: no TLS
  std::string cell;                                 // name of the cell, sent with each request
  int64_t deadline_ms = 10'000;                     // timeout of a call
  int hold_windows = 6;   // number of windows for which an answer is valid after its window
  size_t max_jobs = 500;  // maximum number of jobs per call
  double max_step = 10;   // largest step of an answer, as a factor (ExternalBounds::max_step)
  // Returns ExternalBounds::machine. Empty function: the size of the largest machine is unknown.
  std::function<PerResource<double>()> machine{};
  std::function<int64_t()> now_s;  // returns the time for health(); any thread calls it
};

// Starts the thread that calls the service. The result's destructor cancels the current call. Returns
// InvalidArgument if the address or a file is invalid. A service that does not respond is not an error: health()
// reports it, and the thread retries in the next window.
absl::StatusOr<std::unique_ptr<ExternalRecommender>> ConnectExternalRecommender(
    const ExternalRecommenderOptions& options);

}  // namespace taut::server
