// Finds the pod of a container ID, and the containers whose usage does not count.
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
  // Replaces the containers of the pod with ObjectKey `pod`. `before` is null for a new pod, and `now` is null for
  // a deleted pod.
  void Replace(const std::string& pod, const Pod* before, const Pod* now);
  // Returns the ObjectKey of the pod with this container ID (ContainerState::id); nullopt if there is none.
  std::optional<std::string> PodOf(std::string_view id) const;
  // Returns true if the container is in Pod::left_out, so that its usage does not count.
  bool IsLeftOut(std::string_view namespace_name, std::string_view pod, std::string_view container) const;

 private:
  mutable std::mutex mutex_;
  absl::flat_hash_map<std::string, std::string> pods_;  // ObjectKey of the pod by ContainerState::id
  absl::flat_hash_set<std::string> left_out_;           // keys such as "namespace/Pod/name/container"
};

}  // namespace taut::server
