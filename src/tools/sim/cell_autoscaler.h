// The vertical autoscaler of a simulated cell: a recommender sets the limits of the cell's services, based on
// synthetic usage.
//
// A task of a service uses a fixed share of the job's reservation (55 to 80 %, drawn per job and resource). A
// daily cycle (CPU 10 to 30 %, memory 5 %) and noise per window (CPU 10 %, memory 3 %) multiply this share. In 0.2
// % of the windows the task uses 1.5 times as much memory. Memory usage above the limit kills one task of the
// service, and the recommender observes the kill.
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
  // `model` and `workload` must outlive this object. `policy` must not learn from other jobs. The limits of kWork
  // jobs are constant. Other limits change only by at least 5 %, or after a kill.
  CellLimits(const brain::CellModel& model, const brain::CellWorkload& workload, brain::Policy policy,
             uint64_t seed);

  Decision Close(uint32_t job, const Window& window) override;

 private:
  struct Job {
    int32_t day = -1;
    std::vector<brain::ManagedLane> lanes;  // CPU lane, memory lane
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
  std::vector<std::unique_ptr<Job>> jobs_;  // states by job of the model; null before the job's first step
};

}  // namespace taut::tools
