// A gRPC server that KEDA asks for the number of replicas of a job (external scaler, protocol
// proto/external_scaler.proto).
//
// The one metric is tautline_replicas with target 1, so that the HPA that KEDA makes sets as many replicas as
// the metric's value. An ordered 0 is the value 0 and not active, which lets KEDA go to zero. A number that is
// not known is an error and never 0: KEDA then leaves the number of replicas alone, or takes the `fallback` of
// the ScaledObject.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taut::server {

// What KEDA says of the object that it scales.
struct ScaledObject {
  std::string name, name_space;
  std::map<std::string, std::string> metadata;  // of the trigger
};

// The job's name: metadata `job`; without it {cluster/}namespace/kind/name of the metadata, with the kind in
// lower case (default: deployment) and namespace and name by default the object's own. InvalidArgument naming
// the key that is empty or has a slash.
absl::StatusOr<std::string> JobOfScaledObject(const ScaledObject& object);

// The number of tasks ordered for a job, at least 0. NotFound: no such job; FailedPrecondition: there is no
// number that may be acted on. Both with what to do about it. Called from gRPC's threads, side by side; must
// not block for long.
using ReplicasOf = std::function<absl::StatusOr<int64_t>(const std::string& job)>;

struct ScalerServerOptions {
  std::vector<std::string> listen;         // "127.0.0.1:7072"; port 0: any
  std::string certificate_file, key_file;  // PEM; both: TLS
  std::string client_ca_file;              // with TLS: clients must have a certificate of this CA
  int max_connections = 64;                // also at most half of the descriptors that the process may open
  int max_streams = 1000;                  // of StreamIsActive; above: RESOURCE_EXHAUSTED
  int stream_period_ms = 1000;             // how often a stream's number is looked at
};

struct ScalerServerCounts {
  uint64_t answered = 0;              // GetMetrics, IsActive and GetMetricSpec with an answer
  uint64_t unknown_job = 0;           // NOT_FOUND
  uint64_t no_number = 0;             // FAILED_PRECONDITION
  uint64_t failed = 0;                // with another error
  uint64_t streams = 0;               // now
  uint64_t rejected_connections = 0;  // closed, also to make room for others: above max_connections
};

class ScalerServer {
 public:
  // Errors: the address is taken, a file cannot be read, an address other than loopback without client CA.
  static absl::StatusOr<std::unique_ptr<ScalerServer>> Start(const ScalerServerOptions& options,
                                                             ReplicasOf replicas_of);
  virtual ~ScalerServer() = default;  // Stop()
  // Of the first address.
  virtual int port() const = 0;
  virtual ScalerServerCounts counts() const = 0;
  // Ends all streams; `replicas_of` is not called any more after it.
  virtual void Stop() = 0;
};

}  // namespace taut::server
