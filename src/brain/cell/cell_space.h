// Capacity of the machines of a cell, and the part of it that is free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "brain/cell/cell_index.h"

namespace taut::brain {

class CellSpace {
 public:
  // All in service, with a capacity of 0.
  CellSpace(size_t resources, size_t machines);

  int64_t capacity(size_t resource, uint32_t machine) const {
    return capacity_[resource * machines_ + machine];
  }
  // Capacity less the reservations of all tasks, and less the limits of production tasks.
  int64_t free(size_t resource, uint32_t machine) const {
    return static_cast<int64_t>(free_[0][resource * machines_ + machine]) + Withheld(machine);
  }
  int64_t production_free(size_t resource, uint32_t machine) const {
    return static_cast<int64_t>(free_[1][resource * machines_ + machine]) + Withheld(machine);
  }
  // Reservations of the tasks of a tier.
  int64_t reserved(CellTier tier, size_t resource, uint32_t machine) const {
    return reserved_[(static_cast<size_t>(tier) * machines_ + machine) * kMaxCellResources + resource];
  }
  // Sums over all machines.
  const CellAmounts& limits(CellTier tier) const { return limits_[static_cast<size_t>(tier)]; }
  const CellAmounts& reservations(CellTier tier) const { return reservations_[static_cast<size_t>(tier)]; }
  bool in_service(uint32_t machine) const { return out_[machine] == 0; }

  // Tasks of the tier count for that much more there, or less.
  void Add(CellTier tier, uint32_t machine, const CellAmounts& reserved, const CellAmounts& limit);
  // The free part may become negative.
  void SetCapacity(uint32_t machine, const CellAmounts& capacity);
  void SetInService(uint32_t machine, bool in_service);

  // For scores: what is free (production: of its limits) as numbers that need no conversion, and 1 / capacity, or
  // 0; by resource, then machine, at the same place as long as this is. Of a machine that is out of service
  // everything is withheld, so that nothing fits.
  const double* free_numbers(bool production) const { return free_[production ? 1 : 0].data(); }
  const double* inverse_capacities() const { return inverse_.data(); }

 private:
  static constexpr int64_t kWithheld = int64_t{1} << 52;
  int64_t Withheld(uint32_t machine) const { return out_[machine] == 0 ? 0 : kWithheld; }

  size_t resources_, machines_;
  std::vector<uint8_t> out_;
  std::vector<int64_t> capacity_;  // by resource, then machine
  // The same. Whole numbers, which a double holds up to 2^53.
  std::vector<double> free_[2];
  std::vector<double> inverse_;
  std::vector<int64_t> reserved_;  // by tier, machine, then resource
  CellAmounts limits_[kCellTiers] = {}, reservations_[kCellTiers] = {};
};

}  // namespace taut::brain
