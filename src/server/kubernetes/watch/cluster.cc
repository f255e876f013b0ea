#include "server/kubernetes/watch/cluster.h"

#include <algorithm>
#include <iterator>

#include "common/base/strings.h"

namespace taut::server {
namespace {

std::string KeyOf(std::string_view kind, std::string_view namespace_name, std::string_view name) {
  return StrCat(namespace_name, "/", kind, "/", name);
}

// Where it runs, or will.
const std::string& NodeOf(const Pod& pod) { return pod.node.empty() ? pod.pinned_node : pod.node; }

// `before`: the same pod's last version, if there is one.
void KeepOwnersAmounts(const Pod* before, Pod& pod) {
  const bool is_same = before != nullptr && before->uid == pod.uid;
  pod.owners_known = !pod.resized || (is_same && before->owners_known);
  for (size_t i = 0; i < pod.containers.size(); ++i) {
    ContainerState& container = pod.containers[i];
    if (pod.admitted_by_us && (container.noted_limits != Amounts() || container.noted_requests != Amounts()))
      container.owner_limits = container.owner_requests = Amounts();
    if (!pod.resized) {
      container.owner_limits = container.limits;
      container.owner_requests = container.requests;
    } else if (is_same && i < before->containers.size() && before->containers[i].name == container.name) {
      container.owner_limits = before->containers[i].owner_limits;
      container.owner_requests = before->containers[i].owner_requests;
    }
  }
}

// What an annotation says is believed of no more than the pod could have.
std::optional<double> Believed(const std::optional<double>& noted, const std::optional<double>& most) {
  return noted.has_value() && most.has_value() && *noted > *most ? std::nullopt : noted;
}

Amounts Believed(const Amounts& noted, const Amounts& most) {
  return {Believed(noted.cpu, most.cpu), Believed(noted.memory, most.memory)};
}

// A container that names a limit only has it as its request, too. Amounts that the template does not have may be
// of a LimitRange.
void TakeFromTemplate(const std::vector<ContainerState>& in_template, const Amounts& most, Pod& pod) {
  pod.owners_known = true;
  for (ContainerState& container : pod.containers) {
    const auto it = std::ranges::find(in_template, container.name, &ContainerState::name);
    if (it == in_template.end()) continue;
    const bool is_noted = it->noted_limits != Amounts() || it->noted_requests != Amounts();
    const Amounts noted_limits = Believed(container.noted_limits, most),
                  noted_requests = Believed(container.noted_requests, most);
    for (const Resource r : kPodResources) {
      std::optional<double> limit = it->limits.of(r), request = it->requests.of(r);
      if (is_noted) limit = Believed(limit, most.of(r));
      if (is_noted) request = Believed(request, most.of(r));
      container.owner_limits.of(r) = limit.has_value() ? limit : noted_limits.of(r);
      request = request.has_value() ? request : limit;
      container.owner_requests.of(r) = request.has_value() ? request : noted_requests.of(r);
    }
  }
}

// "registry:5000/app:1.2@sha256:0f" is "registry:5000/app".
std::string ImageWithoutTag(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const size_t colon = image.rfind(':'), slash = image.rfind('/');
  const bool has_tag = colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  return std::string(has_tag ? image.substr(0, colon) : image);
}

// "web:1.3" of "registry:5000/shop/web:1.3"; "web@0f0f0f0f0f0f" of a digest.
std::string ShortImage(std::string_view image) {
  constexpr size_t kDigits = 12;
  const size_t at = std::min(image.find('@'), image.size());
  const std::string_view name = image.substr(0, at);
  std::string out(name.substr(name.rfind('/') == std::string_view::npos ? 0 : name.rfind('/') + 1));
  const std::string_view digest = image.substr(at);
  const size_t colon = digest.find(':');
  if (colon != std::string_view::npos) StrAppend(&out, "@", digest.substr(colon + 1).substr(0, kDigits));
  return out;
}

// Of pods of a namespace with this owner, whose name ends with their group if they have one.
WorkloadName NameOf(const std::string& namespace_name, const TopOwner& owner, const std::string& group) {
  WorkloadName out{namespace_name, owner.kind, owner.name, "", group};
  if (group.empty()) return out;
  if (out.name.ends_with(StrCat(kGroupMark, group))) out.name.resize(out.name.size() - group.size() - 1);
  return out;
}

// Whether the container is the workload's: the named one, or with "" each.
bool IsOf(const WorkloadName& workload, const ContainerState& container) {
  return workload.container.empty() || workload.container == container.name;
}

constexpr size_t kMostGone = 10'000;

// A pod that is gone, if a container of it was killed: what the watch says of its end counts.
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
  return std::any_of(pod.containers.begin(), pod.containers.end(),
                     [name](const ContainerState& c) { return c.name == name; });
}

}  // namespace

