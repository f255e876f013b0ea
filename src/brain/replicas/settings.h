// All parameters of the replica policies, with default, unit and source. docs/algorithms/replicas.md describes
// their effects.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "brain/replicas/schedule.h"
#include "common/settings/setting_row.h"

namespace taut::brain {

// Bounds on the number of tasks that the owner allows.
struct ReplicaBounds {
  int min = 1;
  int max = 1'000'000;

  int Clamp(double count) const;  // returns the minimum for NaN
};

struct StaticReplicaSettings {
  int count = 0;  // fixed number of tasks; 0: the number of tasks for the highest load of the first days
  double peak_days = 7;  // number of the first days, in which the count only rises
};

enum class LoadStatistic : uint8_t { kMax, kP95 };

// Parameters of Autopilot §3.3.
struct AutopilotReplicaSettings {
  double average_s = 300;
  double horizon_s = 72 * 3600;
  LoadStatistic statistic = LoadStatistic::kMax;
  double target = 0.7;  // r*: share of a task's capacity; in the paper the owner sets r*
  // T_d, delay of a fall; 2 days for about 40 % of Google's jobs, 3 days for 35 %.
  double defer_downscaling_s = 0;
  double decay_half_life_s = 3600;  // half-life of the decay in seconds; the value of 98 % of Google's jobs
  double small_change = 0.1;        // relative change that is ignored; not published, the HPA's tolerance
  double max_starting = 1;          // highest share of starting tasks; 1: unlimited
};

enum class HpaSelect : uint8_t { kMax, kMin, kDisabled };

// Largest change of the number of pods within a period.
struct HpaRate {
  enum class Unit : uint8_t { kPods, kPercent };
  Unit unit = Unit::kPods;
  int value = 4;
  int period_s = 15;
};

// One direction of an autoscaling/v2 `behavior`.
struct HpaDirection {
  double stabilization_s = 0;
  HpaSelect select = HpaSelect::kMax;
  std::vector<HpaRate> rates;
};

// A metric of a HorizontalPodAutoscaler in addition to the utilisation by load: a named signal and its target.
struct HpaMetric {
  // kUtilization: a share of the owner's limit per task, for CPU or memory (type Resource in Kubernetes).
  // kAverageValue: a value per task (Pods, or AverageValue of Object and External). kValue: a value for all
  // tasks together (Value).
  enum class Target : uint8_t { kUtilization, kAverageValue, kValue };
  std::string signal;
  Target target = Target::kAverageValue;
  double value = 1;  // target in the signal's unit, or as a share; > 0

  bool operator==(const HpaMetric&) const = default;
};
struct HpaMetrics {
  bool without_load = false;  // true if the utilisation by load is not a metric
  std::vector<HpaMetric> list;
};

// Parameters of the HPA, with Kubernetes' defaults.
struct HpaSettings {
  double target = 0.8;  // target utilisation of the request
  double tolerance = 0.1;
  HpaMetrics metrics;
  HpaDirection up = {0, HpaSelect::kMax, {{HpaRate::Unit::kPercent, 100, 15}, {HpaRate::Unit::kPods, 4, 15}}};
  HpaDirection down = {300, HpaSelect::kMax, {{HpaRate::Unit::kPercent, 100, 15}}};
};

// Scaling to zero, with KEDA's defaults, for every policy if replicas.min is 0. In the policy keda, the HPA
// decides the count of a running job.
struct KedaSettings {
  double activation = 0;  // load above which the job runs
  double cooldown_s = 300;
};

// The forecast policy (docs/algorithms/replicas.md).
struct ForecastSettings {
  double overloaded = 0.005;  // the target share of overloaded minutes, in (0, 1)
  double change_price = 8;    // additional cost of starting a task, in task-minutes
  double min_history_s = 24 * 3600;
  double fallback_target = 0.5;  // target utilisation while history is too short
};

// The owner's target size (Autopilot §3.3). AutopilotReplicaSettings smooth the count; average_s is also the
// interval between two steps of the decay.
struct FunctionReplicaSettings {
  // number of tasks; see brain/replicas/target_expression.h
  std::string target = "max_over(60) / (0.7 * capacity)";
  // One decision multiplies the running tasks by at most this factor, or adds up to 100 tasks.
  double max_step = 10;
  // Seconds without an input after which the count rises to the highest count of the last day.
  double silent_s = 3600;
};

// Rule that decides the task size of a live job whose load is its CPU. kCheapest selects the size with the
// lowest cost for the load (brain/replicas/task_sizing.h).
enum class SizeBy : uint8_t { kCheapest, kOwner };
inline constexpr std::array<std::string_view, 2> kSizeByNames = {"cheapest", "owner"};

struct SizingSettings {
  SizeBy by = SizeBy::kCheapest;
  double gib_price = 0.13;  // cost of a GiB of memory, in cores
  double min_cores = 0.1;   // smallest size of a task
  double max_cores = 8;     // largest size that fits a node; a larger size of the owner overrides it
  double max_bytes = 32.0 * (1 << 30);
  double min_saving = 0.1;  // least saving that justifies a change of size, as a share of the cost
  double spare = 1;  // number of tasks that may be lost at the peak without overloading the other tasks
};

struct ReplicaSettings {
  ReplicaBounds bounds;
  ReplicaSchedule schedule;
  double max_utilization = 0.8;  // utilisation of a job's ready tasks above which the job is overloaded
  double startup_s = 120;        // time from the start of a task until it is ready
  double step_s = 60;            // time between two decisions
  // Load of one task at 100 %, in the unit of a live job's load series. 0: the load is the CPU usage of the
  // job's tasks.
  double task_capacity = 0;
  // Names of signals in addition to kOwnSignals. Mapping rules or columns define the names, not a setting.
  std::vector<std::string> signals;
  SizingSettings sizing;
  StaticReplicaSettings fixed;
  AutopilotReplicaSettings autopilot;
  HpaSettings hpa;
  KedaSettings keda;
  ForecastSettings forecast;
  FunctionReplicaSettings function;
};

using ReplicaSetting = SettingRow<ReplicaSettings>;
std::span<const ReplicaSetting> ReplicaSettingsTable();
// Sets one value from text. InvalidArgument contains the key with the allowed values, or the nearest key. A former
// key is accepted, and adds a notice to `notices`.
absl::Status SetReplicaSetting(std::string_view key, std::string_view value, ReplicaSettings& settings,
                               SettingNotices* notices = nullptr);
// Checks the settings as a whole. Returns InvalidArgument if the minimum exceeds the maximum, or if
// function.target is not an expression.
absl::Status CheckReplicaSettings(const ReplicaSettings& settings);

}  // namespace taut::brain
