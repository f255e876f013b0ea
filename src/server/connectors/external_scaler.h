// A gRPC server that serves a job's number of replicas to KEDA (KEDA's external scaler,
// proto/external_scaler.proto).
//
// The only metric is tautline_replicas with target 1, so that KEDA's HPA sets as many replicas as the metric's
// value. An order of 0 replicas is sent as the value 0 and as inactive, so that KEDA scales to zero. An unknown
// number is an error and never 0. KEDA then keeps the number of replicas, or uses the `fallback` of the
// ScaledObject.
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

// The object that KEDA scales, as named in KEDA's request.
struct ScaledObject {
  std::string name, name_space;
  std::map<std::string, std::string> metadata;  // metadata of the trigger
};

// Returns the name of the job: the metadata key `job`, else {cluster/}namespace/kind/name from the metadata. The
// kind is in lower case and defaults to deployment. Namespace and name default to the object's. InvalidArgument
// names a key that is empty or contains a slash.
absl::StatusOr<std::string> JobOfScaledObject(const ScaledObject& object);

// Returns the ordered number of tasks of a job, at least 0. Returns NotFound if there is no such job, and
// FailedPrecondition if no number may be applied now, both with a remedy. Called concurrently by gRPC's threads;
// must not block for long.
using ReplicasOf = std::function<absl::StatusOr<int64_t>(const std::string& job)>;

struct ScalerServerOptions {
  std::vector<std::string> listen;         // addresses such as "127.0.0.1:7072"; port 0: any free port
  std::string certificate_file, key_file;  // paths of PEM files; TLS if both are set
  // CA of the clients' certificates, which TLS then requires; "": none
  std::string client_ca_file;
  int max_connections = 64;     // limit, also bounded by half of the process's file descriptors
  int max_streams = 1000;       // maximum number of open streams; further streams get RESOURCE_EXHAUSTED
  int stream_period_ms = 1000;  // interval at which the replicas of the streams' jobs are checked
};

struct ScalerServerCounts {
  uint64_t answered = 0;     // successful calls of GetMetrics, IsActive and GetMetricSpec
  uint64_t unknown_job = 0;  // calls that ended with NOT_FOUND
  uint64_t no_number = 0;    // calls that ended with FAILED_PRECONDITION
  uint64_t failed = 0;       // calls that ended with another error
  uint64_t streams = 0;      // number of open streams
  // Number of connections that were closed because of max_connections, including connections that were closed to
  // make room for new ones.
  uint64_t rejected_connections = 0;
};

class ScalerServer {
 public:
  // Starts a server. Returns an error if the address is in use, a file cannot be read, or an address other than
  // loopback has no client CA.
  static absl::StatusOr<std::unique_ptr<ScalerServer>> Start(const ScalerServerOptions& options,
                                                             ReplicasOf replicas_of);
  virtual ~ScalerServer() = default;  // calls Stop()
  // Returns the port of the first address.
  virtual int port() const = 0;
  virtual ScalerServerCounts counts() const = 0;
  // Ends all streams. `replicas_of` is not called after Stop() has returned.
  virtual void Stop() = 0;
};

}  // namespace taut::server
