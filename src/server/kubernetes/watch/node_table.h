// The nodes of a cluster: the largest one on which a pod may run, and their groups by a label.
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

// The largest amounts of each resource among the nodes on which some pods may run.
struct LargestNode {
  Amounts amounts = {};                   // absent if no node is known
  std::array<std::string, 2> nodes = {};  // name of the node that has the amount, by resource; "": none
  // By resource, the reason why larger nodes do not count, such as "nodeSelector pool=small"; "": none is larger.
  std::array<std::string, 2> for_ = {};

  // Returns a text for people, such as "the largest node (n7)" or "the largest node for nodeSelector
  // pool=small (n3)".
  std::string ByText(Resource resource) const;
};

// Lowers each resource of `out` to the smaller of the two amounts. Used for bounds that must all hold, such
// as the bounds of two templates. Absent amounts do not bound.
void TakeSmaller(LargestNode other, LargestNode& out);
// Raises each resource of `out` to the larger of the two amounts. Used for bounds of which any one is
// sufficient.
void TakeLarger(const LargestNode& other, LargestNode& out);

// The nodes of a cluster as last seen. Thread-safe.
class NodeTable {
 public:
  static constexpr size_t kMostGroups = 32;

  // `group_label`: the label by whose value nodes are grouped; "" if nodes have no groups. `regrouped` is
  // called with the nodes whose group has changed. The call is made without the lock, so `regrouped` may call
  // this object.
  explicit NodeTable(std::string group_label = "",
                     std::function<void(const std::vector<std::string>& nodes)> regrouped = nullptr)
      : group_label_(std::move(group_label)), regrouped_(std::move(regrouped)) {}

  void Replace(std::vector<Node> nodes);
  void Put(Node node);
  void Remove(const Node& node);

  bool has_groups() const { return !group_label_.empty(); }
  bool known() const;  // true once nodes were listed and `regrouped` has returned
  size_t size() const;
  std::vector<Node> All() const;
  // Returns the names of the nodes that are ready.
  std::vector<std::string> Ready() const;
  // Returns the amounts that the node has for pods; nullopt if the node is unknown.
  std::optional<Amounts> Allocatable(const std::string& node) const;

  // Returns the largest amounts that the pod may have. If the pod has a pinned node (Pod::pinned_node) that
  // is known, these are the amounts of this node.
  LargestNode LargestFor(const Pod& pod) const;
  // Returns the largest amounts that the pods of one job may have: the smallest over the filters of the pods,
  // and for pinned pods the amounts of the largest of their nodes. Without pods, returns the amounts for a
  // pod without conditions. O(pods), plus O(nodes) for each filter that is new or for which a node has
  // changed.
  LargestNode LargestFor(std::span<const PodPtr> pods) const;

  // Returns the node's value of the group label. Returns "" if the node has none, or if its group is not one
  // of the kMostGroups that are used: groups that were used before come first, then the largest groups.
  // nullopt if the node is unknown.
  std::optional<std::string> GroupOf(const std::string& node) const;
  // Returns the number of groups that are not used.
  size_t num_groups_left_out() const;

 private:
  // These functions require mutex_.
  const Node* Find(const std::string& name) const;
  std::optional<std::string> GroupNow(const std::string& name) const;
  std::string LabelOf(const Node& node) const;
  void Count(const Node& node, int by);
  LargestNode Search(const NodeFilter* filter) const;
  // Returns the largest amounts of the nodes that the filter selects and whose taints it tolerates. If there
  // is no such node, as in a pool that is scaled to zero, returns the largest amounts of all nodes. nullptr
  // stands for a pod without conditions. O(1); O(nodes) if a node has changed or the filter is new.
  const LargestNode& Largest(const NodeFilter* filter) const;
  LargestNode LargestNow(const Pod& pod) const;
  std::vector<std::string> ReplaceNow(std::vector<Node> nodes);
  bool PutNow(Node node);  // returns true if the node's group has changed

  const std::string group_label_;
  const std::function<void(const std::vector<std::string>&)> regrouped_;
  mutable std::mutex mutex_;
  bool known_ = false;
  std::map<std::string, Node> nodes_;
  std::map<std::string, size_t> sizes_;  // number of nodes by group
  std::set<std::string> own_;            // the groups that are used, of the keys of sizes_
  // Results of Search by NodeFilter::key; "" for a pod without conditions.
  mutable absl::flat_hash_map<std::string, LargestNode> largest_;
};

}  // namespace taut::server
