// Saves and loads the forest.
#include <cmath>

#include "brain/recommend/distribution_forest.h"

namespace taut::brain {

void DistributionForest::Save(ByteWriter& out) const {
  for (const std::vector<float>& edges : edges_) {
    out.PutVarint(edges.size());
    for (const float e : edges) out.Put(e);
  }
  out.PutVarint(outcomes_.size());
  for (const float o : outcomes_) out.Put(o);
  out.PutVarint(trees_.size());
  for (const Tree& tree : trees_) {
    out.PutVarint(tree.nodes.size());
    for (const Node& n : tree.nodes) {
      out.Put(n.feature);
      out.Put(n.threshold);
      out.PutVarint(n.child);
      out.PutVarint(n.count);
    }
    out.PutVarint(tree.members.size());
    for (const uint32_t m : tree.members) out.PutVarint(m);
    for (const uint8_t b : tree.bins) out.Put(b);
  }
}

// The checks guarantee that the members of leaves exist, and that children follow their parents. A walk from the
// root therefore ends.
bool DistributionForest::LoadTree(ByteReader& in, size_t rows, Tree& tree) {
  const uint64_t nodes = in.GetVarint();
  if (nodes == 0 || nodes > in.remaining()) return false;
  tree.nodes.resize(nodes);
  for (Node& n : tree.nodes) {
    n.feature = in.Get<int8_t>();
    n.threshold = in.Get<uint8_t>();
    n.child = static_cast<uint32_t>(in.GetVarint());
    n.count = static_cast<uint32_t>(in.GetVarint());
  }
  const uint64_t members = in.GetVarint();
  if (members > in.remaining()) return false;
  tree.members.resize(members);
  for (uint32_t& m : tree.members) {
    m = static_cast<uint32_t>(in.GetVarint());
    if (m >= rows) return false;
  }
  tree.bins.resize(members);
  for (uint8_t& b : tree.bins) {
    b = in.Get<uint8_t>();
    if (b >= AnalogGrid::kBins) return false;
  }
  for (size_t i = 0; i < nodes; ++i) {
    const Node& n = tree.nodes[i];
    const bool leaf = n.feature < 0;
    if (leaf && (n.count == 0 || uint64_t{n.child} + n.count > members)) return false;
    if (!leaf && (n.feature >= kFleetFeatures || n.child <= i || uint64_t{n.child} + 1 >= nodes))
      return false;
  }
  return !in.failed();
}

absl::Status DistributionForest::Load(ByteReader& in) {
  *this = DistributionForest();
  DistributionForest read;
  const absl::Status damaged = absl::DataLossError("a damaged forest of the fleet model");
  for (std::vector<float>& edges : read.edges_) {
    const uint64_t size = in.GetVarint();
    if (size >= kFeatureBins) return damaged;
    edges.resize(size);
    for (float& e : edges) e = in.Get<float>();
  }
  const uint64_t outcomes = in.GetVarint();
  if (outcomes > in.remaining() / sizeof(float)) return damaged;
  read.outcomes_.resize(outcomes);
  for (float& o : read.outcomes_) {
    o = in.Get<float>();
    if (!std::isfinite(o)) return damaged;
  }
  const uint64_t trees = in.GetVarint();
  if (trees > in.remaining()) return damaged;
  read.trees_.resize(trees);
  for (Tree& tree : read.trees_) {
    if (!LoadTree(in, outcomes, tree)) return damaged;
  }
  if (in.failed()) return damaged;
  *this = std::move(read);
  return absl::OkStatus();
}

}  // namespace taut::brain
