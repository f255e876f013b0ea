#include "server/kubernetes/watch/workload_index.h"

#include "common/base/strings.h"

namespace taut::server {
namespace {

// Returns the key of the workload without a group, which is its key in groups_.
std::string WholeKey(const WorkloadName& workload) {
  return WorkloadKey(workload.namespace_name, workload.kind, workload.name);
}

}  // namespace

WorkloadIndex::Place WorkloadIndex::Put(std::string_view key, const PodPtr* pod,
                                        const WorkloadName& workload) {
  Place out{WorkloadKey(workload), nullptr};
  Group& group = workloads_[out.key];
  if (group.workload == nullptr) group.workload = std::make_shared<const WorkloadName>(workload);
  group.pods.emplace(key, pod);
  out.workload = group.workload;
  if (!workload.group.empty()) groups_[WholeKey(workload)].insert(workload.group);
  return out;
}

void WorkloadIndex::Remove(std::string_view key, const Place& place) {
  const auto it = workloads_.find(place.key);
  if (it == workloads_.end()) return;
  it->second.pods.erase(key);
  if (!it->second.pods.empty()) return;
  workloads_.erase(it);
  if (place.workload->group.empty()) return;
  const auto groups = groups_.find(WholeKey(*place.workload));
  if (groups == groups_.end()) return;
  groups->second.erase(place.workload->group);
  if (groups->second.empty()) groups_.erase(groups);
}

const WorkloadIndex::Pods* WorkloadIndex::Find(const std::string& key) const {
  const auto it = workloads_.find(key);
  return it == workloads_.end() ? nullptr : &it->second.pods;
}

std::vector<std::string> WorkloadIndex::GroupsOfKey(const std::string& workload) const {
  std::vector<std::string> out;
  if (workloads_.contains(workload)) out.emplace_back();
  const auto groups = groups_.find(workload);
  if (groups != groups_.end()) out.insert(out.end(), groups->second.begin(), groups->second.end());
  return out;
}

std::vector<std::string> WorkloadIndex::PodsOfAll(const std::string& workload) const {
  std::vector<std::string> out;
  for (const std::string& group : GroupsOfKey(workload)) {
    for (const auto& [pod, entry] : workloads_.at(KeyOfGroup(workload, group)).pods) out.emplace_back(pod);
  }
  return out;
}

std::vector<std::string> WorkloadIndex::GroupsOf(const WorkloadName& workload) const {
  return GroupsOfKey(WholeKey(workload));
}

bool WorkloadIndex::IsSplit(const WorkloadName& workload) const {
  return groups_.contains(WholeKey(workload));
}

std::vector<std::string> WorkloadIndex::Kinds() const {
  std::set<std::string> out;
  for (const auto& [key, group] : workloads_) out.insert(group.workload->kind);
  return {out.begin(), out.end()};
}

}  // namespace taut::server
