// Total and free capacity of the machines of a cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "brain/cell/cell_index.h"

namespace taut::brain {

// Capacities, free amounts and reservations of each machine, and sums by tier. Not thread-safe.
class CellSpace {
 public:
  // Creates machines that are in service and have a capacity of 0.
  CellSpace(size_t resources, size_t machines);

  int64_t capacity(size_t resource, uint32_t machine) const {
    return capacity_[resource * machines_ + machine];
  }
  // free() returns the capacity less the reservations of all tasks. production_free() returns the capacity less
  // the limits of production tasks. Both may be negative.
  int64_t free(size_t resource, uint32_t machine) const {
    return static_cast<int64_t>(free_[0][resource * machines_ + machine]) + Withheld(machine);
  }
  int64_t production_free(size_t resource, uint32_t machine) const {
    return static_cast<int64_t>(free_[1][resource * machines_ + machine]) + Withheld(machine);
  }
  // Returns the sum of the reservations of the machine's tasks of a tier.
  int64_t reserved(CellTier tier, size_t resource, uint32_t machine) const {
    return reserved_[(static_cast<size_t>(tier) * machines_ + machine) * kMaxCellResources + resource];
  }
  // Return the sums of a tier over all machines.
  const CellAmounts& limits(CellTier tier) const { return limits_[static_cast<size_t>(tier)]; }
  const CellAmounts& reservations(CellTier tier) const { return reservations_[static_cast<size_t>(tier)]; }
  bool in_service(uint32_t machine) const { return out_[machine] == 0; }

  // Adds to the sums of the tier's tasks on the machine; negative amounts subtract. O(resources).
  void Add(CellTier tier, uint32_t machine, const CellAmounts& reserved, const CellAmounts& limit);
  // Sets the capacity. The free part may become negative. O(resources).
  void SetCapacity(uint32_t machine, const CellAmounts& capacity);
  // Withholds a machine's free amounts if `in_service` is false, else makes them available again. Has no effect
  // if the service state does not change.
  void SetInService(uint32_t machine, bool in_service);

  // Raw data for scores, by resource and then machine. free_numbers returns the values of free() as doubles, or of
  // production_free() if `production` is true. Unlike free(), these values are below 0 for a machine out of
  // service, so that the machine accepts no task. inverse_capacities returns 1 / capacity, or 0 without capacity.
  // The pointers are valid as long as this object exists.
  const double* free_numbers(bool production) const { return free_[production ? 1 : 0].data(); }
  const double* inverse_capacities() const { return inverse_.data(); }

 private:
  static constexpr int64_t kWithheld = int64_t{1} << 52;
  int64_t Withheld(uint32_t machine) const { return out_[machine] == 0 ? 0 : kWithheld; }

  size_t resources_, machines_;
  std::vector<uint8_t> out_;
  std::vector<int64_t> capacity_;  // capacities by resource, then machine
  // Capacity less all reservations, and capacity less the limits of production tasks, each by resource, then
  // machine. Doubles represent the whole numbers exactly up to 2^53, which exceeds kMaxCellAmount and kWithheld.
  std::vector<double> free_[2];
  std::vector<double> inverse_;
  std::vector<int64_t> reserved_;  // reservations by tier, machine, then resource
  CellAmounts limits_[kCellTiers] = {}, reservations_[kCellTiers] = {};
};

}  // namespace taut::brain
