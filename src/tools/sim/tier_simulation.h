// Simulates one tier of a shared pool step by step: granted requests, running jobs, and the tier's usage,
// allocation and reservation.
//
// A job requests capacity in its first step with usage, and again in each step until the request is granted, in
// order of arrival. The job ends after its last step. The granted amount follows the job's request.
//
// A reclaimable tier runs in capacity that higher tiers do not use. A job runs if it fits on top of all jobs
// granted before it. Remaining capacity goes to the other jobs: running jobs before stopped jobs, and older before
// newer jobs. So the newest jobs are reclaimed first, and only if necessary. Usage while a job waits or is
// reclaimed is lost, not moved to later steps.
//
// The simulation uses integers and no randomness, so equal steps result in equal results. Not thread-safe.
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

// First and last step in which a job has usage; -1 if it has none.
struct PoolJob {
  int32_t first_step = -1, last_step = -1;
  uint32_t group = 0;
};
// A job's request in a step, and its usage if it runs.
struct PoolJobStep {
  uint32_t job = 0;
  PoolAmounts ask = {}, use = {};
};
struct TierStep {
  PerResource<double> higher_use = {};  // usage of all higher tiers; NaN: not measured
  PoolAmounts bought = {};              // amounts bought by all higher tiers
  std::span<const PoolJobStep> jobs;    // jobs of this tier with usage, ascending by job
};

// Sums over a tier's jobs in one step: usage and requests (allocation) of running jobs, and requests (reservation)
// of all granted jobs. allocation <= reservation, and usage <= allocation if no job exceeds its request.
struct PoolLines {
  PoolAmounts usage = {}, allocation = {}, reservation = {};
};

enum class SaleEvent : uint8_t { kAdmitted, kQueued, kRefused, kReclaimed, kResumed };
std::string_view Name(SaleEvent event);  // name such as "admitted"
struct SaleDecision {
  int32_t step = 0;
  uint32_t job = 0;
  SaleEvent event = SaleEvent::kAdmitted;
  PoolAmounts ask = {};
  std::string reason;
};

struct StepSpan {
  int32_t first = 0, end = 0;  // steps [first, end)
};
struct PeriodAvailability {
  int32_t period = 0;
  // Number of steps with usage since the grant, and number of these steps in which the job ran.
  int64_t wanted = 0, ran = 0;
  bool Kept(int64_t availability_ppm) const { return ran * brain::kWholePpm >= availability_ppm * wanted; }
};
struct SoldJob {
  uint32_t job = 0;
  int32_t asked_step = 0, granted_step = -1;  // steps of the first request and of the grant; -1: not granted
  int32_t reclaims = 0;
  std::vector<StepSpan> runs;               // steps in which the job ran, ascending and disjoint
  std::vector<PeriodAvailability> periods;  // availability by period from count_from on, ascending

  // Returns true if the job runs in the step. O(log runs).
  bool RunsAt(int32_t step) const;
  // Returns the job's availability in a period; null if the job has no granted step with usage in the period.
  // O(periods).
  const PeriodAvailability* In(int32_t period) const;
};

struct TierTotals {
  uint64_t jobs = 0;  // jobs with a request that did not end before count_from
  // Numbers of `jobs` that were granted within the patience, granted later, and never granted.
  uint64_t at_once = 0, later = 0, never = 0;
  uint64_t reclaims = 0;  // number of reclaims from count_from on
  // Number of periods with usage, summed over granted jobs, and number of these periods with the promised
  // availability.
  uint64_t job_periods = 0, job_periods_kept = 0;
  // Number of steps with usage from count_from on, summed over granted jobs, and number of these steps in which
  // the job ran.
  int64_t wanted_steps = 0, ran_steps = 0;
  PoolLines sums;           // sums over the steps from count_from on
  PoolAmounts wanted = {};  // requests of granted jobs in steps with usage: the allocation if all of them ran

  double obtained_share() const;   // share of jobs granted within the patience; 1 without jobs
  double available_share() const;  // share of wanted steps in which the job ran; 1 without wanted steps
};

struct TierSimulationOptions {
  PoolAmounts capacity = {};
  int64_t availability_ppm = brain::kWholePpm;
  int64_t reclaim_steps = 0;  // number of steps in which capacity must be unused before this tier may use it
  int32_t sale_from = 0;      // first step in which jobs may request
  int32_t count_from = 0;     // first step that counts in totals and periods
  int32_t patience_steps = 0;
  bool reclaimable = true;          // false: every granted job runs
  std::span<const int32_t> period;  // number of the period by step, ascending
};

class TierSimulation {
 public:
  // `jobs` contains the jobs of all tiers by number. `jobs` and options.period must outlive this object. A null
  // `quota` means no quota.
  TierSimulation(const TierSimulationOptions& options, std::span<const PoolJob> jobs,
                 std::unique_ptr<TierSeller> seller, std::unique_ptr<TierQuota> quota);

  // Simulates the next step. REQUIRES: called once per step, from step 0 on. Appends decisions with reasons to
  // `decisions` unless null. Returns errors of TierQuota. O(jobs that wait or are granted).
  absl::Status Step(const TierStep& step, PoolLines& lines, std::vector<SaleDecision>* decisions);
  // Ends the runs of all jobs. Call after the last step.
  void Finish();

  // Returns the jobs in the order of their first requests.
  std::span<const SoldJob> jobs() const { return sold_; }
  TierTotals Totals() const;

 private:
  // State of a job until it ends, in addition to its SoldJob.
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
  std::vector<int32_t> index_of_job_;  // index in sold_ by job; -1: no request so far
  std::vector<SoldJob> sold_;
  std::vector<State> state_;            // states, parallel to sold_
  std::vector<size_t> waiting_, held_;  // indices in sold_, in the order of requests and of grants
  PoolAmounts held_sum_ = {};
  TierTotals totals_;
  int32_t step_ = 0;
  std::vector<SaleDecision>* decisions_ = nullptr;
};

}  // namespace taut::tools
