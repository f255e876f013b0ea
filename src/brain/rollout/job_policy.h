// The settings by which Tautline manages one job, resolved from defaults, rules and people's settings. Plain
// data.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "brain/recommend/policy.h"
#include "brain/recommend/settings.h"
#include "brain/replicas/settings.h"
#include "common/model/allocation.h"
#include "common/model/allowed_range.h"
#include "common/model/job_version.h"
#include "common/model/rollout.h"
#include "common/model/throttle_control.h"

namespace taut::brain {

// A weekly time, [start, end) in UTC, in which limits may change. If end <= start, the window ends on the next
// day.
struct MaintenanceWindow {
  uint8_t days = 0x7F;  // days of the week; bit 0 is Monday
  int start_minute = 0;
  int end_minute = 0;
  bool operator==(const MaintenanceWindow&) const = default;
};

// Size and duration of trials.
struct CanarySettings {
  double share = 0.1;             // share of the tasks on trial; at least one task, never all tasks
  double hours = 24;              // minimum duration of a trial
  double min_task_windows = 100;  // minimum number of task-windows of a trial
  // A trial fails if the share of windows at the limit among its tasks exceeds the share among the remaining tasks
  // by more than max_extra_over.
  double max_extra_over = 0.01;
  bool operator==(const CanarySettings&) const = default;
};

// Returns the defaults of replicas.* for a live job. A live job decides at each window's end, so that the HPA's
// stabilisation is two windows. The published 300 s would include only one decision.
ReplicaSettings LiveReplicaSettings();

// Resolved settings of one job.
struct JobPolicy {
  Mode mode = Mode::kObserve;
  Policy recommender = Policy::kCombined;  // recommender of both resources
  // Recommenders of one resource, which override `recommender`.
  std::optional<Policy> cpu_recommender, memory_recommender;
  // Answers of an external recommender override the recommenders and `replica_policy`.
  bool external = false;
  MemorySignal memory_signal = MemorySignal::kUsage;
  JobClass job_class = JobClass::kServing;
  OomTolerance oom_tolerance = OomTolerance::kBySize;
  PerResource<BoundSettings> bounds_by = BoundSettings::ForEach();
  // Range that people other than the owner allow, such as a LimitRange. The range overrides the bounds.
  PerResource<AllowedRange> allowed_by;
  PerResource<Allocation> allocation_by;
  std::optional<double> risk;  // target share of OOM-days; absent: the fleet's target applies
  // Target share of throttled CPU work; absent: the fleet's target applies.
  std::optional<double> throttled;
  double min_change = 0.05;        // least change, as a share of the limit in force; smaller changes wait
  double change_period_s = kHour;  // minimum time between two changes of a resource's limit
  JobVersion version;              // version of the job's program, started by a deployment
  double watch_version_s = kDay;   // seconds after a new version in which no limit is lowered; 0: off
  std::vector<MaintenanceWindow> maintenance;  // times in which limits may change; empty: at any time
  std::optional<double> startup_grace_s;  // grace after a start; absent: by job_class (StartupGraceSeconds)
  // Seconds after a task's start in which CPU usage is stored separately and the task may have another limit. 0:
  // off.
  double startup_window_s = 0;
  // Limit of starting tasks until a start was observed, as a multiple of the limit in force. Absent: starting
  // tasks have the limit in force.
  std::optional<double> startup_factor = 2;
  ThrottleControlSettings throttle_control;
  bool in_template = false;  // true (Kubernetes only) if limits are set in the workload's template
  CanarySettings canary;
  std::string_view replica_policy;  // name in ReplicaPolicies(); "" if the owner sets the number of tasks
  ReplicaSettings replicas = LiveReplicaSettings();
  double replica_change_period_s = 0;  // minimum seconds from any change to a lower number of tasks
  double replica_settle_s = 300;       // initial hold in seconds, see ReplicaDamping::HoldSeconds; 0: off
  bool migrate = true;                 // false if the owner does not allow a move to mode auto

  PolicyPair recommenders() const {
    return {cpu_recommender.value_or(recommender), memory_recommender.value_or(recommender)};
  }
  // Returns the class that determines the risk target: the JobClass for a resource that throttles, the
  // OomTolerance for a resource that kills.
  uint8_t order_class(Resource r) const {
    return ThrottlesAtLimit(r) ? static_cast<uint8_t>(job_class) : static_cast<uint8_t>(oom_tolerance);
  }
  // Returns true if the job's version started less than watch_version_s before or after now_s. The start is
  // after now_s if a clock was set back.
  bool WatchesVersion(int64_t now_s) const;
  const BoundSettings& bounds(Resource r) const { return bounds_by[IndexOf(r)]; }
  // Returns the bounds restricted to allowed_by.
  BoundSettings AllowedBounds(Resource r) const { return bounds(r).Within(allowed_by[IndexOf(r)]); }
  const Allocation& allocation(Resource r) const { return allocation_by[IndexOf(r)]; }
};

// Returns the seconds after a task's start in which no limit of the task is lowered, because programs use more
// when they start.
int64_t StartupGraceSeconds(const JobPolicy& policy);
// Returns the grace of one resource: startup_window_s for CPU if that is set, else StartupGraceSeconds(policy).
int64_t StartupGraceSeconds(const JobPolicy& policy, Resource resource);
// Returns the load that the number of the job's tasks follows.
VerticalSettings::ScaledBy ScaledByOf(const JobPolicy& policy);
// Returns true if the job could never start again at 0 tasks. This is the case if the number of tasks may be 0 and
// follows a load that does not exist without tasks.
bool GoesToZeroForGood(const JobPolicy& policy);
// Returns true if both policies create the same recommender for this resource. The recommender of one policy can
// then load the learnt state of the other recommender.
bool SameRecommender(const JobPolicy& a, const JobPolicy& b, Resource r);
// Returns InvalidArgument if `key` ("risk", "throttled") sets a risk target that none of the job's recommenders
// supports.
absl::Status CheckOrder(std::string_view key, const JobPolicy& policy);
// Returns the recommenders' settings adapted to the job's policy.
VerticalSettings SettingsFor(const JobPolicy& policy, const VerticalSettings& settings);

// Returns true if limits may change at this time. Always returns true if `windows` is empty.
bool InMaintenance(const std::vector<MaintenanceWindow>& windows, int64_t now_s);

}  // namespace taut::brain
