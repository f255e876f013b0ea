#include "server/kubernetes/watch/container_index.h"

#include "common/base/strings.h"
#include "server/kubernetes/watch/cluster_owners.h"

namespace taut::server {

void ContainerIndex::Replace(const std::string& pod, const Pod* before, const Pod* now) {
  const std::lock_guard lock(mutex_);
  if (before != nullptr) {
    for (const ContainerState& container : before->containers) pods_.erase(container.id);
    for (const std::string& name : before->left_out) left_out_.erase(StrCat(pod, "/", name));
  }
  if (now == nullptr) return;
  for (const ContainerState& container : now->containers) {
    if (!container.id.empty()) pods_.insert_or_assign(container.id, pod);
  }
  for (const std::string& name : now->left_out) left_out_.insert(StrCat(pod, "/", name));
}

std::optional<std::string> ContainerIndex::PodOf(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto it = pods_.find(std::string(id));
  return it == pods_.end() ? std::nullopt : std::optional(it->second);
}

bool ContainerIndex::IsLeftOut(std::string_view namespace_name, std::string_view pod,
                               std::string_view container) const {
  const std::string key = StrCat(ObjectKey("Pod", namespace_name, pod), "/", container);
  const std::lock_guard lock(mutex_);
  return left_out_.contains(key);
}

}  // namespace taut::server
