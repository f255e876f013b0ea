// Simulates one tier of a shared pool step by step: which requests are granted, which granted jobs run, and
// the tier's usage, allocation and reservation.
//
// A job requests when it first has usage, waits until it is granted, and requests again in each step, in the
// order of arrival. It ends with its last step. A grant grows and shrinks with the job's request.
//
// A reclaimable tier runs in the capacity that higher tiers do not use. A job runs whenever it fits together
// with all jobs that were granted before it. All other jobs run while there is room: running jobs before
// stopped jobs, and the oldest job first. So the newest jobs are reclaimed first, and only if necessary. Time
// in which a job waits or is reclaimed is lost: the job's usage is not moved.
//
// The simulation is integer arithmetic without randomness: equal steps produce an equal result. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "brain/economy/reclaim_window.h"
#include "tools/sim/tier_quota.h"
#include "tools/sim/tier_seller.h"

namespace taut::tools {

// First and last step of a job with usage; -1 if it has none.
struct PoolJob {
  int32_t first_step = -1, last_step = -1;
  uint32_t group = 0;
};
// Request of a job in a step, and the job's usage if the job runs.
struct PoolJobStep {
  uint32_t job = 0;
  PoolAmounts ask = {}, use = {};
};
struct TierStep {
  PerResource<double> higher_use = {};  // use by all higher tiers; NaN: not measured
  PoolAmounts bought = {};              // bought by all higher tiers
  std::span<const PoolJobStep> jobs;    // jobs of this tier with usage, ascending by job
};

// Sums of one step over the tier's jobs. Usage and allocation are the usage and the requests of the jobs that
// run. Reservation is the sum of the requests of all granted jobs, running or not. So allocation <=
// reservation, and usage <= allocation if no job uses more than it requests.
struct PoolLines {
  PoolAmounts usage = {}, allocation = {}, reservation = {};
};

enum class SaleEvent : uint8_t { kAdmitted, kQueued, kRefused, kReclaimed, kResumed };
std::string_view Name(SaleEvent event);  // "admitted"
struct SaleDecision {
  int32_t step = 0;
  uint32_t job = 0;
  SaleEvent event = SaleEvent::kAdmitted;
  PoolAmounts ask = {};
  std::string reason;
};

struct StepSpan {
  int32_t first = 0, end = 0;  // half-open
};
struct PeriodAvailability {
  int32_t period = 0;
  // Steps with usage since the grant; number of these steps in which the job ran.
  int64_t wanted = 0, ran = 0;
  bool Kept(int64_t availability_ppm) const { return ran * brain::kWholePpm >= availability_ppm * wanted; }
};
struct SoldJob {
  uint32_t job = 0;
  int32_t asked_step = 0, granted_step = -1;  // -1: not yet
  int32_t reclaims = 0;
  std::vector<StepSpan> runs;               // spans in which the job ran, ascending and disjoint
  std::vector<PeriodAvailability> periods;  // availability in each period from count_from on, ascending

  // Returns true if the job runs in the step. O(log runs).
  bool RunsAt(int32_t step) const;
  // Returns the job's availability in the period; null if the period has no granted step with usage.
  // O(periods).
  const PeriodAvailability* In(int32_t period) const;
};

struct TierTotals {
  uint64_t jobs = 0;  // jobs that requested and did not end before count_from
  // Numbers of these jobs that were granted within the patience, granted later, and never granted.
  uint64_t at_once = 0, later = 0, never = 0;
  uint64_t reclaims = 0;  // reclaims from count_from on
  // Periods with usage of granted jobs; number of these periods with the promised availability.
  uint64_t job_periods = 0, job_periods_kept = 0;
  // Steps of granted jobs with usage, from count_from on; number of these steps in which the job ran.
  int64_t wanted_steps = 0, ran_steps = 0;
  PoolLines sums;           // sums over the steps from count_from on
  PoolAmounts wanted = {};  // requests of granted jobs in steps with usage: the allocation if all of them ran

  double obtained_share() const;   // share granted within the patience; 1 without jobs
  double available_share() const;  // share of the wanted steps in which the job ran; 1 without such steps
};

struct TierSimulationOptions {
  PoolAmounts capacity = {};
  int64_t availability_ppm = brain::kWholePpm;
  int64_t reclaim_steps = 0;  // capacity is free for this tier if it was free in all of these last steps
  int32_t sale_from = 0;      // first step at which jobs may request
  int32_t count_from = 0;     // first step that counts in totals and periods
  int32_t patience_steps = 0;
  bool reclaimable = true;          // false: every granted job runs
  std::span<const int32_t> period;  // number of each step's period, ascending
};

class TierSimulation {
 public:
  // `jobs` contains the jobs of all tiers, by id. `jobs` and options.period must outlive this object. `quota`
  // may be null: no quota.
  TierSimulation(const TierSimulationOptions& options, std::span<const PoolJob> jobs,
                 std::unique_ptr<TierSeller> seller, std::unique_ptr<TierQuota> quota);

  // Simulates the next step. REQUIRES: called for every step from 0 on. Appends decisions with reasons to
  // `decisions` unless it is null. Returns the errors of TierQuota. O(jobs that wait or are granted).
  absl::Status Step(const TierStep& step, PoolLines& lines, std::vector<SaleDecision>* decisions);
  // Ends the runs of all jobs. Call this after the last step.
  void Finish();

  // Returns the jobs in the order of their first requests.
  std::span<const SoldJob> jobs() const { return sold_; }
  TierTotals Totals() const;

 private:
  // State of a job that has not ended, in addition to the job's SoldJob.
  struct State {
    PoolAmounts ask = {}, use = {};
    int32_t seen_step = -1;  // last step with usage
    bool runs = false;
  };

  absl::Status ReleaseEnded();
  absl::Status TakeUsage(const TierStep& step);
  absl::Status Admit(const TierStep& step);
  absl::Status Refuse(size_t i, const SaleRequest& request, bool in_quota, bool& waits);
  void Fit(const PoolAmounts& free);
  void Resume(size_t i);
  void Account(PoolLines& lines);
  void Start(size_t i);
  void Stop(size_t i);
  bool SeenNow(size_t i) const { return state_[i].seen_step == step_; }
  void Say(size_t i, SaleEvent event, std::string reason);
  std::string WhyReclaimed(const PoolAmounts& free, const PoolAmounts& asked) const;

  const TierSimulationOptions options_;
  const std::span<const PoolJob> jobs_;
  const std::unique_ptr<TierSeller> seller_;
  const std::unique_ptr<TierQuota> quota_;
  PerResource<brain::ReclaimWindow> window_;
  std::vector<int32_t> index_of_job_;  // index in sold_; -1: no request yet
  std::vector<SoldJob> sold_;
  std::vector<State> state_;            // parallel to sold_
  std::vector<size_t> waiting_, held_;  // indices of sold_: in the order of requests, and of grants
  PoolAmounts held_sum_ = {};
  TierTotals totals_;
  int32_t step_ = 0;
  std::vector<SaleDecision>* decisions_ = nullptr;
};

}  // namespace taut::tools
