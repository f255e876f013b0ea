// One tier of a shared pool, step by step: which of its jobs are sold what they ask for, which of these run,
// and what the tier used, held and bought.
//
// A job asks when it first has usage, waits until it is granted, and asks again each step, in the order in
// which jobs came; it ends with its last step. What is granted grows and shrinks with what the job asks for.
// A reclaimable tier runs in what the higher tiers do not use: a job runs whenever it fits together with all
// jobs that were granted before it. The others run as far as there is room, those that run already first, and
// of these the oldest. So the newest are reclaimed first, except those that need not be. Time in which a job
// waits or is reclaimed is lost: no usage is moved.
//
// Arithmetic only, on whole amounts: the same steps give the same result.
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

// The life of a job, in steps; -1: it has no usage.
struct PoolJob {
  int32_t first_step = -1, last_step = -1;
  uint32_t group = 0;
};
// What a job asks for in a step, and what it uses if it runs.
struct PoolJobStep {
  uint32_t job = 0;
  PoolAmounts ask = {}, use = {};
};
struct TierStep {
  PerResource<double> higher_use = {};  // of all higher tiers; NaN: not measured
  PoolAmounts bought = {};              // by all higher tiers
  std::span<const PoolJobStep> jobs;    // of this tier with usage, ascending by job
};

// Of jobs that run: usage, and allocation, what they ask for. Reservation: what all granted jobs ask for, that
// run or not. So allocation <= reservation; usage <= allocation where no job uses more than it asks for.
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
  int64_t wanted = 0, ran = 0;  // steps with usage since it was granted, and those of them in which it ran
  bool Kept(int64_t availability_ppm) const { return ran * brain::kWholePpm >= availability_ppm * wanted; }
};
struct SoldJob {
  uint32_t job = 0;
  int32_t asked_step = 0, granted_step = -1;  // -1: never
  int32_t reclaims = 0;
  std::vector<StepSpan> runs;               // ascending, disjoint
  std::vector<PeriodAvailability> periods;  // ascending, from count_from on

  // O(log runs).
  bool RunsAt(int32_t step) const;
  // Null if it was not granted in that period. O(periods).
  const PeriodAvailability* In(int32_t period) const;
};

struct TierTotals {
  uint64_t jobs = 0;                               // that asked and were not over before count_from
  uint64_t at_once = 0, later = 0, never = 0;      // of these: granted within the patience, later, never
  uint64_t reclaims = 0;                           // from count_from on
  uint64_t job_periods = 0, job_periods_kept = 0;  // of granted jobs: periods with usage
  int64_t wanted_steps = 0, ran_steps = 0;         // of granted jobs, from count_from on
  PoolLines sums;                                  // over the steps from count_from on
  PoolAmounts wanted = {};  // what granted jobs asked for in steps with usage: what would run if all did

  double obtained_share() const;   // granted within the patience; 1 of no jobs
  double available_share() const;  // of the wanted steps; 1 of none
};

struct TierSimulationOptions {
  PoolAmounts capacity = {};
  int64_t availability_ppm = brain::kWholePpm;
  int64_t reclaim_steps = 0;  // capacity is free for this tier if it was in all of these before
  int32_t sale_from = 0;      // first step at which jobs may ask
  int32_t count_from = 0;     // first step that counts in totals and periods
  int32_t patience_steps = 0;
  bool reclaimable = true;          // else what is granted runs
  std::span<const int32_t> period;  // of each step, ascending
};

class TierSimulation {
 public:
  // `jobs`: of all tiers, by id; it and the periods must outlive this. `quota` may be null.
  TierSimulation(const TierSimulationOptions& options, std::span<const PoolJob> jobs,
                 std::unique_ptr<TierSeller> seller, std::unique_ptr<TierQuota> quota);

  // The next step, without gaps from 0 on. Decisions are appended to `decisions` if that is not null, with
  // reasons. Errors as TierQuota's. O(jobs that wait or are granted).
  absl::Status Step(const TierStep& step, PoolLines& lines, std::vector<SaleDecision>* decisions);
  // After the last step.
  void Finish();

  // In the order in which they asked.
  std::span<const SoldJob> jobs() const { return sold_; }
  TierTotals Totals() const;

 private:
  // Beside SoldJob, while it lasts.
  struct State {
    PoolAmounts ask = {}, use = {};
    int32_t seen_step = -1;  // the last with usage
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
  std::vector<int32_t> index_of_job_;  // in sold_; -1: it has not asked
  std::vector<SoldJob> sold_;
  std::vector<State> state_;            // of each in sold_
  std::vector<size_t> waiting_, held_;  // indices of sold_: in the order of asking, and of being granted
  PoolAmounts held_sum_ = {};
  TierTotals totals_;
  int32_t step_ = 0;
  std::vector<SaleDecision>* decisions_ = nullptr;
};

}  // namespace taut::tools
