// Generates a synthetic cell over time: long-running services, jobs that start and end, failures, maintenance,
// and changes of limits by an autoscaler.
#pragma once

#include <cstdint>

#include "brain/cell/cell_events.h"
#include "brain/cell/made_cell.h"

namespace taut::brain {

// Parameters of a synthetic cell over time. Published (Verma et al., EuroSys 2015; Tirmazi et al., EuroSys 2020;
// Rzadca et al., EuroSys 2020): production jobs are long-running services, batch jobs run for minutes to days,
// and resource-hours of jobs are heavy-tailed. Arrivals have a daily cycle, and Autopilot changes a job's limit
// every few days. All numbers below are unpublished and chosen here.
struct MadeCellEventsOptions {
  // MadeCellOptions::other_cpu is the mean over time that would result if no job had to wait. Its default is
  // higher than in a static cell, so that some jobs wait. MadeCellOptions::other_times is ignored.
  MadeCellOptions cell = {.other_cpu = 0.5};
  double days = 2;  // simulated days; > 0
  // Share of production jobs that run for the whole time. Other production jobs run for log-normal times.
  double standing = 0.85;
  double service_median_h = 12, service_sigma = 1;
  // Run times of jobs outside production: log-normal, at most run_most_h.
  double run_median_s = 900, run_sigma = 2, run_most_h = 72;
  double daily_cycle = 0.3;  // the arrival rate peaks at (1 + daily_cycle) times its mean; [0, 1]
  // Days between failures of a machine, 0 if machines never fail, and hours of a repair.
  double failure_days = 60, repair_h = 2;  // means of exponential distributions
  // Each machine is serviced every maintenance_days: drained for notice_min minutes, then down for maintenance_min
  // minutes.
  double maintenance_days = 28, maintenance_min = 30, notice_min = 15;
  // The autoscaler sets limits to the reservation plus a margin. At submission, the autoscaler sets the limit of a
  // job that is known from earlier runs. It sets the limit of any other job a day later. Later limits deviate from
  // the first limit by about change_sigma.
  double known = 0.7, margin = 0.15;  // share of known jobs; margin as a share of the reservation
  // Changes of the limit per job and day, and the standard deviation of the logarithm of a change.
  double changes_a_day = 0.3, change_sigma = 0.15;
};

struct MadeCellEvents {
  CellModel model;
  CellWorkload workload;
};

// Returns an approximate upper bound on the number of tasks that these options generate.
double MadeTasks(const MadeCellEventsOptions& options);

// Generates a cell and its events. Equal options generate equal results. CheckCell and CheckCellWorkload have no
// finding in a cell of at least 40 machines. REQUIRES: options within their ranges.
MadeCellEvents MakeCellEvents(const MadeCellEventsOptions& options);

}  // namespace taut::brain
