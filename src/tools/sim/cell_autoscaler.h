// The vertical autoscaler of a simulated cell: a recommender sets the limits of the cell's services, from
// synthetic usage.
//
// A service's task uses a fixed share of the job's reservation (55 to 80 %, drawn per job and resource). This
// share is multiplied by a daily cycle (CPU 10 to 30 %, memory 5 %) and by noise per window (CPU 10 %, memory
// 3 %). In 0.2 % of the windows a task uses 1.5 times as much memory. If the memory usage of a service's task
// exceeds the limit, one task of the service is killed, and the recommender observes the kill.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "brain/cell/cell_simulation.h"
#include "brain/fleet/job_stepper.h"
#include "brain/fleet/policies.h"

namespace taut::tools {

class CellLimits final : public brain::CellAutoscaler {
 public:
  // Keeps references to `model` and `workload`. `policy` must not learn from other jobs. The limits of jobs
  // of kWork do not change. Other limits change only by at least 5 %, or after a kill.
  CellLimits(const brain::CellModel& model, const brain::CellWorkload& workload, brain::Policy policy,
             uint64_t seed);

  Decision Close(uint32_t job, const Window& window) override;

 private:
  struct Job {
    int32_t day = -1;
    std::vector<brain::ManagedLane> lanes;  // CPU, then memory
  };

  // Returns the usage of one task in the window, in the unit of the model's row.
  double UsageOf(uint32_t job, size_t resource, int32_t window) const;
  double CloseLane(Job& job, size_t resource, uint32_t number, const Window& window, bool& killed);

  const brain::CellModel& model_;
  const brain::CellWorkload& workload_;
  const brain::Policy policy_;
  const uint64_t seed_;
  const brain::VerticalSettings settings_;
  brain::FleetModels models_;
  std::vector<std::unique_ptr<Job>> jobs_;  // state of each job of the model; null: not stepped yet
};

}  // namespace taut::tools
