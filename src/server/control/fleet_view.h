// One snapshot of the whole fleet, made after each pass: what faces list and sort without holding anybody up.
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

// For each task, cores or bytes; negative: absent.
struct JobAmounts {
  // limit: what tasks run at: the applied one where agents report it, else the ordered one or the owner's.
  float usage = kAbsent, peak = kAbsent, owner_limit = kAbsent, limit = kAbsent, would_be = kAbsent;
  float ordered = kAbsent;  // by the gate; absent: the owner's stands
  float applied = kAbsent;  // as agents last reported, mean over tasks; absent: no agent reports one
  // The risk of would_be (LiveRisk::Of). chance: that a day goes above it, by the recommender's own forecast;
  // negative: it makes none. Of the job's own last 28 days those that are known, and those of them above would_be;
  // without a forecast, those with a recommended limit, and those of them above the limit of then.
  float chance = kAbsent;
  uint8_t days = 0, days_over = 0;
  // Of its work of the last weeks, what was above its limits, and what is ordered; negative: no order of work.
  float work_over = kAbsent, work_ordered = kAbsent;
  // While too little history is known for would_be: what it may come to, which is never set and in no saving, and
  // the first window for which there will be one.
  float provisional = kAbsent;
  WindowId first_limit{INT32_MIN};
  // Of a container with a request beside its limit, which a cluster bills (LiveLane::Billed): the owner's request,
  // and those that `limit` and `would_be` come with. Absent of all others.
  float owner_request = kAbsent, request = kAbsent, would_be_request = kAbsent;
  bool of_request = false;  // of a Kubernetes container: amounts are requests, not limits
  bool at_limit = false;    // today or yesterday usage reached 95 % of the limit that really holds

  // Savings are of what is billed: of requests where the owner has one, else of limits.
  bool bills_request() const { return of_request || owner_request >= 0; }
  // What the recommendation saves of the owner's amount; negative: it needs more. nullopt where one is not known.
  std::optional<double> saving() const {
    return owner_request >= 0 ? Less(owner_request, would_be_request) : Less(owner_limit, would_be);
  }
  // The same of the amount in force.
  std::optional<double> saved() const {
    return owner_request >= 0 ? Less(owner_request, request) : Less(owner_limit, limit);
  }
  // What the recommended limit saves of the owner's, which is no saving where a request is billed.
  std::optional<double> limit_saving() const {
    return of_request ? std::nullopt : Less(owner_limit, would_be);
  }

 private:
  static std::optional<double> Less(float owner, float then) {
    return owner >= 0 && then >= 0 ? std::optional(double{owner} - double{then}) : std::nullopt;
  }
};

struct JobView {
  std::shared_ptr<const JobRecord> record;  // outlives the job's being forgotten
  Mode mode = Mode::kObserve;
  brain::PolicyPair recommenders;
  brain::JobClass job_class = brain::JobClass::kServing;
  bool whole_machine = false;  // IsWholeMachine(*record): in no sum
  bool trial = false;
  brain::HoldCause held = brain::HoldCause::kNone;  // of its number of tasks
  // Of a job with a policy of replicas: the windows of its last day whose load was measured, those in which it
  // was overloaded, and whether it was in the last.
  uint16_t load_windows = 0, overloaded_windows = 0;
  bool overloaded = false;
  bool enforced = false;  // agents apply the limits that are ordered; else these are what would be
  uint32_t tasks = 0;
  int32_t tasks_would_be = -1;  // by its policy of replicas; negative: absent
  uint32_t tasks_running = 0;   // as its policy of replicas counts them, which may be by a series
  float throttled = kAbsent;    // share of the CFS periods of about the last day
  uint32_t ooms = 0;            // of the last 7 days
  PerResource<JobAmounts> amounts;
  PerResource<std::pair<uint8_t, uint8_t>> week{};  // days and days_over of the last 7 days
  int64_t last_seen_s = INT64_MIN;
  int64_t last_change_s = INT64_MIN;

  const JobAmounts& of(Resource r) const { return amounts[static_cast<size_t>(r)]; }
};

// Of the jobs whose savings are of requests, totals over tasks.
struct RequestSums {
  uint32_t jobs = 0;
  double owner = 0, in_force = 0, would_be = 0;  // without a recommendation the owner's
  double limit_would_save = 0;                   // what their limits would come down by beside them

