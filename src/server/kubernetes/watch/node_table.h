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
  std::array<std::string, 2> nodes = {};  // by resource, the node that has this amount; "" if there is none
  std::array<std::string, 2> for_ =
      {};  // by resource, why no larger node counts: "nodeSelector pool=small"; "" if there is none larger

  // Returns a text for people: "the largest node (n7)", "the largest node for nodeSelector pool=small (n3)".
  std::string ByText(Resource resource) const;
};

// Lowers `out` to the smaller amount of each resource, for bounds that all hold, such as those of two
// templates. Absent amounts bound nothing.
void TakeSmaller(LargestNode other, LargestNode& out);
// Raises `out` to the larger amount of each resource, for bounds of which one is enough.
void TakeLarger(const LargestNode& other, LargestNode& out);

// The nodes as last seen. Thread-safe.
class NodeTable {
 public:
  static constexpr size_t kMostGroups = 32;

  // `group_label`: the label by whose value nodes are grouped; "" if nodes have no groups. `regrouped` is
  // called without the lock, with the nodes whose group has changed. It may call this object.
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
  // Returns the amounts that the node has for pods; nullopt if the node is not known.
  std::optional<Amounts> Allocatable(const std::string& node) const;

  // Returns the largest amounts that the pod may have. They are those of its pinned node (Pod::pinned_node),
  // if that is known.
  LargestNode LargestFor(const Pod& pod) const;
  // Returns the largest amounts that pods of one job may have: those that every filter among them allows, and
  // for pinned pods those of the largest of their nodes. For no pods, those of a pod without conditions.
  // O(pods), and O(nodes) for each filter that is new or for which a node has changed.
  LargestNode LargestFor(std::span<const PodPtr> pods) const;

  // Returns the node's value of the group label. "" if the node has none, or if its group is not among the
  // kMostGroups that count: those that counted before, then the largest. nullopt if the node is not known.
  std::optional<std::string> GroupOf(const std::string& node) const;
  // Returns the number of groups that do not count.
  size_t num_groups_left_out() const;

 private:
  // These functions require mutex_.
  const Node* Find(const std::string& name) const;
  std::optional<std::string> GroupNow(const std::string& name) const;
  std::string LabelOf(const Node& node) const;
  void Count(const Node& node, int by);
  LargestNode Search(const NodeFilter* filter) const;
  // Returns the largest amounts among nodes that the filter selects and whose taints it tolerates. If there
  // is no such node, as in a pool that is scaled to nothing, those of all nodes. nullptr: a pod without
  // conditions. O(1), and O(nodes) if a node has changed or the filter is new.
  const LargestNode& Largest(const NodeFilter* filter) const;
  LargestNode LargestNow(const Pod& pod) const;
  std::vector<std::string> ReplaceNow(std::vector<Node> nodes);
  bool PutNow(Node node);  // returns true if the node's group has changed

  const std::string group_label_;
  const std::function<void(const std::vector<std::string>&)> regrouped_;
  mutable std::mutex mutex_;
  bool known_ = false;
  std::map<std::string, Node> nodes_;
  std::map<std::string, size_t> sizes_;  // nodes by group
  std::set<std::string> own_;            // of the keys of sizes_, the groups that count
  // Results of Search by NodeFilter::key; "" for a pod without conditions.
  mutable absl::flat_hash_map<std::string, LargestNode> largest_;
};

}  // namespace taut::server