std::string OwnerText(const std::string& kind, const std::string& name) {
  return kind.empty() ? "<none>/<none>" : StrCat(kind, "/", name);
}

std::string OwnerOf(const Pod& pod) {
  if (!pod.group.has_value()) return pod.owner_name;
  return StrCat(pod.owner_name, std::string(1, kGroupMark), *pod.group);
}

WorkloadName Cluster::WorkloadOf(const Pod& pod) const {
  const std::lock_guard lock(mutex_);
  const auto known = pods_.find(KeyOf("Pod", pod.namespace_name, pod.name));
  if (known != pods_.end() && known->second.pod->uid == pod.uid) return *known->second.workload;
  if (pod.owner_kind.empty())
    return {pod.namespace_name, "pod", pod.program.empty() ? pod.name : pod.program, ""};
  const TopOwner owner =
      owners_.TopOfNew(pod.namespace_name, pod.owner_kind, pod.owner_name, pod.name, pod.program);
  const std::optional<std::string> group = pod.group.has_value() ? pod.group : GroupNow(pod, nullptr);
  return {pod.namespace_name, owner.kind, owner.name, "", group.value_or("")};
}

std::optional<WorkloadName> Cluster::WorkloadOfPod(std::string_view namespace_name,
                                                   std::string_view pod) const {
  const std::lock_guard lock(mutex_);
  const auto known = pods_.find(KeyOf("Pod", namespace_name, pod));
  return known == pods_.end() ? std::nullopt : std::optional(*known->second.workload);
}

void Cluster::Place(const std::string& key) {
  const auto at = pods_.find(key);
  Entry& entry = at->second;
  const TopOwner owner = owners_.Find(entry.pod->namespace_name, entry.pod->name);
  const WorkloadName name = NameOf(entry.pod->namespace_name, owner, entry.pod->group.value_or(""));
  entry.key = WorkloadKey(name);
  PodsOfWorkload& workload = workloads_[entry.key];
  if (workload.name == nullptr) workload.name = std::make_shared<const WorkloadName>(name);
  workload.pods.emplace(at->first, &entry);
  entry.workload = workload.name;
  changed_.insert(entry.key);
  if (!name.group.empty()) groups_[WorkloadKey(name.namespace_name, name.kind, name.name)].insert(name.group);
}

void Cluster::Unplace(const std::string& key, const Entry& entry) {
  const auto it = workloads_.find(entry.key);
  if (it == workloads_.end()) return;
  changed_.insert(entry.key);
  it->second.pods.erase(key);
  if (!it->second.pods.empty()) return;
  workloads_.erase(it);
  const WorkloadName& name = *entry.workload;
  if (name.group.empty()) return;
  const auto groups = groups_.find(WorkloadKey(name.namespace_name, name.kind, name.name));
  if (groups == groups_.end()) return;
  groups->second.erase(name.group);
  if (groups->second.empty()) groups_.erase(groups);
}

void Cluster::ForgetContainers(const Pod& pod) {
  for (const ContainerState& container : pod.containers) containers_.erase(container.id);
}

void Cluster::ShareFilter(Pod& pod) {
  if (pod.nodes == nullptr) return;
  std::weak_ptr<const NodeFilter>& shared = filters_[pod.nodes->key];
  if (std::shared_ptr<const NodeFilter> known = shared.lock(); known != nullptr) {
    pod.nodes = std::move(known);
    return;
  }
  shared = pod.nodes;
  if (filters_.size() < clean_filters_at_) return;
  absl::erase_if(filters_, [](const auto& item) { return item.second.expired(); });
  clean_filters_at_ = std::max<size_t>(64, 2 * filters_.size());
}

void Cluster::LeaveNode(const std::string& key, const Pod& pod) {
  const auto on_node = daemon_pods_.find(NodeOf(pod));
  if (on_node == daemon_pods_.end()) return;
  on_node->second.erase(key);
  if (on_node->second.empty()) daemon_pods_.erase(on_node);
}

