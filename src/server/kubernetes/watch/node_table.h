// The nodes of a cluster: the largest one that a pod may run on, and their groups by a label.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/model/resource.h"
#include "server/kubernetes/client/objects.h"
#include "server/kubernetes/watch/node_filter.h"

namespace taut::server {

// The most that a node has of each resource for pods, of those that they may run on.
struct LargestNode {
  Amounts amounts = {};                   // absent: no node is known
  std::array<std::string, 2> nodes = {};  // by resource, the one that has it; "": none
  std::array<std::string, 2> for_ =
      {};  // why none that has more counts: "nodeSelector pool=small"; "": there is none

  // For people: "the largest node (n7)", "the largest node for nodeSelector pool=small (n3)".
  std::string ByText(Resource resource) const;
};

// Of several that all hold, such as those of two templates: the smaller amounts. Absent amounts bound nothing.
void TakeSmaller(LargestNode other, LargestNode& out);
// Of which one is enough.
void TakeLarger(const LargestNode& other, LargestNode& out);

// Thread-safe.
class NodeTable {
 public:
  static constexpr size_t kMostGroups = 32;

  // `group_label`: the label by whose value nodes are grouped; "": they have no groups. `regrouped` hears nodes of
  // which the group is another one than before. It may call this object.
  explicit NodeTable(std::string group_label = "",
                     std::function<void(const std::vector<std::string>& nodes)> regrouped = nullptr)
      : group_label_(std::move(group_label)), regrouped_(std::move(regrouped)) {}

  void Replace(std::vector<Node> nodes);
  void Put(Node node);
  void Remove(const Node& node);

  bool has_groups() const { return !group_label_.empty(); }
  bool known() const;  // nodes were replaced once, and those who depend on their groups have heard of it
  size_t size() const;
  std::vector<Node> All() const;
  // Names of nodes that are ready.
  std::vector<std::string> Ready() const;
  std::optional<Amounts> Allocatable(const std::string& node) const;

  // What a pod may have; of one that is pinned (Pod::pinned_node) it is its node, where that is known.
  LargestNode LargestFor(const Pod& pod) const;
  // What pods of one job may have: that of every filter among them, and of pinned ones the largest of their nodes.
  // Of none it is that of a pod that says nothing. O(pods), and O(nodes) for each filter that is new or
  // for which a node has changed.
  LargestNode LargestFor(std::span<const PodPtr> pods) const;

  // The node's value of the label, or "" where it has none, or its group is not one of the kMostGroups with the
  // most nodes when they were listed. nullopt: the node is not known.
  std::optional<std::string> GroupOf(const std::string& node) const;
  // Groups that are left out.
  size_t num_groups_left_out() const;

 private:
  // All require mutex_.
  const Node* Find(const std::string& name) const;
  std::optional<std::string> GroupNow(const std::string& name) const;
  std::string LabelOf(const Node& node) const;
  void Count(const Node& node, int by);
  LargestNode Search(const NodeFilter* filter) const;
  // The largest that the filter selects and whose taints it tolerates. Where there is none, as in a pool that is
  // scaled to nothing, the largest of all. nullptr: a pod that says nothing. O(1) unless a node has changed or the
  // filter is new, then O(nodes).
  const LargestNode& Largest(const NodeFilter* filter) const;
  LargestNode LargestNow(const Pod& pod) const;
  std::vector<std::string> ReplaceNow(std::vector<Node> nodes);
  bool PutNow(Node node);  // whether its group is another one

  const std::string group_label_;
  const std::function<void(const std::vector<std::string>&)> regrouped_;
  mutable std::mutex mutex_;
  bool known_ = false;
  std::map<std::string, Node> nodes_;
  std::map<std::string, size_t> sizes_;  // nodes by group
  std::set<std::string> own_;            // of these, those that count
  // By NodeFilter::key; "": a pod that says nothing.
  mutable absl::flat_hash_map<std::string, LargestNode> largest_;
};

}  // namespace taut::server
