// The containers of a cluster's pods: the pod of each container ID, and the containers whose usage is not
// counted.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "server/kubernetes/client/pod.h"

namespace taut::server {

// An index by container ID and by container name. Thread-safe.
class ContainerIndex {
 public:
  // Replaces the containers of one pod. `pod` is the pod's ObjectKey. `before` is nullptr if the pod is new;
  // `now` is nullptr if the pod is gone.
  void Replace(const std::string& pod, const Pod* before, const Pod* now);
  // Returns the ObjectKey of the pod that has the container with this ID (ContainerState::id); nullopt if no
  // pod has it.
  std::optional<std::string> PodOf(std::string_view id) const;
  // Returns true if the container's usage is not counted because Pod::left_out names the container.
  bool IsLeftOut(std::string_view namespace_name, std::string_view pod, std::string_view container) const;

 private:
  mutable std::mutex mutex_;
  absl::flat_hash_map<std::string, std::string> pods_;  // ObjectKey of the pod, by ContainerState::id
  absl::flat_hash_set<std::string> left_out_;           // such as "namespace/Pod/name/container"
};

}  // namespace taut::server
