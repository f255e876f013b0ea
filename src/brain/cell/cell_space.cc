#include "brain/cell/cell_space.h"

namespace taut::brain {

CellSpace::CellSpace(size_t resources, size_t machines)
    : resources_(resources),
      machines_(machines),
      out_(machines),
      capacity_(resources * machines),
      inverse_(resources * machines),
      reserved_(kCellTiers * machines * kMaxCellResources) {
  for (auto& free : free_) free.resize(resources * machines);
}

void CellSpace::Add(CellTier tier, uint32_t machine, const CellAmounts& reserved, const CellAmounts& limit) {
  const auto t = static_cast<size_t>(tier);
  int64_t* on_machine = &reserved_[(t * machines_ + machine) * kMaxCellResources];
  for (size_t r = 0; r < resources_; ++r) {
    const size_t at = r * machines_ + machine;
    on_machine[r] += reserved[r];
    reservations_[t][r] += reserved[r];
    limits_[t][r] += limit[r];
    free_[0][at] -= static_cast<double>(reserved[r]);
    if (IsProduction(tier)) free_[1][at] -= static_cast<double>(limit[r]);
  }
}

void CellSpace::SetCapacity(uint32_t machine, const CellAmounts& capacity) {
  for (size_t r = 0; r < resources_; ++r) {
    const size_t at = r * machines_ + machine;
    const int64_t more = capacity[r] - capacity_[at];
    capacity_[at] = capacity[r];
    for (auto& free : free_) free[at] += static_cast<double>(more);
    inverse_[at] = capacity[r] > 0 ? 1 / static_cast<double>(capacity[r]) : 0;
  }
}

void CellSpace::SetInService(uint32_t machine, bool in_service) {
  if (in_service == this->in_service(machine)) return;
  out_[machine] = in_service ? 0 : 1;
  for (auto& free : free_) {
    for (size_t r = 0; r < resources_; ++r)
      free[r * machines_ + machine] += static_cast<double>(in_service ? kWithheld : -kWithheld);
  }
}

}  // namespace taut::brain
