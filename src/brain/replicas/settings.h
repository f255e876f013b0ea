// Every parameter of the replica policies, with its default, unit and source. docs/algorithms/replicas.md
// says what each yields.
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

// What the owner allows.
struct ReplicaBounds {
  int min = 1;
  int max = 1'000'000;

  int Clamp(double count) const;  // of what is not a number: the minimum
};

struct StaticReplicaSettings {
  int count = 0;         // 0: enough for the highest load of the first days
  double peak_days = 7;  // during which the count only rises
};

enum class LoadStatistic : uint8_t { kMax, kP95 };

// Autopilot §3.3.
struct AutopilotReplicaSettings {
  double average_s = 300;
  double horizon_s = 72 * 3600;
  LoadStatistic statistic = LoadStatistic::kMax;
  double target = 0.7;              // r*: the share of a task's capacity; must be set by the owner in AP
  double defer_downscaling_s = 0;   // T_d; about 40 % of Google's jobs use 2 days, 35 % use 3 days
  double decay_half_life_s = 3600;  // 98 % of Google's jobs
  double small_change = 0.1;        // not published; HPA's tolerance
  double max_starting = 1;          // share of the tasks that may be starting; 1: not limited
};

enum class HpaSelect : uint8_t { kMax, kMin, kDisabled };

// A limit on the change within a period.
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

// A metric of a HorizontalPodAutoscaler beside the utilisation by the load: a named signal and its target.
struct HpaMetric {
  // Of CPU or memory: a share of the owner's limit of a task (a Resource); of any: what each task takes (Pods, or
  // AverageValue of Object and External), or all together (Value).
  enum class Target : uint8_t { kUtilization, kAverageValue, kValue };
  std::string signal;
  Target target = Target::kAverageValue;
  double value = 1;  // > 0

  bool operator==(const HpaMetric&) const = default;
};
struct HpaMetrics {
  bool without_load = false;  // the load's utilisation is no metric
  std::vector<HpaMetric> list;
};

// Kubernetes' defaults (peers.md §2).
struct HpaSettings {
  double target = 0.8;  // of the request
  double tolerance = 0.1;
  HpaMetrics metrics;
  HpaDirection up = {0, HpaSelect::kMax, {{HpaRate::Unit::kPercent, 100, 15}, {HpaRate::Unit::kPods, 4, 15}}};
  HpaDirection down = {300, HpaSelect::kMax, {{HpaRate::Unit::kPercent, 100, 15}}};
};

// KEDA's defaults (peers.md §3), which hold for every policy of a job that may go to zero. The count of a running
// job of policy keda is HPA's.
struct KedaSettings {
  double activation = 0;  // the job runs while the load is above this
  double cooldown_s = 300;
};

// docs/algorithms/replicas.md.
struct ForecastSettings {
  double overloaded = 0.005;  // the ordered share of overloaded minutes; 0 < share < 1
  double change_price = 8;    // a started task costs so many minutes of a task beside its own
  double min_history_s = 24 * 3600;
  double fallback_target = 0.5;  // utilisation until then
};

// The owner's own target size (AP §3.3). Smoothed with AutopilotReplicaSettings, whose average_s is also the
// time between two steps of the decay.
struct FunctionReplicaSettings {
  std::string target = "max_over(60) / (0.7 * capacity)";  // tasks; see brain/replicas/target_expression.h
  double max_step = 10;  // one decision asks for at most this many times the tasks that run, or for 100 more
  double silent_s =
      3600;  // without a load or a signal that it reads: the count is raised to the highest of the last day
};

// Who says how large the tasks of a live job are whose load is their CPU. kCheapest: what the load costs least
// with (brain/replicas/task_sizing.h).
enum class SizeBy : uint8_t { kCheapest, kOwner };
inline constexpr std::array<std::string_view, 2> kSizeByNames = {"cheapest", "owner"};

struct SizingSettings {
  SizeBy by = SizeBy::kCheapest;
  double gib_price = 0.13;  // a GiB of memory costs as much as so many cores
  double min_cores = 0.1;   // no smaller task
  double max_cores = 8;     // no larger task, unless the owner's is: what a node can hold
  double max_bytes = 32.0 * (1 << 30);
  double min_saving = 0.1;  // share of the cost; a change of size that saves less is not made
  double spare = 1;         // tasks that may be lost at the peak without overload of the others
};

struct ReplicaSettings {
  ReplicaBounds bounds;
  ReplicaSchedule schedule;
  double max_utilization = 0.8;  // a job is overloaded above this utilisation of its ready tasks
  double startup_s = 120;        // from the start of a task until it is ready
  double step_s = 60;            // between two decisions
  // Of a live job: load that one task processes at 100 %, in the unit of its load series. 0: the load is the CPU
  // of its tasks.
  double task_capacity = 0;
  // Named signals that there are beside kOwnSignals; no setting, but what mapping rules (or columns) name.
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
// InvalidArgument names the key, what is allowed or the nearest key. An old key is read with a notice.
absl::Status SetReplicaSetting(std::string_view key, std::string_view value, ReplicaSettings& settings,
                               SettingNotices* notices = nullptr);
// What no single setting shows: InvalidArgument if the minimum is above the maximum, or
// function.target is not an expression.
absl::Status CheckReplicaSettings(const ReplicaSettings& settings);

}  // namespace taut::brain
