// Generates a synthetic cell similar to Borg's cells: machines of a few shapes, and a workload that fills most
// of the machines.
#pragma once

#include <cstdint>

#include "brain/cell/cell_model.h"

namespace taut::brain {

// Parameters of a synthetic cell. The defaults follow published figures of Borg's cells (Verma et al., EuroSys
// 2015, sections 2.2 to 5.5; Tirmazi et al., EuroSys 2020). By limit, about 70 % of the CPU belongs to production.
// 20 % of the other tasks request less than 0.1 core. Job sizes and amounts are heavy-tailed, and amounts are not
// round. The reserved share of a limit, the mix of CPU and memory, and the shares of constraints are unpublished
// and chosen here.
struct MadeCellOptions {
  uint32_t machines = 1000;       // number of machines, 1 to 100,000
  double tasks_per_machine = 12;  // approximate mean; [1, 100]
  // Sums of CPU limits as a share of the cell's capacity, for production and for all other tasks.
  double production_cpu = 0.66;
  double other_cpu = 0.29;
  double other_times = 1;             // factor on the number of jobs outside production; > 0
  double production_reserved = 0.78;  // mean reservation as a share of the limit; (0, 1]
  double other_reserved = 0.85;
  double constrained = 0.06;  // share of jobs that require a platform or a zone
  double spread = 0.3;        // share of production jobs that spread over racks
  uint32_t users = 60;
  uint64_t seed = 1;
};

// Generates a cell. Equal options generate equal cells. CheckCell has no finding in a cell of at least 40
// machines. Each machine has the attributes platform, zone and rack. REQUIRES: options within their ranges.
CellModel MakeCell(const MadeCellOptions& options);

}  // namespace taut::brain
