// Finds kinds, such as custom resources, in the API server's discovery, and the paths of workloads whose kind has
// the subresource `scale`.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

// A namespaced kind of objects in an API group.
struct FoundKind {
  std::string kind;         // kind such as "Rollout"
  std::string api_version;  // version such as "argoproj.io/v1alpha1"
  std::string plural;       // plural such as "rollouts"
  bool has_scale = false;
  bool can_list = false, can_patch = false;
};
// Returns the path of a workload of this kind, such as "/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/web".
std::string ObjectPath(const FoundKind& kind, const WorkloadName& workload);

// Caches the discovery, which takes one request for the list of groups and one per group. A look-up repeats the
// discovery if it is older than kFreshS, or if it does not contain the kind and is older than kMissedS. Not
// thread-safe.
class ScaleFinder {
 public:
  static constexpr double kFreshS = 600, kMissedS = 60;
  struct Options {
    std::function<absl::StatusOr<std::string>(const std::string& path)> get;  // sends a GET to the API server
    std::function<double()> steady_s;
  };
  explicit ScaleFinder(Options options) : options_(std::move(options)) {}

  // Returns the path of the workload, such as "/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/web". Returns
  // InvalidArgument if no namespaced kind of this name has a scale. If kinds in several groups have a scale,
  // returns InvalidArgument with the names of the groups. Returns Unavailable if the kind is not found and a group
  // did not respond.
  absl::StatusOr<std::string> PathOf(const WorkloadName& workload);
  // Returns the namespaced kind with this name, in lower case, that can be listed. Returns the errors of PathOf().
  absl::StatusOr<FoundKind> Find(const std::string& kind);

 private:
  absl::Status Discover();
  // Returns the only kind with this name for which `wanted` is true. `what` is the end of the error's text.
  absl::StatusOr<FoundKind> Only(const std::string& kind, bool FoundKind::*wanted, std::string_view what);
  // Adds the kinds of one group to kinds_.
  absl::Status TakeGroup(const std::string& group_version);

  Options options_;
  bool asked_ = false;
  double asked_s_ = 0;
  absl::Status missing_;  // error of the first group that did not respond
  // Kinds, one for each group, by the kind's name in lower case.
  std::map<std::string, std::vector<FoundKind>> kinds_;
};

}  // namespace taut::server
