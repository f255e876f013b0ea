// Changes that Tautline makes in a cluster: the interface, and its implementation over the API server.
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

// Not thread-safe. Errors as of ApiStatus: after Unavailable, DeadlineExceeded, Aborted and ResourceExhausted
// a retry may succeed.
class ClusterWriter {
 public:
  virtual ~ClusterWriter() = default;
  // `patch`: a strategic merge patch for pods/resize.
  virtual absl::Status ResizePod(const Pod& pod, std::string_view patch) = 0;
  // Sets the subresource scale, of any kind that has one (server/kubernetes/watch/scale_finder.h).
  virtual absl::Status Scale(const WorkloadName& workload, int64_t replicas) = 0;
  // Returns the containers of the workload's template with their owner's amounts. InvalidArgument if the kind
  // has no known template.
  virtual absl::StatusOr<std::vector<ContainerState>> Template(const WorkloadName& workload) = 0;
  // Returns the workload's object as JSON. InvalidArgument as for Template.
  virtual absl::StatusOr<std::string> Workload(const WorkloadName& workload) = 0;
  // `body`: for a server-side apply by kFieldManager. It also takes over its fields from managers that do not
  // apply.
  virtual absl::Status ApplyTemplate(const WorkloadName& workload, std::string_view body) = 0;
  // OK if the mutating webhook reviews new pods with this pod's labels in its namespace; FailedPrecondition
  // with the reason if not.
  virtual absl::Status CheckReviewed(const Pod& pod) = 0;
  // Evicts this pod and no other of the same name. ResourceExhausted if a PodDisruptionBudget forbids it now.
  virtual absl::Status Evict(const Pod& pod) = 0;
  // Seconds that the server's last response requested to wait before the next request (429, 503); 0: none.
  virtual double retry_after_s() const = 0;
};

// Writes through the API server. Not thread-safe.
class ApiWriter final : public ClusterWriter {
 public:
  // `webhook`: name of the MutatingWebhookConfiguration for CheckReviewed.
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
  // Thread-safe: the request in progress and all later ones fail.
  void Interrupt() { client_->Interrupt(); }

 private:
  // InvalidArgument if the kind has no scale.
  absl::StatusOr<std::string> ScaledPath(const WorkloadName& workload);

  std::unique_ptr<ApiClient> client_;
  const std::string webhook_;
  ScaleFinder scales_;
};

// True if a retry may succeed without anyone's action.
bool MayPass(const absl::Status& status);

// Returns "/apis/apps/v1/namespaces/shop/deployments/web". InvalidArgument for a kind without a pod template.
absl::StatusOr<std::string> WorkloadPath(const WorkloadName& workload);
// Returns the path of a list that contains only this workload, or nothing.
absl::StatusOr<std::string> WorkloadListPath(const WorkloadName& workload);

}  // namespace taut::server
