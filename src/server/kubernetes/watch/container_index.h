// The containers of a cluster's pods: the pod of each ID, and the containers whose usage does not count.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "server/kubernetes/client/pod.h"

namespace taut::server {

// Thread-safe.
class ContainerIndex {
 public:
  // Replaces the containers of one pod, whose key is `pod`. nullptr: the pod was not there, or is gone.
  void Replace(const std::string& pod, const Pod* before, const Pod* now);
  // Key of the pod whose container has this ID (ContainerState::id), or nullopt.
  std::optional<std::string> PodOf(std::string_view id) const;
  // True if Pod::left_out names the container.
  bool IsLeftOut(std::string_view namespace_name, std::string_view pod, std::string_view container) const;

 private:
  mutable std::mutex mutex_;
  absl::flat_hash_map<std::string, std::string> pods_;  // by ContainerState::id
  absl::flat_hash_set<std::string> left_out_;           // "namespace/Pod/name/container"
};

}  // namespace taut::server
