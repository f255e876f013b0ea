// Snapshot of the whole fleet, made after each pass. Front ends list and sort it without blocking a pass.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "brain/fleet/live_fleet.h"
#include "server/control/job_index.h"

namespace taut::server {

// Cores or bytes per task; negative: absent.
struct JobAmounts {
  // limit: limit in force for the tasks: the applied limit if agents report it, else the ordered limit, else the
  // owner's limit.
  float usage = kAbsent, peak = kAbsent, owner_limit = kAbsent, limit = kAbsent, would_be = kAbsent;
  float ordered = kAbsent;  // limit ordered by the gate; absent: the owner's limit is in force
  float applied = kAbsent;  // mean over tasks of the limits last reported by agents; absent: no report
  // Risk of would_be (LiveRisk::Of).
  //   chance:    forecast chance that a day's usage exceeds would_be; negative: no forecast
  //   days:      number of known days of the last 28
  //   days_over: number of known days above would_be
  // Without a forecast, days counts the days with a recommended limit, and days_over the days above the limit of
  // that day.
  float chance = kAbsent;
  uint8_t days = 0, days_over = 0;
  // Measured share of work above the limits in the last weeks, and the target for this share. Negative: the
  // recommender accepts no such target.
  float work_over = kAbsent, work_ordered = kAbsent;
  // Provisional recommendation while the history is too short for would_be. This value is never applied and never
  // counted as a saving. first_limit: first window with a recommendation.
  float provisional = kAbsent;
  WindowId first_limit{INT32_MIN};
  // Requests of a container that has a request in addition to its limit; a cluster bills requests
  // (LiveLane::Billed). owner_request: the owner's request. request and would_be_request: the requests that belong
  // to `limit` and `would_be`. Absent for all other jobs.
  float owner_request = kAbsent, request = kAbsent, would_be_request = kAbsent;
  bool of_request = false;  // true: a Kubernetes container whose amounts are requests, not limits
  bool at_limit = false;    // true: usage of today or yesterday reached 95 % of the limit in force

  // True if savings count requests, which a cluster bills; else they count limits.
  bool bills_request() const { return of_request || owner_request >= 0; }
  // Owner's amount less the recommended amount; negative: the job needs more. nullopt if one amount is unknown.
  std::optional<double> saving() const {
    return owner_request >= 0 ? Less(owner_request, would_be_request) : Less(owner_limit, would_be);
  }
  // Owner's amount less the amount in force.
  std::optional<double> saved() const {
    return owner_request >= 0 ? Less(owner_request, request) : Less(owner_limit, limit);
  }
  // Owner's limit less the recommended limit, also if requests are billed; nullopt if the amounts are requests.
  std::optional<double> limit_saving() const {
    return of_request ? std::nullopt : Less(owner_limit, would_be);
  }

 private:
  static std::optional<double> Less(float owner, float then) {
    return owner >= 0 && then >= 0 ? std::optional(double{owner} - double{then}) : std::nullopt;
  }
};

struct JobView {
  std::shared_ptr<const JobRecord> record;  // record at the time of the pass; unaffected by later changes of
                                            // labels
  Mode mode = Mode::kObserve;
  brain::PolicyPair recommenders;
  brain::JobClass job_class = brain::JobClass::kServing;
  bool whole_machine = false;  // true if IsWholeMachine(*record); no sum includes such a job
  bool trial = false;
  brain::HoldCause held = brain::HoldCause::kNone;  // reason why the number of tasks is held
  // Only with a replica policy. load_windows: windows of the last day with a measured load; overloaded_windows:
  // number of these windows with an overload. overloaded: the last window was overloaded.
  uint16_t load_windows = 0, overloaded_windows = 0;
  bool overloaded = false;
  bool enforced = false;  // true: agents apply the ordered limits; else the limits are would-be
  uint32_t tasks = 0;
  int32_t tasks_would_be = -1;  // number of tasks recommended by the job's replica policy; negative: absent
  uint32_t tasks_running = 0;   // number of tasks counted by the job's replica policy, possibly from a series
  float throttled = kAbsent;    // share of the CFS periods of about the last day
  uint32_t ooms = 0;            // number of OOM kills in the last 7 days
  PerResource<JobAmounts> amounts;
  PerResource<std::pair<uint8_t, uint8_t>> week{};  // JobAmounts::days and days_over of the last 7 days
  int64_t last_seen_s = INT64_MIN;
  int64_t last_change_s = INT64_MIN;

  const JobAmounts& of(Resource r) const { return amounts[static_cast<size_t>(r)]; }
};

// Totals over tasks, of the jobs whose savings count requests.
struct RequestSums {
  uint32_t jobs = 0;
  // would_be is the owner's amount where there is no recommendation.
  double owner = 0, in_force = 0, would_be = 0;
  double limit_would_save = 0;  // sum of JobAmounts::limit_saving(), in addition to the saving of requests

