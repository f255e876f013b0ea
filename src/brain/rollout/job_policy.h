// How Tautline may treat one job: what rules, defaults and people's settings come to. Plain data.
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

namespace taut::brain {

// A weekly time in which limits may change, UTC. [start, end); an end at or before the start is on the day
// after.
struct MaintenanceWindow {
  uint8_t days = 0x7F;  // bit 0: Monday
  int start_minute = 0;
  int end_minute = 0;
  bool operator==(const MaintenanceWindow&) const = default;
};

struct CanarySettings {
  double share = 0.1;             // of the tasks, at least one, never all
  double hours = 24;              // a trial lasts at least so long ...
  double min_task_windows = 100;  // ... and until its tasks have this many task-windows
  double max_extra_over = 0.01;   // and may be over its limit in this share of windows more than the rest
  bool operator==(const CanarySettings&) const = default;
};

// The defaults of replicas.* for a live job: a decision at the end of each window, so that HPA's stabilisation
// is of two of them; its published 300 s would be one decision.
ReplicaSettings LiveReplicaSettings();

struct JobPolicy {
  Mode mode = Mode::kObserve;
  Policy recommender = Policy::kCombined;                     // of both resources ...
  std::optional<Policy> cpu_recommender, memory_recommender;  // ... but one that has its own
  bool external = false;  // an external recommender's answers go before the recommenders and `replica_policy`
  MemorySignal memory_signal = MemorySignal::kUsage;
  JobClass job_class = JobClass::kServing;
  OomTolerance oom_tolerance = OomTolerance::kBySize;
  PerResource<BoundSettings> bounds_by = BoundSettings::ForEach();
  // What others than the owner allow, such as a LimitRange; it wins over the bounds.
  PerResource<AllowedRange> allowed_by;
  PerResource<Allocation> allocation_by;
  std::optional<double> risk;                  // share of OOM-days ordered for this job; absent: the fleet's
  std::optional<double> throttled;             // the same of its CPU work
  double min_change = 0.05;                    // share of the limit in force; smaller changes wait
  double change_period_s = kHour;              // at most one change of a resource in this time
  JobVersion version;                          // of its program; begun by a deployment
  double watch_version_s = kDay;               // time after that in which nothing is lowered; 0: off
  std::vector<MaintenanceWindow> maintenance;  // empty: at any time
  std::optional<double> startup_grace_s;       // absent: by job_class, see StartupGraceSeconds
  // CPU usage within this time after a task's start is kept apart, and the task may have another limit; 0: off.
  double startup_window_s = 0;
  // Until a start was seen, that limit as a multiple of the one in force; absent: it is the same.
  std::optional<double> startup_factor = 2;
  bool in_template = false;  // in Kubernetes: limits are set in the workload's template
  CanarySettings canary;
  std::string_view replica_policy;  // of ReplicaPolicies(); "": the number of tasks is the owner's
  ReplicaSettings replicas = LiveReplicaSettings();
  double replica_change_period_s = 0;  // at least this long from any change to a lower number of tasks
  double replica_settle_s = 300;       // see ReplicaDamping::HoldSeconds; 0: off
  bool migrate = true;                 // false: the owner does not want to be moved to auto

  PolicyPair recommenders() const {
    return {cpu_recommender.value_or(recommender), memory_recommender.value_or(recommender)};
  }
  // What orders the risk of a limit: the JobClass where it throttles, the OomTolerance where it kills.
  uint8_t order_class(Resource r) const {
    return ThrottlesAtLimit(r) ? static_cast<uint8_t>(job_class) : static_cast<uint8_t>(oom_tolerance);
  }
  // Whether its version is younger than watch_version_s. Also before it began, as after a clock was set back.
  bool WatchesVersion(int64_t now_s) const;
  const BoundSettings& bounds(Resource r) const { return bounds_by[IndexOf(r)]; }
  // With what others allow.
  BoundSettings AllowedBounds(Resource r) const { return bounds(r).Within(allowed_by[IndexOf(r)]); }
  const Allocation& allocation(Resource r) const { return allocation_by[IndexOf(r)]; }
};

// Nothing of a task is lowered in this time after its start: programs need more to start than to run.
int64_t StartupGraceSeconds(const JobPolicy& policy);
// The same where tasks get their start-up limit: startup_window_s, if set, is the grace of CPU.
int64_t StartupGraceSeconds(const JobPolicy& policy, Resource resource);
// What the number of the job's tasks follows.
VerticalSettings::ScaledBy ScaledByOf(const JobPolicy& policy);
// Its number of tasks follows a load that it has not once it runs no task, and the number may be 0.
bool GoesToZeroForGood(const JobPolicy& policy);
// Both make the same recommender of this resource, so that what one has learnt the other can read.
bool SameRecommender(const JobPolicy& a, const JobPolicy& b, Resource r);
// The recommenders' settings with what the policy says of this job.
// InvalidArgument if `key` orders something of the job that none of its recommenders keeps.
absl::Status CheckOrder(std::string_view key, const JobPolicy& policy);
VerticalSettings SettingsFor(const JobPolicy& policy, const VerticalSettings& settings);

// May a limit be changed at this time?
bool InMaintenance(const std::vector<MaintenanceWindow>& windows, int64_t now_s);

}  // namespace taut::brain
