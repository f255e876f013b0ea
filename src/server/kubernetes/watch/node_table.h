// The nodes of a cluster: the largest node on which a pod may run, and groups of nodes by a label.
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

// The largest amount of each resource among the nodes on which some pods may run.
struct LargestNode {
  Amounts amounts = {};                   // largest amounts; absent if no node is known
  std::array<std::string, 2> nodes = {};  // name of the node with the amount, by resource; "": none
  // Reason why larger nodes do not count, by resource, such as "nodeSelector pool=small"; "": no node is larger.
  std::array<std::string, 2> for_ = {};

  // Returns a text for users, such as "the largest node (n7)" or "the largest node for nodeSelector pool=small
  // (n3)".
  std::string ByText(Resource resource) const;
};

// Sets each amount of `out` to the smaller amount of `other` and `out`. For bounds that must all hold, such as the
// bounds of two templates. Absent amounts do not bound.
void TakeSmaller(LargestNode other, LargestNode& out);
// Sets each amount of `out` to the larger amount of `other` and `out`. For bounds of which any one is sufficient.
void TakeLarger(const LargestNode& other, LargestNode& out);

// The current nodes of a cluster. Thread-safe.
class NodeTable {
 public:
  static constexpr size_t kMostGroups = 32;

  // `group_label` is the label by whose value nodes are grouped; "" if nodes have no groups. `regrouped` receives
  // the nodes whose group has changed. `regrouped` is called without the lock, and may call this object.
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
  // Returns the node's allocatable amounts; nullopt if the node is unknown.
  std::optional<Amounts> Allocatable(const std::string& node) const;

  // Returns the largest amounts that the pod may have. If the pod is pinned to a known node (Pod::pinned_node),
  // these are the amounts of this node.
  LargestNode LargestFor(const Pod& pod) const;
  // Returns the largest amounts that the pods of one job may have. The result is the minimum over the filters of
  // the pods, and for pinned pods the maximum over their nodes. Without pods, returns the amounts for a pod
  // without conditions. O(pods), and O(nodes) per new filter and after a node has changed.
  LargestNode LargestFor(std::span<const PodPtr> pods) const;

  // Returns the node's value of the group label; "" if the node has none or its group is not in use, and nullopt
  // if the node is unknown. At most kMostGroups groups are in use: the groups that were used before, then the
  // largest groups.
  std::optional<std::string> GroupOf(const std::string& node) const;
  // Returns the number of groups that are not in use.
  size_t num_groups_left_out() const;

 private:
  // REQUIRES (all functions below): mutex_ is locked.
  const Node* Find(const std::string& name) const;
  std::optional<std::string> GroupNow(const std::string& name) const;
  std::string LabelOf(const Node& node) const;
  void Count(const Node& node, int by);
  LargestNode Search(const NodeFilter* filter) const;
  // Returns the largest amounts of the nodes that the filter selects and whose taints it tolerates. If there is no
  // such node, as in a pool scaled to zero, returns the largest amounts of all nodes. A null filter stands for a
  // pod without conditions. O(1), but O(nodes) for a new filter and after a node has changed.
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
  std::set<std::string> own_;            // groups in use, a subset of the keys of sizes_
  // Results of Search() by NodeFilter::key; "" for a pod without conditions.
  mutable absl::flat_hash_map<std::string, LargestNode> largest_;
};

}  // namespace taut::server
