#include "server/kubernetes/watch/node_table.h"

#include <algorithm>
#include <utility>

#include "common/base/strings.h"

namespace taut::server {
namespace {

constexpr size_t kMostFilters = 10'000;  // bounds the memory, because pods under review may have any filter

// Returns true if labels, taints and allocatable amounts of the nodes are equal, so that the results in largest_
// stay valid. Kubelets write the status of a node every few seconds.
bool IsSameForPods(const Node& a, const Node& b) {
  return a.allocatable == b.allocatable && a.labels == b.labels && a.taints == b.taints;
}

// Raises `most` to the node's amount if the amount is larger. Of nodes with equal amounts, the first by name
// counts, so that the result is stable.
void Raise(const Node& node, Resource r, std::optional<double>& most, std::string* name) {
  const std::optional<double>& has = node.allocatable.of(r);
  if (!has.has_value() || (most.has_value() && *most >= *has)) return;
  most = has;
  if (name != nullptr) *name = node.name;
}

std::string Shortened(const std::string& text) {
  constexpr size_t kMost = 120;
  return text.size() <= kMost ? text : StrCat(std::string_view(text).substr(0, kMost), "...");
}

}  // namespace

std::string LargestNode::ByText(Resource resource) const {
  const auto i = static_cast<size_t>(resource);
  return StrCat("the largest node", for_[i].empty() ? "" : " for ", for_[i], nodes[i].empty() ? "" : " (",
                nodes[i], nodes[i].empty() ? "" : ")");
}

namespace {

void Take(const LargestNode& other, bool larger, LargestNode& out) {
  for (const Resource r : kPodResources) {
    const std::optional<double>& amount = other.amounts.of(r);
    std::optional<double>& kept = out.amounts.of(r);
    if (!amount.has_value()) continue;
    if (kept.has_value() && (larger ? *kept >= *amount : *kept <= *amount)) continue;
    const auto i = static_cast<size_t>(r);
    kept = amount;
    out.nodes[i] = other.nodes[i];
    out.for_[i] = other.for_[i];
  }
}

}  // namespace

void TakeSmaller(LargestNode other, LargestNode& out) { Take(other, false, out); }
void TakeLarger(const LargestNode& other, LargestNode& out) { Take(other, true, out); }

std::string NodeTable::LabelOf(const Node& node) const {
  if (group_label_.empty()) return "";
  for (const auto& [key, value] : node.labels) {
    if (key == group_label_) return value;
  }
  return "";
}

void NodeTable::Count(const Node& node, int by) {
  const std::string group = LabelOf(node);
  if (group.empty()) return;
  size_t& size = sizes_[group];
  if (by > 0) {
    ++size;
    if (size == 1 && own_.size() < kMostGroups) own_.insert(group);
  } else if (--size == 0) {
    sizes_.erase(group);
    own_.erase(group);
  }
}

std::vector<std::string> NodeTable::ReplaceNow(std::vector<Node> nodes) {
  absl::flat_hash_map<std::string, std::string> before;
  for (const auto& [name, node] : nodes_) before.emplace(name, *GroupNow(name));
  largest_.clear();
  nodes_.clear();
  sizes_.clear();
  for (Node& node : nodes) {
    if (const std::string group = LabelOf(node); !group.empty()) ++sizes_[group];
    std::string name = node.name;
    nodes_.insert_or_assign(std::move(name), std::move(node));
  }
  // Keep the groups already in use. Fill up with the largest groups, and with groups of equal size in the order of
  // their names, so that a restart selects the same groups.
  std::erase_if(own_, [this](const std::string& group) { return !sizes_.contains(group); });
  std::vector<std::pair<size_t, std::string>> others;
  for (const auto& [group, size] : sizes_) {
    if (!own_.contains(group)) others.emplace_back(size, group);
  }
  std::ranges::sort(others, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (const auto& [size, group] : others) {
    if (own_.size() < kMostGroups) own_.insert(group);
  }
  std::vector<std::string> changed;
  for (const auto& [name, node] : nodes_) {
    const auto was = before.find(name);
    if (was == before.end() || was->second != *GroupNow(name)) changed.push_back(name);
  }
  return changed;
}

bool NodeTable::PutNow(Node node) {
  const std::string name = node.name;
  const std::optional<std::string> before = GroupNow(name);
  const auto it = nodes_.find(name);
  if (it == nodes_.end()) {
    largest_.clear();
    Count(node, 1);
    nodes_.emplace(name, std::move(node));
  } else {
    if (!IsSameForPods(it->second, node)) largest_.clear();
    if (LabelOf(it->second) != LabelOf(node)) {
      Count(it->second, -1);
      Count(node, 1);
    }
    it->second = std::move(node);
  }
  return before != GroupNow(name);
}

void NodeTable::Replace(std::vector<Node> nodes) {
  std::vector<std::string> changed;
  {
    const std::lock_guard lock(mutex_);
    changed = ReplaceNow(std::move(nodes));
  }
  // Call regrouped_ without the lock, because PodTable takes its own lock first and then calls this table. Set
  // known_ last, because known() means that all pods have their groups.
  if (has_groups() && regrouped_ != nullptr) regrouped_(changed);
  const std::lock_guard lock(mutex_);
  known_ = true;
}

void NodeTable::Put(Node node) {
  std::string name = node.name;
  {
    const std::lock_guard lock(mutex_);
    if (!PutNow(std::move(node))) return;
  }
  if (has_groups() && regrouped_ != nullptr) regrouped_({std::move(name)});
}

void NodeTable::Remove(const Node& node) {
  const std::lock_guard lock(mutex_);
  const auto it = nodes_.find(node.name);
  if (it == nodes_.end()) return;
  largest_.clear();
  Count(it->second, -1);
  nodes_.erase(it);
}

bool NodeTable::known() const {
  const std::lock_guard lock(mutex_);
  return known_;
}

size_t NodeTable::size() const {
  const std::lock_guard lock(mutex_);
  return nodes_.size();
}

std::vector<Node> NodeTable::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<Node> out;
  out.reserve(nodes_.size());
  for (const auto& [name, node] : nodes_) out.push_back(node);
  return out;
}

std::vector<std::string> NodeTable::Ready() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [name, node] : nodes_) {
    if (node.is_ready) out.push_back(name);
  }
  return out;
}

