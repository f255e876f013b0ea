#include "server/kubernetes/watch/pod_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/strings.h"
#include "server/kubernetes/watch/owners_amounts.h"

namespace taut::server {
namespace {

std::string KeyOf(const Pod& pod) { return ObjectKey("Pod", pod.namespace_name, pod.name); }

// Returns the pod's node, or the node to which the pod is pinned before it is scheduled.
const std::string& NodeOf(const Pod& pod) { return pod.node.empty() ? pod.pinned_node : pod.node; }

// Returns the last state of a deleted pod if a container was killed by the OOM killer, else null. Only `last` may
// contain the kill, because the watch sends the pod's end together with its deletion.
PodPtr KilledWhenGone(const PodPtr& known, const Pod* last) {
  const bool is_news = last != nullptr && last->uid == known->uid && LastOomKill(*last) > LastOomKill(*known);
  if (!is_news && LastOomKill(*known) == 0) return nullptr;
  Pod pod = is_news ? *last : *known;
  pod.is_ended = true;
  pod.group = known->group;
  pod.regrouped = known->regrouped;
  return std::make_shared<const Pod>(std::move(pod));
}

bool HasContainer(const Pod& pod, std::string_view name) {
  return std::ranges::any_of(pod.containers, [name](const ContainerState& c) { return c.name == name; });
}

bool IsAskedFor(const Pod& pod, PodsThat which) {
  if (which == PodsThat::kAreThere) return true;
  return !pod.is_ended && (which == PodsThat::kHaveNotEnded || !pod.is_deleted);
}

}  // namespace

void PodTable::Place(std::pair<const std::string, Entry>& of) {
  auto& [key, entry] = of;
  const Pod& pod = *entry.pod;
  const TopOwner owner = owners_.OfPod(pod);
  entry.place =
      workloads_.Put(key, &entry.pod, {pod.namespace_name, owner.kind, owner.name, "", owner.group});
  changes_.NoteWorkload(entry.place.key);
}

void PodTable::Unplace(const std::string& key, const Entry& entry) {
  workloads_.Remove(key, entry.place);
  changes_.NoteWorkload(entry.place.key);
}

void PodTable::ShareFilter(Pod& pod) {
  if (pod.nodes == nullptr) return;
  std::weak_ptr<const NodeFilter>& shared = filters_[pod.nodes->key];
  if (std::shared_ptr<const NodeFilter> known = shared.lock(); known != nullptr) {
    pod.nodes = std::move(known);
    return;
  }
  shared = pod.nodes;
  // Remove expired filters when the map has doubled in size, so that the removal costs O(1) per pod on average.
  if (filters_.size() < clean_filters_at_) return;
  absl::erase_if(filters_, [](const auto& item) { return item.second.expired(); });
  clean_filters_at_ = std::max<size_t>(64, 2 * filters_.size());
}

void PodTable::LeaveNode(const std::string& key, const Pod& pod) {
  const auto on_node = daemon_pods_.find(NodeOf(pod));
  if (on_node == daemon_pods_.end()) return;
  on_node->second.erase(key);
  if (on_node->second.empty()) daemon_pods_.erase(on_node);
}

void PodTable::NoteOwnersAmounts(const Pod* before, Pod& pod) {
  KeepOwnersAmounts(before, pod);
  if (pod.owners_known) return;
  // A pod without a controller has no template, so only its annotation contains the owner's amounts.
  if (pod.admitted_by_us && pod.owner_kind.empty()) TakeNoted(nodes_.LargestFor(pod).amounts, pod);
  if (!pod.is_ended && !pod.owner_kind.empty())
    changes_.NoteUnknownOwner({pod.namespace_name, pod.owner_kind, pod.owner_name});
}

void PodTable::Insert(Pod pod) {
  ShareFilter(pod);
  auto& of = *pods_.try_emplace(KeyOf(pod)).first;
  auto& [key, entry] = of;
  const PodPtr before = entry.pod;
  SetGroup(pod, before.get());
  if (nodes_.has_groups() && pod.owner_kind == "DaemonSet") daemon_pods_[NodeOf(pod)].insert(key);
  NoteOwnersAmounts(before.get(), pod);
  if (before != nullptr) {
    Unplace(key, entry);
    if (NodeOf(*before) != NodeOf(pod)) LeaveNode(key, *before);
  }
  // Update the containers and the owners before Place(), which looks up the owner of the pod.
  containers_.Replace(key, before.get(), &pod);
  entry.pod = std::make_shared<const Pod>(std::move(pod));
  owners_.LearnPod(key, *entry.pod);
  changes_.NotePod(key, entry.pod);
  Place(of);
}

void PodTable::Erase(const std::string& key, const Pod* last) {
  const auto it = pods_.find(key);
  if (it == pods_.end()) return;
  const PodPtr pod = it->second.pod;
  Unplace(key, it->second);
  LeaveNode(key, *pod);
  containers_.Replace(key, pod.get(), nullptr);
  pods_.erase(it);
  owners_.ForgetPod(key);
  changes_.NoteGone(key, KilledWhenGone(pod, last));
}

void PodTable::Replace(std::vector<Pod> pods) {
  const std::lock_guard lock(mutex_);
  listed_ = true;
  std::set<std::string> listed;
  for (Pod& pod : pods) {
    listed.insert(KeyOf(pod));
    Insert(std::move(pod));
  }
  std::vector<std::string> gone;
  for (const auto& [key, entry] : pods_) {
    if (!listed.contains(key)) gone.push_back(key);
  }
  for (const std::string& key : gone) Erase(key);
}

void PodTable::Put(Pod pod) {
  const std::lock_guard lock(mutex_);
  Insert(std::move(pod));
}

void PodTable::Remove(const Pod& pod) {
  const std::lock_guard lock(mutex_);
  Erase(KeyOf(pod), &pod);
}

void PodTable::FindOwnersOf(const std::vector<std::string>& pods) {
  const std::lock_guard lock(mutex_);
  for (const std::string& key : pods) {
    const auto it = pods_.find(key);
    if (it == pods_.end()) continue;
    Unplace(key, it->second);
    Place(*it);
  }
}

// Returns the pod's group. `before` is the previous version of the pod; null if the pod is new.
std::optional<std::string> PodTable::GroupNow(const Pod& pod, const Pod* before) const {
  const std::optional<std::string> was = before == nullptr ? std::nullopt : before->group;
  switch (splits_.Of(pod)) {
    case SplitBy::kNone:
      break;
    case SplitBy::kOrdinal:
      return OrdinalGroup(pod.name, pod.owner_name);
    case SplitBy::kNode: {
      std::optional<std::string> group = nodes_.GroupOf(NodeOf(pod));
      // A pod may outlive its node for a while. Its job must not change in this time.
      return group.has_value() ? group : std::optional(was.value_or(""));
    }
  }
  return was.has_value() ? std::optional<std::string>("") : std::nullopt;
}

void PodTable::SetGroup(Pod& pod, const Pod* before) const {
  pod.group = GroupNow(pod, before);
  const bool is_same = before != nullptr && before->group == pod.group;
  pod.regrouped = is_same ? before->regrouped : regrouped_;
}

void PodTable::Regroup(const std::string& key) {
  const auto it = pods_.find(key);
  Entry& entry = it->second;
  if (GroupNow(*entry.pod, entry.pod.get()) == entry.pod->group) return;
  Pod pod = *entry.pod;
  SetGroup(pod, entry.pod.get());
  Unplace(key, entry);
  entry.pod = std::make_shared<const Pod>(std::move(pod));
  owners_.LearnPod(key, *entry.pod);
  changes_.NotePod(key, entry.pod);
  Place(*it);
}

void PodTable::RegroupNodes(const std::vector<std::string>& nodes) {
  const std::lock_guard lock(mutex_);
  bool is_counted = false;
  for (const std::string& node : nodes) {
    const auto pods = daemon_pods_.find(node);
    if (pods == daemon_pods_.end()) continue;
    if (!is_counted) ++regrouped_;
    is_counted = true;
    for (const std::string& key : pods->second) Regroup(key);
  }
}

void PodTable::RegroupWorkload(const std::string& workload) {
  const std::lock_guard lock(mutex_);
  ++regrouped_;
  for (const std::string& key : workloads_.PodsOfAll(workload)) Regroup(key);
}

void PodTable::SetOwnersAmounts(const PodController& controller,
                                const std::vector<ContainerState>* in_template) {
  const TopOwner owner = owners_.Of(controller.namespace_name, controller.kind, controller.name);
  const std::lock_guard lock(mutex_);
  for (const std::string& key :
       workloads_.PodsOfAll(WorkloadKey(controller.namespace_name, owner.kind, owner.name))) {
    Entry& entry = pods_.at(key);
    if (entry.pod->owners_known || entry.pod->owner_kind != controller.kind ||
        entry.pod->owner_name != controller.name) {
      continue;
    }
    if (in_template == nullptr && !entry.pod->admitted_by_us) continue;
    Pod pod = *entry.pod;
    const Amounts most = nodes_.LargestFor(pod).amounts;
    if (in_template == nullptr) {
      TakeNoted(most, pod);
    } else {
      TakeFromTemplate(*in_template, most, pod);
    }
    entry.pod = std::make_shared<const Pod>(std::move(pod));
    changes_.NotePod(key, entry.pod);
    changes_.NoteWorkload(entry.place.key);
  }
}

std::optional<size_t> PodTable::size() const {
  const std::lock_guard lock(mutex_);
  return listed_ ? std::optional(pods_.size()) : std::nullopt;
}

std::optional<PodTable::SeenPod> PodTable::Find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto it = pods_.find(key);
  if (it == pods_.end()) return std::nullopt;
  return SeenPod{it->second.pod, it->second.place.workload};
}

