// What a simulation of a cell measured.
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

// Why a task lost its machine.
enum class EvictionCause : uint8_t {
  kPreempted,  // for a task of a higher tier
  kFailed,     // the machine failed
  kDrained,    // the machine was drained
  kRaised,     // a limit on the machine was raised, its own or that of a higher tier
  kCapacity,   // the machine's capacity was reduced
  kOom,        // it used more memory than its own limit
};
inline constexpr size_t kEvictionCauses = 6;
std::string_view Name(EvictionCause cause);  // "preempted"

// Counts are of the whole simulation; "measured" is after its warm-up.
struct CellTierTotals {
  uint64_t jobs = 0, jobs_finished = 0;  // submitted; ended as they should
  // Each task that was submitted is one of: finished, removed (its job was stopped), running or pending.
  uint64_t tasks = 0, finished = 0, removed = 0, running = 0, pending = 0;
  uint64_t starts = 0;

  // Measured.
  std::array<uint64_t, kEvictionCauses> evictions = {};
  double task_hours = 0, lost_task_hours = 0;  // lost: run, and then run again from the start
  double cpu_hours = 0, lost_cpu_hours = 0;    // the same times the limit of row 0, in its unit
  // Seconds from a job's submission to its first task running and to all tasks having run, of the jobs that were
  // submitted in the measured time and got so far; and from a task's eviction to its next start. In no order.
  std::vector<float> first_s, all_s, again_s;
  uint64_t measured_jobs = 0;  // submitted in the measured time

  void Add(const CellTierTotals& other);
  uint64_t all_evictions() const;
  // Of a cause, or of all, in a week of a task's running; 0 if none ran.
  double evictions_per_week(std::optional<EvictionCause> cause = {}) const;
  double lost_share() const { return task_hours > 0 ? lost_task_hours / task_hours : 0; }
};

// Means over one hour of the simulation, or what it has of it.
struct CellHour {
  std::array<double, kMaxCellResources> capacity = {};  // in service
  std::array<double, kMaxCellResources> production_limit = {}, other_limit = {};
  std::array<double, kMaxCellResources> production_reserved = {}, other_reserved = {};
  double running = 0, pending = 0, machines_out = 0;

  void AddTimes(double factor, const CellHour& other);
};

// Jobs that wait at the end.
struct CellPending {
  std::string job;
  uint32_t tasks = 0;
  std::string why;  // sentences
};

struct CellTotals {
  std::array<CellTierTotals, kCellTiers> tiers;
  std::vector<CellHour> hours;
  CellHour mean;        // of the measured time
  uint64_t events = 0;  // submissions, starts and ends of tasks, evictions, steps of reservations, changes of
                        // machines, limits and capacities; not passes
  uint64_t passes = 0;
  uint64_t limit_changes = 0, machine_failures = 0, machine_drains = 0;
  double machine_hours_out = 0;      // measured
  uint64_t pending_jobs = 0;         // at the end
  std::vector<CellPending> pending;  // the first of them, higher tiers first
  bool partial = false;              // should_stop ended it
};

// The share `q` of `of` values, of which those not in `values` are infinite: nearest rank. Absent if it is one of
// those. Reorders.
std::optional<double> DelayQuantile(std::span<float> values, uint64_t of, double q);

struct DelayPoint {
  double seconds = 0, share = 0;
};
// The share of `of` delays up to log-spaced times: 8 points a decade from 0.1 s to the largest. Reorders.
std::vector<DelayPoint> DelayCdf(std::span<float> values, uint64_t of);

}  // namespace taut::brain
