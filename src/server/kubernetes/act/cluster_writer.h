// What Tautline changes in a cluster: the interface, and its implementation over the API server.
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

// One object, one thread. Errors as ApiStatus: Unavailable, DeadlineExceeded, Aborted and ResourceExhausted may
// succeed later.
class ClusterWriter {
 public:
  virtual ~ClusterWriter() = default;
  // `patch`: a strategic merge patch of pods/resize.
  virtual absl::Status ResizePod(const Pod& pod, std::string_view patch) = 0;
  // Through the subresource scale, of any kind that has one (server/kubernetes/watch/scale_finder.h).
  virtual absl::Status Scale(const WorkloadName& workload, int64_t replicas) = 0;
  // The containers of the workload's template, as its owner wants them. InvalidArgument: its kind has none that
  // is known.
  virtual absl::StatusOr<std::vector<ContainerState>> Template(const WorkloadName& workload) = 0;
  // The workload as the API server has it, JSON. InvalidArgument: as Template.
  virtual absl::StatusOr<std::string> Workload(const WorkloadName& workload) = 0;
  // `body`: for a server-side apply by kFieldManager, which takes its fields from managers that do not apply, too.
  virtual absl::Status ApplyTemplate(const WorkloadName& workload, std::string_view body) = 0;
  // OK: the mutating webhook reviews new pods with the labels of this one in its namespace. FailedPrecondition:
  // why it does not.
  virtual absl::Status CheckReviewed(const Pod& pod) = 0;
  // Of this pod and no other of the same name. ResourceExhausted: a PodDisruptionBudget forbids it now.
  virtual absl::Status Evict(const Pod& pod) = 0;
  // How long the server asked to wait before the next request (429, 503), in its last answer; 0: it did not.
  virtual double retry_after_s() const = 0;
};

class ApiWriter final : public ClusterWriter {
 public:
  // `webhook`: the MutatingWebhookConfiguration of CheckReviewed.
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
  // From any thread: requests under way and later ones fail.
  void Interrupt() { client_->Interrupt(); }

 private:
  // InvalidArgument: the kind has no scale.
  absl::StatusOr<std::string> ScaledPath(const WorkloadName& workload);

  std::unique_ptr<ApiClient> client_;
  const std::string webhook_;
  ScaleFinder scales_;
};

// Whether a request may succeed later without anybody doing anything.
bool MayPass(const absl::Status& status);

// "/apis/apps/v1/namespaces/shop/deployments/web". InvalidArgument: a kind without a pod template.
absl::StatusOr<std::string> WorkloadPath(const WorkloadName& workload);
// Of a list that has this workload alone, or nothing.
absl::StatusOr<std::string> WorkloadListPath(const WorkloadName& workload);

}  // namespace taut::server