WorkloadName PodTable::WorkloadOf(const Pod& pod) const {
  const std::lock_guard lock(mutex_);
  const auto known = pods_.find(KeyOf(pod));
  if (known != pods_.end() && known->second.pod->uid == pod.uid) return *known->second.place.workload;
  if (pod.owner_kind.empty())
    return {pod.namespace_name, "pod", pod.program.empty() ? pod.name : pod.program, ""};
  const TopOwner owner = owners_.OfNewPod(pod);
  const std::optional<std::string> group = pod.group.has_value() ? pod.group : GroupNow(pod, nullptr);
  return {pod.namespace_name, owner.kind, owner.name, "", group.value_or("")};
}

std::optional<WorkloadName> PodTable::WorkloadOfPod(std::string_view namespace_name,
                                                    std::string_view pod) const {
  const std::string key = ObjectKey("Pod", namespace_name, pod);
  const std::lock_guard lock(mutex_);
  const auto known = pods_.find(key);
  return known == pods_.end() ? std::nullopt : std::optional(*known->second.place.workload);
}

void PodTable::ForEach(absl::FunctionRef<void(const PodPtr&, const WorkloadName& workload)> fn) const {
  std::vector<SeenPod> pods;
  {
    const std::lock_guard lock(mutex_);
    pods.reserve(pods_.size());
    for (const auto& [key, entry] : pods_) pods.push_back({entry.pod, entry.place.workload});
  }
  for (const SeenPod& seen : pods) fn(seen.pod, *seen.workload);
}