  // Adds a job; ignores jobs without a request.
  void Add(const JobAmounts& amounts, uint32_t tasks);
};

// Sums for one resource over the tasks of all jobs measured in the last window.
struct FleetSums {
  double usage_limited = 0;  // usage of the jobs whose owner's limit is known
  // Sums of JobAmounts::saved over the jobs with an amount in force below the owner's amount, and over the jobs
  // with an amount above it, as absolute values.
  double saved = 0, raised = 0;
  double would_save = 0, would_raise = 0;  // `saved` and `raised` if would_be were in force
  RequestSums requests;
  // Job-days of the last 7 days over all jobs, and the number of these days with usage above the limit.
  uint64_t job_days = 0, job_days_over = 0;
  uint32_t jobs_at_limit = 0;
  brain::FleetRisk risk;
};

struct ReplicaSums {
  // Jobs with a recommended number of tasks; in FleetView only jobs that were measured in the last window.
  uint32_t jobs = 0, jobs_overloaded = 0;
  uint64_t tasks = 0, would_be = 0;
  uint64_t windows = 0, overloaded_windows = 0;  // windows of each job's last day
  // Numbers of jobs, indexed by HoldCause.
  std::array<uint32_t, 3> held{};

  // Counts the job by the cause of its hold.
  void AddHeld(const JobView& job) { ++held[static_cast<size_t>(job.held)]; }
  // Adds a job; ignores jobs without a recommended number.
  void Add(const JobView& job);
};

struct FleetView {
  std::optional<WindowId> window;  // window that closed last
  std::vector<JobView> jobs;       // jobs ascending by JobId; forgotten jobs are missing
  FleetPoint point;
  uint64_t ooms_day = 0, changes_day = 0;  // numbers of OOM kills and of changes in the last 24 h

  // Returns the job; nullptr if it is unknown or forgotten. O(log jobs).
  const JobView* Find(JobId id) const;
  PerResource<FleetSums> sums;
  ReplicaSums replicas;
  uint32_t whole_machines = 0;  // jobs that were measured in the last window and are in no sum
  brain::RiskTable risks;       // totals of the whole fleet; empty in a view of some groups
  // Index of `jobs`. nullptr: lists search the jobs' own names and labels, which takes several times as long.
  std::shared_ptr<const JobIndex> index;
};

// Returns the view of a live job. `day`: present day, for counts of the last days.
JobView ViewOf(const brain::LiveFleet& fleet, const brain::LiveJob& job, int32_t day);
// Returns the risk of the jobs of `view`, by the models of `fleet`. O(jobs).
brain::FleetRisk RiskOf(const brain::LiveFleet& fleet, const FleetView& view, Resource r);
// Computes `sums`, `replicas` and `whole_machines` from the jobs. O(jobs).
void SumUp(const PerResource<brain::FleetRisk>& risk, FleetView& view);

enum class SortBy : uint8_t {
  kName,
  kMode,
  kTasks,
  kOoms,
  kChanged,
  kSaving,  // all resources, each as a share of the sum of owners' limits
  kTight,   // OOM kills, then usage at the limit, then the rise from the owner's to the recommended limit
  kSavingPerMonth,  // all resources, in money
  // Sort keys of one resource (JobSort::resource).
  kUsage,
  kOwnerLimit,
  kLimit,
  kWouldBe,
  kSlack,
  kSaved,
  kSavingOfOne,
  kChance
};
struct JobSort {
  SortBy by = SortBy::kSaving;
  Resource resource = Resource::kCpu;  // resource of the keys from kUsage on

  bool operator==(const JobSort&) const = default;
};
// Parses a name such as "tasks" or "memory_saved"; nullopt if it is unknown.
std::optional<JobSort> ParseJobSort(std::string_view name);

struct JobsQuery {
  std::string search;  // words, case-insensitive; each must occur in the name or in a label written key=value
  std::optional<Mode> mode;
  JobSort sort = {};
  PerResource<double> price = {};  // price of a core or byte for a month, for kSavingPerMonth
  bool ascending = false;
  size_t offset = 0, limit = 100;
};
struct JobsPage {
  size_t total = 0;  // number of jobs that match, on all pages
  std::vector<JobId> jobs;
};
// Returns a flag per JobId: true if `search` (JobsQuery::search) matches the job. The vector ends at the last
// match.
std::vector<bool> JobsThatFit(const FleetView& view, std::string_view search);
// Returns one page of jobs. Jobs without the sort key are last; jobs with equal keys are in the order of their
// names. O(jobs): about 20 ms for a million with an index.
JobsPage ListJobs(const FleetView& view, const JobsQuery& query);

// Returns a sum of the fleet; nullopt, not 0, if no job contributes to the sum.
std::optional<double> AmountOf(const FleetAmounts& amounts, double FleetAmounts::*amount);

}  // namespace taut::server
