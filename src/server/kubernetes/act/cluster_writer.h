// The changes that Tautline makes in a cluster: the interface, and its implementation for the API server.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/kubernetes/client/api_client.h"
#include "server/kubernetes/client/objects.h"
#include "server/kubernetes/watch/cluster.h"
#include "server/kubernetes/watch/scale_finder.h"

namespace taut::server {

// Writes to a cluster. Functions return the errors of ApiStatus(). After Unavailable, DeadlineExceeded, Aborted
// and ResourceExhausted, a retry may succeed. Not thread-safe.
class ClusterWriter {
 public:
  virtual ~ClusterWriter() = default;
  // Resizes containers of a pod in place. `patch` is a strategic merge patch for pods/resize.
  virtual absl::Status ResizePod(const Pod& pod, std::string_view patch) = 0;
  // Sets the number of replicas through the scale subresource, which the workload's kind must have
  // (server/kubernetes/watch/scale_finder.h).
  virtual absl::Status Scale(const WorkloadName& workload, int64_t replicas) = 0;
  // Returns the containers of the workload's template, with the owner's amounts. Returns InvalidArgument if the
  // kind has no known template.
  virtual absl::StatusOr<std::vector<ContainerState>> Template(const WorkloadName& workload) = 0;
  // Returns the workload as JSON. Returns InvalidArgument if the kind has no known template.
  virtual absl::StatusOr<std::string> Workload(const WorkloadName& workload) = 0;
  // Applies `body` to the workload by server-side apply with the manager kFieldManager. Takes ownership of the
  // fields in `body`, even if another manager has set them.
  virtual absl::Status ApplyTemplate(const WorkloadName& workload, std::string_view body) = 0;
  // Returns OK if the mutating webhook reviews new pods with this pod's labels and namespace. Otherwise returns
  // FailedPrecondition with the reason.
  virtual absl::Status CheckReviewed(const Pod& pod) = 0;
  // Evicts this pod, and never a later pod of the same name. Returns ResourceExhausted if a PodDisruptionBudget
  // forbids the eviction now.
  virtual absl::Status Evict(const Pod& pod) = 0;
  // Returns the delay that the last response (429, 503) requested, in seconds; 0 if none.
  virtual double retry_after_s() const = 0;
};

// Writes to a cluster through its API server. Not thread-safe.
class ApiWriter final : public ClusterWriter {
 public:
  // `webhook` is the name of the MutatingWebhookConfiguration for CheckReviewed().
  explicit ApiWriter(std::unique_ptr<ApiClient> client, std::string webhook = "");
  ApiWriter(const ApiWriter&) = delete;
  ApiWriter& operator=(const ApiWriter&) = delete;
  absl::Status ResizePod(const Pod& pod, std::string_view patch) override;
  absl::Status Scale(const WorkloadName& workload, int64_t replicas) override;
  absl::StatusOr<std::vector<ContainerState>> Template(const WorkloadName& workload) override;
  absl::StatusOr<std::string> Workload(const WorkloadName& workload) override;
  absl::Status ApplyTemplate(const WorkloadName& workload, std::string_view body) override;
  absl::Status CheckReviewed(const Pod& pod) override;
  absl::Status Evict(const Pod& pod) override;
  double retry_after_s() const override { return client_->retry_after_s(); }
  // Makes the current request and all later requests fail. Thread-safe.
  void Interrupt() { client_->Interrupt(); }

 private:
  // Returns the path of the workload's scale. Returns InvalidArgument if the kind has no scale.
  absl::StatusOr<std::string> ScaledPath(const WorkloadName& workload);

  std::unique_ptr<ApiClient> client_;
  const std::string webhook_;
  ScaleFinder scales_;
};

// Returns true if a retry may succeed without an administrator's action.
bool MayPass(const absl::Status& status);

// Returns the path of the workload, such as "/apis/apps/v1/namespaces/shop/deployments/web". Returns
// InvalidArgument if the kind has no pod template.
absl::StatusOr<std::string> WorkloadPath(const WorkloadName& workload);
// Returns the path of a list with only this workload, which is empty if the workload does not exist.
absl::StatusOr<std::string> WorkloadListPath(const WorkloadName& workload);

}  // namespace taut::server
