// Capacity, reservation and usage of the cell in one window, from its machines, or from a pool whose size the
// price file states.
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
std::string_view Name(CapacitySource source);  // "none", "machines", "pool"

// One resource, in cores or bytes; absent: unknown. Vectors are by tier, and empty if unknown.
struct CapacityAmounts {
  std::optional<double> capacity;  // machines that accept tasks
  // Bought by groups (quota), or allocated to them, whichever is more.
  std::optional<double> reservation;
  std::optional<double> allocation;  // limits of running tasks (requests, for containers of Kubernetes)
  std::optional<double> usage;       // mean for CPU, peak for memory
  std::optional<double> forecast;    // predicted peak of all tasks in the next day, added up over machines
  // Usage by tier. The first tier includes the capacity of machines that were not measured, so that it is not
  // sold.
  std::vector<double> use;
  std::vector<double> allocated, bought;
};

struct CellCapacity {
  WindowId window;
  CapacitySource source = CapacitySource::kNone;
  PerResource<CapacityAmounts> of;  // by Resource
  uint32_t machines = 0, unmeasured_machines = 0;
  uint32_t jobs_of_unknown_tier = 0;  // counted in the first tier
  std::string unknown_tier;           // name of one of them

  CapacityAmounts& amounts(Resource r) { return of[static_cast<size_t>(r)]; }
  const CapacityAmounts& amounts(Resource r) const { return of[static_cast<size_t>(r)]; }
};

struct CapacityInput {
  const FleetView& fleet;         // in the window
  const MachinesView* machines;   // in the window; null: no source of machines
  const brain::PoolPrices* pool;  // from the price file; null: none stated
  const QuotaView* quota;         // null: not configured
  const GroupScheme* scheme;      // null: not configured
  const JobTiers& tiers;
};

// Computes the capacity in the window of the fleet. REQUIRES fleet.window. If a ready machine has a known
// capacity, machines and their tasks count; a name in several sources is one machine. Else the stated pool
// and all jobs of the fleet count. Without both, only usage and allocation of all jobs are known. O(tasks of
// the machines) or O(jobs).
CellCapacity CellCapacityOf(const CapacityInput& input);

}  // namespace taut::server
