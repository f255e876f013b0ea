// Results of a simulation of a cell.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "brain/cell/cell_model.h"

namespace taut::brain {

// Cause for which a task lost its machine.
enum class EvictionCause : uint8_t {
  kPreempted,  // a task of a higher tier needed the machine
  kFailed,     // the machine failed
  kDrained,    // the machine was drained for maintenance
  kRaised,     // a limit on the machine was raised: the task's own limit or a limit of a higher tier
  kCapacity,   // the machine's capacity was reduced
  kOom,        // the task exceeded its own memory limit
};
inline constexpr size_t kEvictionCauses = 6;
std::string_view Name(EvictionCause cause);  // returns, for example, "preempted"

// Totals of one tier. Counts cover the whole simulation; "measured" means after the warm-up.
struct CellTierTotals {
  uint64_t jobs = 0, jobs_finished = 0;  // jobs that were submitted; jobs that ended by themselves
  // Each submitted task has exactly one of four states. A task is `removed` if its job was stopped.
  uint64_t tasks = 0, finished = 0, removed = 0, running = 0, pending = 0;
  uint64_t starts = 0;

  // The following fields cover the measured time.
  std::array<uint64_t, kEvictionCauses> evictions = {};
  double task_hours = 0, lost_task_hours = 0;  // run time of tasks; run time that an eviction made useless
  // Hours of the tasks' run times, multiplied by the limit of resource 0 in the resource's displayed unit.
  double cpu_hours = 0, lost_cpu_hours = 0;
  // Delays in seconds, in no order. first_s: from a job's submission to the start of its first task. all_s: from
  // the submission until all tasks of the job have started. first_s and all_s contain only jobs that were
  // submitted in the measured time. again_s: from a task's eviction to its next start.
  std::vector<float> first_s, all_s, again_s;
  uint64_t measured_jobs = 0;  // jobs that were submitted in the measured time

  // Adds the counts and delays of `other`.
  void Add(const CellTierTotals& other);
  uint64_t all_evictions() const;
  // Returns evictions per week of a running task, for `cause` or for all causes together; 0 if no task ran.
  double evictions_per_week(std::optional<EvictionCause> cause = {}) const;
  double lost_share() const { return task_hours > 0 ? lost_task_hours / task_hours : 0; }
};

// Means over one hour of the simulation; the last hour may be shorter.
struct CellHour {
  std::array<double, kMaxCellResources> capacity = {};  // capacity of the machines in service
  std::array<double, kMaxCellResources> production_limit = {}, other_limit = {};
  std::array<double, kMaxCellResources> production_reserved = {}, other_reserved = {};
  double running = 0, pending = 0, machines_out = 0;

  // Adds `factor` times the values of `other`.
  void AddTimes(double factor, const CellHour& other);
};

// A job that has pending tasks at the end.
struct CellPending {
  std::string job;
  uint32_t tasks = 0;
  std::string why;  // explanation in whole sentences
};

// Totals of a simulation.
struct CellTotals {
  std::array<CellTierTotals, kCellTiers> tiers;
  std::vector<CellHour> hours;
  CellHour mean;  // mean over the measured time
  // Number of submissions, starts and ends of tasks, evictions, steps of reservations, and changes of machines,
  // limits and capacities. Does not include passes.
  uint64_t events = 0;
  uint64_t passes = 0;
  uint64_t limit_changes = 0, machine_failures = 0, machine_drains = 0;
  double machine_hours_out = 0;      // machine-hours out of service in the measured time
  uint64_t pending_jobs = 0;         // number of jobs with pending tasks at the end
  std::vector<CellPending> pending;  // the first pending jobs, higher tiers first
  bool partial = false;              // true if should_stop ended the simulation
};

// Returns the quantile `q` of `of` values, by nearest rank. The `of` - values.size() delays without a value
// count as infinite. Returns nullopt if the quantile is infinite. Reorders `values`.
std::optional<double> DelayQuantile(std::span<float> values, uint64_t of, double q);

// A point of a cumulative distribution.
struct DelayPoint {
  double seconds = 0, share = 0;
};
// Returns the cumulative share of `of` delays at log-spaced times: 8 points per decade, from 0.1 s to the
// largest value. Reorders `values`.
std::vector<DelayPoint> DelayCdf(std::span<float> values, uint64_t of);

}  // namespace taut::brain
