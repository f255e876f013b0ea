// An external recommender over gRPC (proto/recommender.proto): one thread calls it, so that a slow or absent
// service delays nothing.
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
  std::string ca_file, certificate_file, key_file;  // PEM; without any: plain text
  std::string cell;                                 // the cell's name, in each request
  int64_t deadline_ms = 10'000;                     // of one call
  int hold_windows = 6;                             // so many windows after its own an answer holds
  size_t max_jobs = 500;                            // of one call
  double max_step = 10;                             // as ExternalBounds
  std::function<PerResource<double>()> machine{};   // likewise, as of now; empty: not known
  std::function<int64_t()> now_s;                   // for health(); any thread
};

// Its destructor cancels the call that is under way. InvalidArgument: the address or a file cannot be. A service
// that does not answer is no error: health() says so, and the next window is tried anew.
absl::StatusOr<std::unique_ptr<ExternalRecommender>> ConnectExternalRecommender(
    const ExternalRecommenderOptions& options);

}  // namespace taut::server