void Cluster::Insert(Pod pod) {
  ShareFilter(pod);
  const std::string key = KeyOf("Pod", pod.namespace_name, pod.name);
  const auto known = pods_.find(key);
  SetGroup(pod, known == pods_.end() ? nullptr : known->second.pod.get());
  if (by_nodes_ && pod.owner_kind == "DaemonSet") daemon_pods_[NodeOf(pod)].insert(key);
  if (const std::string program = OwnerTable::ProgramKey(key); pod.program.empty()) {
    owners_.Forget(program);
  } else {
    owners_.Learn(program, OwnerTable::ProgramText(pod.program));
  }
  Entry& entry = pods_[key];
  KeepOwnersAmounts(entry.pod.get(), pod);
  // Nothing but its annotation says what the owner of a pod without a controller wants.
  if (!pod.owners_known && pod.admitted_by_us && pod.owner_kind.empty()) TakeNoted(pod);
  if (!pod.owners_known && !pod.is_ended && !pod.owner_kind.empty())
    unknown_owners_.insert({pod.namespace_name, pod.owner_kind, pod.owner_name});
  if (entry.pod != nullptr) {
    Unplace(key, entry);
    if (NodeOf(*entry.pod) != NodeOf(pod)) LeaveNode(key, *entry.pod);
    ForgetContainers(*entry.pod);
    for (const std::string& name : entry.pod->left_out) left_out_.erase(StrCat(key, "/", name));
  }
  for (const ContainerState& container : pod.containers) {
    if (!container.id.empty()) containers_.insert_or_assign(container.id, key);
  }
  for (const std::string& name : pod.left_out) left_out_.insert(StrCat(key, "/", name));
  entry.pod = std::make_shared<const Pod>(std::move(pod));
  owners_.Learn(key, OwnerText(entry.pod->owner_kind, OwnerOf(*entry.pod)));
  changed_pods_.insert(key);
  Place(key);
}

void Cluster::Erase(const std::string& key, const Pod* last) {
  const auto it = pods_.find(key);
  if (it == pods_.end()) return;
  if (PodPtr killed = KilledWhenGone(it->second.pod, last);
      killed != nullptr && gone_killed_.size() < kMostGone)
    gone_killed_.push_back(std::move(killed));
  Unplace(key, it->second);
  LeaveNode(key, *it->second.pod);
  ForgetContainers(*it->second.pod);
  for (const std::string& name : it->second.pod->left_out) left_out_.erase(StrCat(key, "/", name));
  pods_.erase(it);
  owners_.Forget(key);
  owners_.Forget(OwnerTable::ProgramKey(key));
  changed_pods_.erase(key);
}

void Cluster::ReplacePods(std::vector<Pod> pods) {
  const std::lock_guard lock(mutex_);
  synced_ = true;
  std::set<std::string> listed;
  for (Pod& pod : pods) {
    listed.insert(KeyOf("Pod", pod.namespace_name, pod.name));
    Insert(std::move(pod));
  }
  std::vector<std::string> gone;
  for (const auto& [key, entry] : pods_) {
    if (!listed.contains(key)) gone.push_back(key);
  }
  for (const std::string& key : gone) Erase(key);
}

void Cluster::PutPod(Pod pod) {
  const std::lock_guard lock(mutex_);
  Insert(std::move(pod));
}

void Cluster::RemovePod(const Pod& pod) {
  const std::lock_guard lock(mutex_);
  Erase(KeyOf("Pod", pod.namespace_name, pod.name), &pod);
}

// Of a pod that is there before its ReplicaSet is known, the name told the owner until now.
void Cluster::Learn(const std::string& kind, const OwnedObject& object) {
  const std::string child = KeyOf(kind, object.namespace_name, object.name);
  const auto [was, is_new] = owned_[kind].try_emplace(child);
  const bool had_program = !is_new && !was->second.program.empty();
  was->second = object;
  std::vector<std::string> moved = owners_.Learn(child, OwnerText(object.owner_kind, object.owner_name));
  if (kind == "Job" && (had_program || !object.program.empty())) {
    const std::string program = OwnerTable::ProgramKey(child);
    for (std::string& key : owners_.Learn(program, OwnerTable::ProgramText(object.program)))
      moved.push_back(std::move(key));
  }
  for (const std::string& key : moved) {
    const auto it = pods_.find(key);
    if (it == pods_.end()) continue;
    Unplace(key, it->second);
    Place(key);
  }
}

void Cluster::ReplaceOwned(const std::string& kind, const std::vector<OwnedObject>& objects) {
  const std::lock_guard lock(mutex_);
  std::map<std::string, OwnedObject> before;
  before.swap(owned_[kind]);
  for (const OwnedObject& object : objects) {
    before.erase(KeyOf(kind, object.namespace_name, object.name));
    Learn(kind, object);
  }
  for (const auto& [key, object] : before) {
    owners_.Forget(key);
    owners_.Forget(OwnerTable::ProgramKey(key));
  }
}

void Cluster::PutOwned(const std::string& kind, const OwnedObject& object) {
  const std::lock_guard lock(mutex_);
  Learn(kind, object);
}