std::optional<Amounts> NodeTable::Allocatable(const std::string& node) const {
  const std::lock_guard lock(mutex_);
  const Node* const found = Find(node);
  return found == nullptr ? std::nullopt : std::optional(found->allocatable);
}

size_t NodeTable::num_groups_left_out() const {
  const std::lock_guard lock(mutex_);
  return sizes_.size() - own_.size();
}

const Node* NodeTable::Find(const std::string& name) const {
  const auto it = nodes_.find(name);
  return it == nodes_.end() ? nullptr : &it->second;
}

std::optional<std::string> NodeTable::GroupOf(const std::string& node) const {
  const std::lock_guard lock(mutex_);
  return GroupNow(node);
}

std::optional<std::string> NodeTable::GroupNow(const std::string& name) const {
  const Node* found = Find(name);
  if (found == nullptr) return std::nullopt;
  std::string group = LabelOf(*found);
  if (!own_.contains(group)) group.clear();
  return group;
}

LargestNode NodeTable::Search(const NodeFilter* filter) const {
  LargestNode out, all;
  Amounts selected;
  for (const auto& [name, node] : nodes_) {
    const bool selects = Selects(filter, node);
    const bool fits = selects && Tolerates(filter, node);
    for (const Resource r : kPodResources) {
      const auto i = static_cast<size_t>(r);
      Raise(node, r, all.amounts.of(r), &all.nodes[i]);
      if (selects) Raise(node, r, selected.of(r), nullptr);
      if (fits) Raise(node, r, out.amounts.of(r), &out.nodes[i]);
    }
  }
  for (const Resource r : kPodResources) {
    const auto i = static_cast<size_t>(r);
    const std::optional<double>&most = all.amounts.of(r), &fits = out.amounts.of(r);
    if (!fits.has_value()) {
      out.amounts.of(r) = most;
      out.nodes[i] = all.nodes[i];
      continue;
    }
    if (filter != nullptr && *selected.of(r) < *most) out.for_[i] = Shortened(filter->where);
    if (*fits < *selected.of(r))
      StrAppend(&out.for_[i], out.for_[i].empty() ? "" : " and ", "its tolerations");
  }
  return out;
}

const LargestNode& NodeTable::Largest(const NodeFilter* filter) const {
  const std::string key = filter == nullptr ? "" : filter->key;
  if (const auto it = largest_.find(key); it != largest_.end()) return it->second;
  if (largest_.size() >= kMostFilters) largest_.clear();
  return largest_.emplace(key, Search(filter)).first->second;
}

LargestNode NodeTable::LargestFor(const Pod& pod) const {
  const std::lock_guard lock(mutex_);
  return LargestNow(pod);
}

LargestNode NodeTable::LargestNow(const Pod& pod) const {
  const Node* node = pod.pinned_node.empty() ? nullptr : Find(pod.pinned_node);
  if (node == nullptr) return Largest(pod.nodes.get());
  LargestNode out;
  out.amounts = node->allocatable;
  out.nodes = {node->name, node->name};
  return out;
}

LargestNode NodeTable::LargestFor(std::span<const PodPtr> pods) const {
  const std::lock_guard lock(mutex_);
  std::set<const NodeFilter*> filters;
  LargestNode out, of_pinned;
  for (const PodPtr& pod : pods) {
    if (!pod->pinned_node.empty() && Find(pod->pinned_node) != nullptr) {
      TakeLarger(LargestNow(*pod), of_pinned);
    } else if (filters.insert(pod->nodes.get()).second) {
      TakeSmaller(Largest(pod->nodes.get()), out);
    }
  }
  TakeSmaller(std::move(of_pinned), out);
  return out.amounts == Amounts() ? Largest(nullptr) : out;
}

}  // namespace taut::server
