// What the cell has, what is spoken for and what is used in one window, from its machines, or from a pool whose
// size the price file states.
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

// Of one resource, in cores or bytes; absent: not known. Vectors are by tier, and empty where not known.
struct CapacityAmounts {
  std::optional<double> capacity;  // of machines that take tasks
  std::optional<double>
      reservation;  // what groups have bought (quota), or where that is more, their allocation
  std::optional<double> allocation;  // limits of running tasks (requests, of containers of Kubernetes)
  std::optional<double> usage;       // mean of CPU, peak of memory
  std::optional<double> forecast;    // the predicted peak of all tasks in the next day, machine by machine
  // Usage, and as the first tier's the capacity of machines that were not measured: nothing of it can be sold.
  std::vector<double> use;
  std::vector<double> allocated, bought;
};

struct CellCapacity {
  WindowId window;
  CapacitySource source = CapacitySource::kNone;
  PerResource<CapacityAmounts> of;  // by Resource
  uint32_t machines = 0, unmeasured_machines = 0;
  uint32_t jobs_of_unknown_tier = 0;  // they count as the first tier's
  std::string unknown_tier;           // of one of them

  CapacityAmounts& amounts(Resource r) { return of[static_cast<size_t>(r)]; }
  const CapacityAmounts& amounts(Resource r) const { return of[static_cast<size_t>(r)]; }
};

struct CapacityInput {
  const FleetView& fleet;         // of the window
  const MachinesView* machines;   // of the window; null: there is no source of machines
  const brain::PoolPrices* pool;  // of the price file; null: it states none
  const QuotaView* quota;         // null: none is configured
  const GroupScheme* scheme;      // likewise
  const JobTiers& tiers;
};

// Of the window of the fleet, which REQUIRES fleet.window. If a machine that takes tasks has a known capacity, all
// is of such machines and the tasks on them; a name that several sources have is one machine. Else it is of the
// stated pool and all jobs of the fleet. Without both only usage and allocation of all jobs are known. O(tasks of
// the machines) or O(jobs).
CellCapacity CellCapacityOf(const CapacityInput& input);

}  // namespace taut::server
