// Capacity, reservation and usage of the cell in one window. The capacity is computed from the cell's machines, or
// from a pool whose size the price file defines.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "brain/economy/pricing.h"
#include "common/base/time.h"
#include "common/model/resource.h"
#include "server/control/fleet_view.h"
#include "server/pool/job_tiers.h"
#include "server/pool/machines_view.h"
#include "server/pool/quota_service.h"

namespace taut::server {

enum class CapacitySource : uint8_t { kNone, kMachines, kPool };
std::string_view Name(CapacitySource source);  // returns "none", "machines" or "pool"

// Amounts of one resource in cores or bytes; absent: unknown. Vectors have one element per tier, and are empty if
// unknown.
struct CapacityAmounts {
  std::optional<double> capacity;  // sum over the machines that accept tasks
  // Larger of the amount that groups have bought (quota) and the amount that is allocated to groups.
  std::optional<double> reservation;
  std::optional<double> allocation;  // limits of running tasks (requests for containers of Kubernetes)
  std::optional<double> usage;       // mean for CPU, peak for memory
  std::optional<double> forecast;    // sum over machines of the predicted peak of all tasks in the next day
  // Usage by tier. The first tier includes the capacity of machines that were not measured, so that this capacity
  // is not sold.
  std::vector<double> use;
  std::vector<double> allocated, bought;
};

struct CellCapacity {
  WindowId window;
  CapacitySource source = CapacitySource::kNone;
  PerResource<CapacityAmounts> of;  // amounts by resource
  uint32_t machines = 0, unmeasured_machines = 0;
  uint32_t jobs_of_unknown_tier = 0;  // number of jobs of an unknown tier, which count in the first tier
  std::string unknown_tier;           // name of one unknown tier; "" if none

  CapacityAmounts& amounts(Resource r) { return of[static_cast<size_t>(r)]; }
  const CapacityAmounts& amounts(Resource r) const { return of[static_cast<size_t>(r)]; }
};

struct CapacityInput {
  const FleetView& fleet;         // jobs in the window
  const MachinesView* machines;   // machines in the window; null: no source of machines
  const brain::PoolPrices* pool;  // pool of the price file; null: none
  const QuotaView* quota;         // quota; null: not configured
  const GroupScheme* scheme;      // scheme of the quota; null: not configured
  const JobTiers& tiers;
};

// Computes the capacity in the window of the fleet. If a ready machine has a known capacity, computes capacity and
// usage from the machines and their tasks. Machines with the same name in several sources count as one machine.
// Otherwise, the capacity is the size of the price file's pool, and the usage is the usage of all jobs of the
// fleet. Without machines and pool, only usage and allocation of all jobs are known. O(tasks of the machines) or
// O(jobs). REQUIRES: fleet.window has a value.
CellCapacity CellCapacityOf(const CapacityInput& input);

}  // namespace taut::server