  // Nothing of a job without a request.
  void Add(const JobAmounts& amounts, uint32_t tasks);
};

// One resource of all jobs measured in the last window, totals over tasks.
struct FleetSums {
  double usage_limited = 0;  // of the jobs whose owner's limit is known
  // Of what is billed (JobAmounts::saving): where the amount in force is below the owner's, and above it.
  double saved = 0, raised = 0;
  double would_save = 0, would_raise = 0;  // the same for would_be
  RequestSums requests;
  // Of the last 7 days, over all jobs.
  uint64_t job_days = 0, job_days_over = 0;
  uint32_t jobs_at_limit = 0;
  brain::FleetRisk risk;
};

struct ReplicaSums {
  // Of the jobs with a recommended number of tasks; in FleetView of those that were measured in the last
  // window.
  uint32_t jobs = 0, jobs_overloaded = 0;
  uint64_t tasks = 0, would_be = 0;
  uint64_t windows = 0, overloaded_windows = 0;  // of each job's last day
  // Of all jobs, by HoldCause: those whose number is held.
  std::array<uint32_t, 3> held{};

  void AddHeld(const JobView& job) { ++held[static_cast<size_t>(job.held)]; }
  // Nothing of a job without a recommended number.
  void Add(const JobView& job);
};

struct FleetView {
  std::optional<WindowId> window;  // closed last
  std::vector<JobView> jobs;       // ascending by JobId, of which many are no longer known
  FleetPoint point;
  uint64_t ooms_day = 0, changes_day = 0;  // of the last 24 h

  // nullptr for a job that is not known, or no longer.
  const JobView* Find(JobId id) const;
  PerResource<FleetSums> sums;  // by Resource
  ReplicaSums replicas;
  uint32_t whole_machines = 0;  // jobs that were measured in the last window and are in no sum
  brain::RiskTable risks;       // of the whole fleet; empty in a view of some groups
  // Of `jobs`. nullptr: lists go by the jobs' own names and labels, which takes several times as long.
  std::shared_ptr<const JobIndex> index;
};

// The view of a job of `fleet` as it stands; its record is the job's own, and good only while the job is
// looked at.
JobView ViewOf(const brain::LiveFleet& fleet, const brain::LiveJob& job, int32_t day);
// Of the jobs of `view`, whose recommenders are those of `fleet`.
brain::FleetRisk RiskOf(const brain::LiveFleet& fleet, const FleetView& view, Resource r);
// Fills in `sums` and `replicas` from the jobs. `risk` by Resource.
void SumUp(const PerResource<brain::FleetRisk>& risk, FleetView& view);

enum class SortBy : uint8_t {
  kName,
  kMode,
  kTasks,
  kOoms,
  kChanged,
  kSaving,  // of all resources, each as a share of what all owners ask for
  kTight,   // OOM kills, then usage at the limit, then how far the recommended limit is above the owner's
  kSavingPerMonth,  // of all resources, in money
  // Of one resource.
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
  Resource resource = Resource::kCpu;  // from kUsage on

  bool operator==(const JobSort&) const = default;
};
// "tasks", "memory_saved". nullopt for an unknown name.
std::optional<JobSort> ParseJobSort(std::string_view name);

struct JobsQuery {
  std::string search;  // words; each in the name or in a label as key=value, whatever the case
  std::optional<Mode> mode;
  JobSort sort = {};
  PerResource<double> price = {};  // by Resource, of a core or byte for a month: for kSavingPerMonth
  bool ascending = false;
  size_t offset = 0, limit = 100;
};
struct JobsPage {
  size_t total = 0;  // that fit
  std::vector<JobId> jobs;
};
// By JobId, up to the last that fits: whether `search` (as in JobsQuery) finds the job.
std::vector<bool> JobsThatFit(const FleetView& view, std::string_view search);
// Absent figures come last; equals in the order of names. O(jobs); with an index about 20 ms for a million.
JobsPage ListJobs(const FleetView& view, const JobsQuery& query);

// Of FleetAmounts: absent, not 0, where it is a sum over no job.
std::optional<double> AmountOf(const FleetAmounts& amounts, double FleetAmounts::*amount);

}  // namespace taut::server