std::vector<PodPtr> PodTable::Of(const WorkloadName& workload, PodsThat which) const {
  std::vector<PodPtr> out;
  const std::string of = WorkloadKey(workload);
  const std::lock_guard lock(mutex_);
  const WorkloadIndex::Pods* const pods = workloads_.Find(of);
  if (pods == nullptr) return out;
  for (const auto& [key, pod] : *pods) {
    if (!IsAskedFor(**pod, which)) continue;
    if (!workload.container.empty() && !HasContainer(**pod, workload.container)) continue;
    out.push_back(*pod);
  }
  return out;
}

std::vector<PodPtr> PodTable::OfAll(const WorkloadName& workload, PodsThat which) const {
  std::vector<PodPtr> out;
  WorkloadName of = workload;
  for (std::string& group : GroupsOf(workload)) {
    of.group = std::move(group);
    std::ranges::move(Of(of, which), std::back_inserter(out));
  }
  return out;
}

std::vector<std::string> PodTable::GroupsOf(const WorkloadName& workload) const {
  const std::lock_guard lock(mutex_);
  return workloads_.GroupsOf(workload);
}

bool PodTable::IsSplit(const WorkloadName& workload) const {
  const std::lock_guard lock(mutex_);
  return workloads_.IsSplit(workload);
}

std::vector<std::string> PodTable::OwnerKinds() const {
  const std::lock_guard lock(mutex_);
  return workloads_.Kinds();
}

}  // namespace taut::server