// Its pods keep the owner that they have: they end soon, or find no other.
void Cluster::RemoveOwned(const std::string& kind, const OwnedObject& object) {
  const std::lock_guard lock(mutex_);
  const std::string key = KeyOf(kind, object.namespace_name, object.name);
  owned_[kind].erase(key);
  owners_.Forget(key);
  owners_.Forget(OwnerTable::ProgramKey(key));
}

void Cluster::ReplaceNodes(std::vector<Node> nodes) {
  const std::lock_guard lock(mutex_);
  RegroupNodes(nodes_.Replace(std::move(nodes)));
}

void Cluster::PutNode(Node node) {
  const std::lock_guard lock(mutex_);
  RegroupNodes(nodes_.Put(std::move(node)));
}

void Cluster::RemoveNode(const Node& node) {
  const std::lock_guard lock(mutex_);
  nodes_.Remove(node.name);
}

bool Cluster::synced() const {
  const std::lock_guard lock(mutex_);
  return synced_ && awaited_.empty() && (!by_nodes_ || !awaits_nodes_ || nodes_.known());
}

std::optional<size_t> Cluster::num_pods() const {
  const std::lock_guard lock(mutex_);
  return synced_ ? std::optional(pods_.size()) : std::nullopt;
}

size_t Cluster::num_nodes() const {
  const std::lock_guard lock(mutex_);
  return nodes_.nodes().size();
}

std::vector<std::string> Cluster::ReadyNodes() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [name, node] : nodes_.nodes()) {
    if (node.is_ready) out.push_back(name);
  }
  return out;
}

std::optional<Amounts> Cluster::Allocatable(const std::string& node) const {
  const std::lock_guard lock(mutex_);
  const Node* found = nodes_.Find(node);
  if (found == nullptr) return std::nullopt;
  return found->allocatable;
}

std::vector<Node> Cluster::Nodes() const {
  const std::lock_guard lock(mutex_);
  std::vector<Node> out;
  out.reserve(nodes_.nodes().size());
  for (const auto& [name, node] : nodes_.nodes()) out.push_back(node);
  return out;
}

LargestNode Cluster::LargestFor(const Pod& pod) const {
  const std::lock_guard lock(mutex_);
  return nodes_.LargestFor(pod);
}

LargestNode Cluster::LargestFor(std::span<const PodPtr> pods) const {
  const std::lock_guard lock(mutex_);
  return nodes_.LargestFor(pods);
}

std::vector<std::string> Cluster::OwnerKinds() const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> out;
  for (const auto& [key, workload] : workloads_) out.insert(workload.name->kind);
  return {out.begin(), out.end()};
}

std::vector<std::string> Cluster::TakeChanged() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out(changed_.begin(), changed_.end());
  changed_.clear();
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<PodController> Cluster::TakeUnknownOwners() {
  const std::lock_guard lock(mutex_);
  std::vector<PodController> out(unknown_owners_.begin(), unknown_owners_.end());
  unknown_owners_.clear();
  return out;
}

void Cluster::TakeNoted(Pod& pod) const {
  const Amounts most = nodes_.LargestFor(pod).amounts;
  pod.owners_known = true;
  for (ContainerState& container : pod.containers) {
    container.owner_limits = Believed(container.noted_limits, most);
    container.owner_requests = Believed(container.noted_requests, most);
  }
}

void Cluster::SetOwnersAmounts(const PodController& controller,
                               const std::vector<ContainerState>* in_template) {
  const std::lock_guard lock(mutex_);
  const TopOwner owner = owners_.TopOf(controller.namespace_name, controller.kind, controller.name);
  const std::vector<std::string> workloads =
      KeysOf(WorkloadKey(controller.namespace_name, owner.kind, owner.name));
  for (const std::string& key : KeysOfPods(workloads)) {
    Entry& entry = pods_.at(key);
    if (entry.pod->owners_known || entry.pod->owner_kind != controller.kind ||
        entry.pod->owner_name != controller.name) {
      continue;
    }
    if (in_template == nullptr && !entry.pod->admitted_by_us) continue;
    Pod pod = *entry.pod;
    if (in_template == nullptr) {
      TakeNoted(pod);
    } else {
      TakeFromTemplate(*in_template, nodes_.LargestFor(pod).amounts, pod);
    }
    entry.pod = std::make_shared<const Pod>(std::move(pod));
    changed_pods_.insert(key);
    changed_.insert(entry.key);
  }
}

