// Kinds that the API server names in discovery, such as those of custom resources (a Rollout, a CloneSet), and
// where the scale of a workload of a kind with the subresource `scale` is.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

struct FoundKind {
  std::string kind;         // "Rollout"
  std::string api_version;  // "argoproj.io/v1alpha1"
  std::string plural;       // "rollouts"
  bool has_scale = false;
  bool can_list = false, can_patch = false;
};
// "/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/web".
std::string ObjectPath(const FoundKind& kind, const WorkloadName& workload);

// Not thread-safe. Discovery is a request for the list of groups and one for each group: asked when a kind is
// looked for, and again after kFreshS, or after kMissedS if the kind was not there.
class ScaleFinder {
 public:
  static constexpr double kFreshS = 600, kMissedS = 60;
  struct Options {
    std::function<absl::StatusOr<std::string>(const std::string& path)> get;  // from the API server
    std::function<double()> steady_s;
  };
  explicit ScaleFinder(Options options) : options_(std::move(options)) {}

  // "/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/web". InvalidArgument: no namespaced kind of this name
  // has a scale, or kinds of several groups have (names them). Unavailable: the kind is not found, and a group
  // did not answer.
  absl::StatusOr<std::string> PathOf(const WorkloadName& workload);
  // A namespaced kind of an API group that can be listed, by its name in lower case. Errors as those of PathOf.
  absl::StatusOr<FoundKind> Find(const std::string& kind);

 private:
  absl::Status Discover();
  // The only one of the kind that is `wanted`; "the owner is a KIND, and " begins the error.
  absl::StatusOr<FoundKind> Only(const std::string& kind, bool FoundKind::*wanted, std::string_view what);
  // Adds the kinds of one group.
  absl::Status TakeGroup(const std::string& group_version);

  Options options_;
  bool asked_ = false;
  double asked_s_ = 0;
  absl::Status missing_;                                 // of a group that did not answer
  std::map<std::string, std::vector<FoundKind>> kinds_;  // by the kind in lower case, of each group
};

}  // namespace taut::server
