// Of Cluster: the groups of pods whose workload is split.
#include <algorithm>
#include <iterator>

#include "common/base/strings.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

SplitBy Cluster::SplitOfPod(const Pod& pod) const {
  if (splits_.empty() && !by_nodes_) return SplitBy::kNone;
  const auto it = splits_.find(WorkloadKey(pod.namespace_name, KindInNames(pod.owner_kind), pod.owner_name));
  return SplitOf(pod.owner_kind, it == splits_.end() ? "" : it->second.annotation, by_nodes_);
}

// `before`: the same pod's last version, if there is one.
std::optional<std::string> Cluster::GroupNow(const Pod& pod, const Pod* before) const {
  const std::optional<std::string> was = before == nullptr ? std::nullopt : before->group;
  switch (SplitOfPod(pod)) {
    case SplitBy::kNone:
      break;
    case SplitBy::kOrdinal:
      return OrdinalGroup(pod.name, pod.owner_name);
    case SplitBy::kNode: {
      std::optional<std::string> group = nodes_.GroupOf(pod.node.empty() ? pod.pinned_node : pod.node);
      // A pod outlives its node for a while.
      return group.has_value() ? group : std::optional(was.value_or(""));
    }
  }
  return was.has_value() ? std::optional<std::string>("") : std::nullopt;
}

void Cluster::SetGroup(Pod& pod, const Pod* before) const {
  pod.group = GroupNow(pod, before);
  const bool is_same = before != nullptr && before->group == pod.group;
  pod.regrouped = is_same ? before->regrouped : regrouped_;
}

void Cluster::Regroup(const std::string& key) {
  Entry& entry = pods_.at(key);
  if (GroupNow(*entry.pod, entry.pod.get()) == entry.pod->group) return;
  Pod pod = *entry.pod;
  SetGroup(pod, entry.pod.get());
  Unplace(key, entry);
  entry.pod = std::make_shared<const Pod>(std::move(pod));
  owners_.Learn(key, StrCat(entry.pod->owner_kind, "/", OwnerOf(*entry.pod)));
  changed_pods_.insert(key);
  Place(key);
}

void Cluster::RegroupNodes(const std::vector<std::string>& nodes) {
  if (!by_nodes_) return;
  bool is_counted = false;
  for (const std::string& node : nodes) {
    const auto pods = daemon_pods_.find(node);
    if (pods == daemon_pods_.end()) continue;
    if (!is_counted) ++regrouped_;
    is_counted = true;
    for (const std::string& key : pods->second) Regroup(key);
  }
}

void Cluster::NoteSplit(const std::string& kind, const OwnedObject& object, bool is_gone) {
  const std::string workload = WorkloadKey(object.namespace_name, KindInNames(kind), object.name);
  const auto it = splits_.find(workload);
  const std::string before = it == splits_.end() ? "" : it->second.annotation;
  const std::string now = is_gone ? "" : object.split;
  if (before == now) return;
  if (now.empty()) {
    splits_.erase(it);
  } else {
    splits_.insert_or_assign(workload, SplitOrder{object.namespace_name, kind, object.name, now});
  }
  ++regrouped_;
  for (const std::string& key : KeysOfPods(KeysOf(workload))) Regroup(key);
}

void Cluster::ReplaceSplits(const std::string& kind, const std::vector<OwnedObject>& objects) {
  const std::lock_guard lock(mutex_);
  absl::flat_hash_map<std::string, SplitOrder> gone = splits_;
  absl::erase_if(gone, [&kind](const auto& item) { return item.second.kind != kind; });
  for (const OwnedObject& object : objects) {
    gone.erase(WorkloadKey(object.namespace_name, KindInNames(kind), object.name));
    NoteSplit(kind, object, false);
  }
  for (const auto& [workload, split] : gone) {
    OwnedObject object;
    object.namespace_name = split.namespace_name;
    object.name = split.name;
    NoteSplit(kind, object, true);
  }
  awaited_.erase(kind);
}

void Cluster::PutSplit(const std::string& kind, const OwnedObject& object) {
  const std::lock_guard lock(mutex_);
  NoteSplit(kind, object, false);
}

void Cluster::RemoveSplit(const std::string& kind, const OwnedObject& object) {
  const std::lock_guard lock(mutex_);
  NoteSplit(kind, object, true);
}

void Cluster::AwaitNothing() {
  const std::lock_guard lock(mutex_);
  awaited_.clear();
  awaits_nodes_ = false;
}

std::vector<std::string> Cluster::KeysOf(const std::string& workload) const {
  std::vector<std::string> out;
  if (workloads_.contains(workload)) out.push_back(workload);
  const auto groups = groups_.find(workload);
  if (groups == groups_.end()) return out;
  for (const std::string& group : groups->second)
    out.push_back(StrCat(workload, std::string(1, kGroupMark), group));
  return out;
}

std::vector<std::string> Cluster::KeysOfPods(const std::vector<std::string>& workloads) const {
  std::vector<std::string> out;
  for (const std::string& workload : workloads) {
    for (const auto& [key, entry] : workloads_.at(workload).pods) out.emplace_back(key);
  }
  return out;
}

std::vector<std::string> Cluster::GroupsOf(const WorkloadName& workload) const {
  const std::string base = WorkloadKey(workload.namespace_name, workload.kind, workload.name);
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const std::string& key : KeysOf(base))
    out.push_back(key.size() == base.size() ? "" : key.substr(base.size() + 1));
  return out;
}

std::vector<PodPtr> Cluster::PodsOfAll(const WorkloadName& workload, bool also_leaving) const {
  std::vector<PodPtr> out;
  WorkloadName of = workload;
  for (std::string& group : GroupsOf(workload)) {
    of.group = std::move(group);
    std::vector<PodPtr> pods = PodsOf(of, also_leaving);
    out.insert(out.end(), std::make_move_iterator(pods.begin()), std::make_move_iterator(pods.end()));
  }
  return out;
}

bool Cluster::IsSplit(const WorkloadName& workload) const {
  const std::lock_guard lock(mutex_);
  return groups_.contains(WorkloadKey(workload.namespace_name, workload.kind, workload.name));
}

std::string Cluster::WrongSplitOf(const WorkloadName& workload) const {
  const std::lock_guard lock(mutex_);
  const auto it = splits_.find(WorkloadKey(workload.namespace_name, workload.kind, workload.name));
  return it == splits_.end() ? "" : WrongSplit(it->second.kind, it->second.annotation, by_nodes_);
}

size_t Cluster::num_groups_left_out() const {
  const std::lock_guard lock(mutex_);
  return nodes_.num_left_out();
}

}  // namespace taut::server
