#include "brain/economy/quota_rows.h"

namespace taut::brain {

std::vector<QuotaRowView> RowsOf(const QuotaTree& tree) {
  std::vector<QuotaRowView> out;
  for (int32_t group = 0; group < tree.groups(); ++group) {
    for (int32_t tier = 0; tier < static_cast<int32_t>(tree.tiers().size()); ++tier) {
      for (int32_t resource = 0; resource < static_cast<int32_t>(tree.resources().size()); ++resource) {
        const QuotaLane& lane = tree.lane(tier, resource);
        const QuotaCell& cell = lane.cell(group);
        if (!cell.listed && cell.quota == 0 && cell.held == 0) continue;
        out.push_back({tree.NameOf(group), tree.tiers()[static_cast<size_t>(tier)],
                       tree.resources()[static_cast<size_t>(resource)], tree.IsCohort(group), cell,
                       lane.Available(group), lane.Maximum(group)});
      }
    }
  }
  return out;
}

std::vector<QuotaRowView> RowsOf(const QuotaTree& tree, const QuotaSpec& spec) {
  std::vector<QuotaRowView> out = RowsOf(tree);
  for (const QuotaCapacity& capacity : spec.capacity) {
    const std::optional<int64_t> oversold = Oversold(spec, capacity.resource);
    for (QuotaRowView& row : out) {
      if (row.tier == kProductionTier && row.cell.parent < 0 && row.resource == capacity.resource)
        row.oversold = oversold;
    }
  }
  return out;
}

}  // namespace taut::brain
