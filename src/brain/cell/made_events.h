// A synthetic cell over time: services that stay, jobs that come and go, failures, maintenance and an autoscaler.
#pragma once

#include <cstdint>

#include "brain/cell/cell_events.h"
#include "brain/cell/made_cell.h"

namespace taut::brain {

// Published: jobs of production are services that run long, batch jobs run for minutes to days; resource-hours
// of jobs are heavy-tailed; arrivals have a daily cycle; Autopilot changes a job's limit every few days (Verma
// et al., EuroSys 2015; Tirmazi et al., EuroSys 2020; Rzadca et al., EuroSys 2020). Not published, and chosen
// here: all the figures below.
struct MadeCellEventsOptions {
  // Its other_cpu is the mean over time, if no job waited: more than in a cell at one time, so that some wait. Its
  // other_times is ignored.
  MadeCellOptions cell = {.other_cpu = 0.5};
  double days = 2;  // > 0
  // Share of production jobs that run from the beginning to the end; the others come and run for log-normal times.
  double standing = 0.85;
  double service_median_h = 12, service_sigma = 1;
  // Other jobs' times are log-normal, at most the last.
  double run_median_s = 900, run_sigma = 2, run_most_h = 72;
  double daily_cycle = 0.3;  // arrivals: their rate is 1 + this at its highest; [0, 1]
  // Of each machine; 0 days: never.
  double failure_days = 60, repair_h = 2;                               // exponential, means
  double maintenance_days = 28, maintenance_min = 30, notice_min = 15;  // in turn: drained, then down
  // The autoscaler: limits are what is reserved and a margin. Of jobs that are known from earlier runs at their
  // submission, of others a day later; then new limits a job-day, each about so far from that.
  double known = 0.7, margin = 0.15;
  double changes_a_day = 0.3, change_sigma = 0.15;
};

struct MadeCellEvents {
  CellModel model;
  CellWorkload workload;
};

// About how many tasks these options make, at most.
double MadeTasks(const MadeCellEventsOptions& options);

// The same options make the same cell and events. CheckCell and CheckCellWorkload find nothing in one of 40
// machines or more. REQUIRES: options within their ranges.
MadeCellEvents MakeCellEvents(const MadeCellEventsOptions& options);

}  // namespace taut::brain