std::vector<PodPtr> Cluster::TakeChangedPods() {
  const std::lock_guard lock(mutex_);
  std::vector<PodPtr> out;
  out.reserve(changed_pods_.size());
  for (const std::string& key : changed_pods_) out.push_back(pods_.at(key).pod);
  changed_pods_.clear();
  std::ranges::move(gone_killed_, std::back_inserter(out));
  gone_killed_.clear();
  return out;
}

std::vector<PodPtr> Cluster::PodsOf(const WorkloadName& workload, bool also_leaving) const {
  const std::lock_guard lock(mutex_);
  std::vector<PodPtr> out;
  const auto it = workloads_.find(WorkloadKey(workload));
  if (it == workloads_.end()) return out;
  for (const auto& [key, entry] : it->second.pods) {
    const PodPtr& pod = entry->pod;
    if (pod->is_ended || (pod->is_deleted && !also_leaving)) continue;
    if (!workload.container.empty() && !HasContainer(*pod, workload.container)) continue;
    out.push_back(pod);
  }
  return out;
}

std::vector<std::string> Cluster::VersionsOf(const WorkloadName& workload) const {
  std::set<std::string> out;
  for (const PodPtr& pod : PodsOf(workload)) {
    std::string version;
    for (const ContainerState& container : pod->containers) {
      if (!IsOf(workload, container) || container.image.empty()) continue;
      StrAppend(&version, version.empty() ? "" : "+", ShortImage(container.image));
    }
    if (!version.empty()) out.insert(std::move(version));
  }
  return {out.begin(), out.end()};
}

std::string Cluster::MixedImages(const WorkloadName& workload) const {
  std::map<std::string, std::map<std::string, std::string>>
      images;  // by container, then without the tag: a pod
  {
    const std::lock_guard lock(mutex_);
    const auto it = workloads_.find(WorkloadKey(workload.namespace_name, workload.kind, workload.name));
    if (it == workloads_.end()) return "";
    for (const auto& [key, entry] : it->second.pods) {
      const Pod& pod = *entry->pod;
      if (!pod.owner_kind.empty() && !IsRunKind(pod.owner_kind)) continue;
      for (const ContainerState& container : pod.containers) {
        if (IsOf(workload, container) && !container.image.empty())
          images[container.name].try_emplace(ImageWithoutTag(container.image), pod.name);
      }
    }
  }
  for (const auto& [container, of_pods] : images) {
    if (of_pods.size() < 2) continue;
    const auto& [one, its_pod] = *of_pods.begin();
    const auto& [other, others_pod] = *std::next(of_pods.begin());
    return StrCat("Runs of different programs may be one job: the container ", container, " has the image ",
                  one, " in the pod ", its_pod, " and ", other, " in ", others_pod,
                  ". A label or annotation ", kProgramName,
                  " on their Jobs or in their pods' template tells them apart.");
  }
  return "";
}

std::optional<std::pair<std::string, std::string>> Cluster::TaskOfContainer(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto it = containers_.find(std::string(id));
  if (it == containers_.end()) return std::nullopt;
  const Entry& entry = pods_.at(it->second);
  const std::vector<ContainerState>& all = entry.pod->containers;
  if (naming_.jobs == KubernetesJobs::kPods && all.size() > 1) return std::nullopt;
  const auto container = std::ranges::find(all, id, &ContainerState::id);
  return std::pair(naming_.JobOf(*entry.workload, container->name), entry.pod->name);
}

bool Cluster::IsLeftOut(std::string_view namespace_name, std::string_view pod,
                        std::string_view container) const {
  const std::string key = StrCat(KeyOf("Pod", namespace_name, pod), "/", container);
  const std::lock_guard lock(mutex_);
  return left_out_.contains(key);
}

void Cluster::ForEachPod(absl::FunctionRef<void(const PodPtr&)> fn) const {
  std::vector<PodPtr> pods;
  {
    const std::lock_guard lock(mutex_);
    pods.reserve(pods_.size());
    for (const auto& [key, entry] : pods_) pods.push_back(entry.pod);
  }
  for (const PodPtr& pod : pods) fn(pod);
}

void Cluster::ForEachPodOfWorkload(
    absl::FunctionRef<void(const PodPtr&, const WorkloadName& workload)> fn) const {
  std::vector<Entry> entries;
  {
    const std::lock_guard lock(mutex_);
    entries.reserve(pods_.size());
    for (const auto& [key, entry] : pods_) entries.push_back(entry);
  }
  for (const Entry& entry : entries) fn(entry.pod, *entry.workload);
}

void Cluster::ForEachOwned(absl::FunctionRef<void(const std::string& kind, const OwnedObject&)> fn) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [kind, objects] : owned_) {
    for (const auto& [key, object] : objects) fn(kind, object);
  }
}

}  // namespace taut::server
