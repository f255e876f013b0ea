// All parameters of the vertical recommenders, with default, unit and source. Plain data: programs read the
// parameters from files, `tune` varies them. docs/algorithms/vertical.md describes the effects.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/byte_units.h"
#include "common/model/allowed_range.h"
#include "common/model/resource.h"

namespace taut::brain {

inline constexpr double kHour = 3600.0;
inline constexpr double kDay = 24 * kHour;

enum class JobClass : uint8_t { kBatch, kServing, kServingTolerant };  // CPU statistic: average, p95, p90
// Statistic of memory usage: the peak, p98, or max(p60, peak/2). kBySize selects kMinimal for jobs with few
// tasks and kLow for jobs with many tasks.
enum class OomTolerance : uint8_t { kMinimal, kLow, kIntermediate, kBySize };
// Names in files, by value.
inline constexpr std::array<std::string_view, 3> kJobClassNames = {"batch", "serving", "serving_tolerant"};
inline constexpr std::array<std::string_view, 4> kOomToleranceNames = {"minimal", "low", "intermediate",
                                                                       "by_size"};

// Input of the memory recommenders: the tasks' usage, or the tasks' need in windows in which agents have probed
// the need (brain/fleet/signal_builder.h).
enum class MemorySignal : uint8_t { kUsage, kProbe };
inline constexpr std::array<std::string_view, 2> kMemorySignalNames = {"usage", "probe"};

// A margin that shrinks as limits grow: `small` up to small_limit, `large` from large_limit on, linear in
// log(limit) in between. Autopilot §3.2.2 has "10-15 %, less for large limits" without a schedule; this schedule
// is our own.
struct MarginSchedule {
  double small = 0.15;
  double large = 0.10;
  double small_limit = 0;
  double large_limit = 0;

  // Returns the margin of a limit, as a share.
  double At(double limit) const;
  // Returns the schedule of a resource.
  static MarginSchedule For(Resource r);
};

struct MovingWindowSettings {
  double cpu_half_life_s = 12 * kHour;     // half-life of CPU samples (Autopilot §3.2.2)
  double memory_half_life_s = 48 * kHour;  // half-life of memory samples (Autopilot §3.2.2)
  JobClass job_class = JobClass::kServing;
  OomTolerance oom_tolerance = OomTolerance::kBySize;  // default of Autopilot (§3.2.2)
  static constexpr double kManyTasks = 10;             // number of tasks from which kBySize means low
  double peak_days = 7;                                // N of S_max in days; not published
  int hold_windows = 12;      // number of windows whose highest recommendation is used
  double margin_scale = 1.0;  // factor of the margin; 0: no margin
  double min_history_s = kDay;
};

enum class EnsembleCost : uint8_t {
  kPaper,  // counts of samples above and below, as published
  kSlack   // counts of overruns, and unused limit relative to the mean usage (C3)
};
enum class EnsembleJudging : uint8_t {
  kPaper,       // (8) as printed: a model is scored on the window from which its limit was computed
  kPrequential  // a model is scored on its limit from before the window (docs/references.md, A11)
};

struct EnsembleSettings {
  std::vector<double> half_lives_s = {1 * kHour,  3 * kHour,  6 * kHour,  12 * kHour,
                                      24 * kHour, 48 * kHour, 96 * kHour, 168 * kHour};
  std::vector<double> margins = {0, 0.025, 0.05, 0.075, 0.10, 0.125, 0.15, 0.20};
  EnsembleCost cost = EnsembleCost::kSlack;
  EnsembleJudging judging = EnsembleJudging::kPrequential;
  double w_over = 30'000;        // w_o: cost of an overrun
  double w_under = 1;            // w_u: cost of unused limit
  double w_limit_change = 2.0;   // w_dL: cost of a change of the limit
  double w_model_change = 0.01;  // w_dm: cost of a change of the model
  // w_o and w_dL for CPU; absent: w_over and w_limit_change. A CPU overrun throttles and does not kill.
  std::optional<double> cpu_w_over = 2000;
  std::optional<double> cpu_w_limit_change = 0.5;
  double score_half_life_s = 7 * kDay;  // half-life of the models' costs, d of (8)
  double min_history_s = kDay;
  // FloorSettings::young_margin for memory.
  double young_margin = 0.4;

  double w_over_of(Resource r) const { return ThrottlesAtLimit(r) ? cpu_w_over.value_or(w_over) : w_over; }
  double w_limit_change_of(Resource r) const {
    return ThrottlesAtLimit(r) ? cpu_w_limit_change.value_or(w_limit_change) : w_limit_change;
  }
};

struct PeakSettings {
  double days = 7;
  double margin = 0.15;
  double min_history_s = kDay;
};

// The Kubernetes VPA's constants (docs/references.md, "Kubernetes VPA").
struct VpaSettings {
  double percentile = 0.90;
  double lower_percentile = 0.50;
  double upper_percentile = 0.95;
  double margin = 0.15;
  double half_life_s = 24 * kHour;
  double memory_window_s = 24 * kHour;
  double min_cpu_cores = 0.025;
  double min_memory_bytes = 250 * kMiB;
  // True if a floor applies after an OOM kill, which other recommenders always have. The published VPA has no such
  // floor.
  bool oom_floor = false;
};

// KRR's simple strategy (docs/references.md, "KRR"): the highest of the tasks' CPU percentiles, and the
// memory peak.
struct KrrSettings {
  double days = 14;
  double cpu_percentile = 0.95;
  double memory_margin = 0.15;
  double oom_margin = 0.25;  // margin on the limit of an OOM kill, like KRR's --use-oomkill-data
  double min_points = 100;
  double min_cpu_cores = 0.01;
  double min_memory_bytes = 1e8;
};

// Crane's resource recommendation (docs/references.md, "Crane").
struct CraneSettings {
  double days = 7;
  double percentile = 0.99;
  double margin = 0.15;
  double oom_days = 7;  // days for which the need after an OOM kill is a floor
};

// The analog forecast over the fleet's history (docs/algorithms/vertical.md, "Analogs").
struct AnalogSettings {
  // The target share of OOM-days, in (0, 1); it determines the price of an OOM-day.
  double memory_oom_days = 0.03;
  double cpu_oom_days = 0.03;
  // A fixed price, in byte-days and core-days per OOM-day; 0: the target share determines the price.
  double memory_price_bytes = 0;
  double cpu_price_cores = 0;
  double keep = 0.13;  // yesterday's limit stays if it costs at most this share more than the best limit
  // The highest chance of an OOM-day that a limit may have. 0: kChanceOfOrder times the target share, at least
  // kLeastMostChance and at most a half. With a fixed price, 0 means a half.
  double max_overrun_chance = 0;
  static constexpr double kChanceOfOrder = 3, kLeastMostChance = 0.1;
  // The target share of OOM-days (throttled days) for each job alone, regardless of the price. Absent: the fleet's
  // target share is distributed over the jobs at the lowest cost.
  std::optional<double> job_order;
  // Target share of OOM-days for each job's memory alone, if job_order is absent; it follows from a declared OOM
  // tolerance.
  std::optional<double> memory_job_order;
  double own_half_life_days = 10;  // half-life of the weight of a job's own days
  double fleet_weight = 20;        // weight of the fleet's forecast, in own days
  int min_rows = 200;              // job-days of history that a forecast requires
  int min_days = 7;        // days of history that a forecast requires; until then the fallback recommends
  int max_rows = 100'000;  // size of the uniform sample of history for training
  int retrain_days = 2;
  int solver_jobs = 2000;  // number of jobs for which the price is solved
  uint64_t seed = 1;
  // The reactive raise. Usage above raise_at raises the limit if the raise costs less than the OOM-days that it
  // averts. The raise ends at the next daily decision, or after raise_hours if usage was not above raise_at
  // again. The check is one comparison per window.
  double raise_at = 0.8;             // share of the limit above which usage raises the limit; 0: no raises
  double raise_factor = 1.6;         // ratio of the raised limit to usage
  double raise_hours = 6;            // shortest duration of a raise
  double raise_change_price = 0.05;  // charge for a raise, as a share of a mean job's limit for one day
  double raise_pin = 0.8;            // share of the owner's limit above which usage causes no raise

  double order(Resource r) const { return ThrottlesAtLimit(r) ? cpu_oom_days : memory_oom_days; }
  double& order(Resource r) { return ThrottlesAtLimit(r) ? cpu_oom_days : memory_oom_days; }
  double price(Resource r) const { return ThrottlesAtLimit(r) ? cpu_price_cores : memory_price_bytes; }
  std::optional<double> OwnOrder(Resource r) const {
    return job_order.has_value() || ThrottlesAtLimit(r) ? job_order : memory_job_order;
  }
  // Returns the highest chance of an OOM-day that any job's limit may have.
  double MostChance(Resource r) const;
};

// A schedule of limits at a price (docs/algorithms/vertical.md, "Work function").
struct WorkFunctionSettings {
  // The target share of work above the limits (CPU: throttled work; memory: byte-seconds).
  double cpu_throttled = 0.001;
  double memory_above = 0.0001;
  // Fixed price, in windows of a core per core-window above the limit; 0: the target share determines the price.
  double price = 0;
  double job_cap = 5;       // a job above this multiple of the target share has a price of its own; 0: off
  double change_scale = 1;  // factor of the charge for a change of the limit
  double min_history_s = kDay;
  // The target share of throttled work for each job's CPU; absent: the fleet's target share is distributed over
  // the jobs.
  std::optional<double> job_order;

  double order(Resource r) const { return ThrottlesAtLimit(r) ? cpu_throttled : memory_above; }
  std::optional<double> OwnOrder(Resource r) const { return ThrottlesAtLimit(r) ? job_order : std::nullopt; }
  bool operator==(const WorkFunctionSettings&) const = default;
};

// Decisions within the day by boosted trees (docs/algorithms/vertical.md, "Boosted"). The target shares are
// those of analogs for memory and of the work function for CPU.
struct BoostedSettings {
  int memory_hours = 3, cpu_hours = 1;  // hours between two decisions, which divide 24
  // The regret at which a limit falls: what keeping the limit has cost more than the best limits, in hours of a
  // mean job's limit. Likewise the regret of one decision at which a limit rises.
  double memory_fall_hours = 4, memory_rise_hours = 0.1;
  double cpu_fall_hours = 3, cpu_rise_hours = 0.05;
  double raise_at = 0.6;      // share of the limit above which usage causes a decision at once; 0: never
  int min_lessons = 1000;     // lessons that a forecast requires
  int min_days = 7;           // days of history that a forecast requires; until then the fallback recommends
  int max_lessons = 100'000;  // size of the uniform sample of history for training
  int retrain_days = 7;
  int solver_jobs = 2000;  // number of jobs for which the price is solved
  int trees = 150;
  int thresholds_per_lesson = 2;
  uint64_t seed = 1;

  int hours(Resource r) const { return ThrottlesAtLimit(r) ? cpu_hours : memory_hours; }
  double periods_per_day(Resource r) const { return 24.0 / hours(r); }
  double fall_hours(Resource r) const { return ThrottlesAtLimit(r) ? cpu_fall_hours : memory_fall_hours; }
  double rise_hours(Resource r) const { return ThrottlesAtLimit(r) ? cpu_rise_hours : memory_rise_hours; }
};

// The target of the boosted recommender for one resource.
struct BoostedTarget {
  // Target share of harm over all jobs: of OOM-days for resources that kill, of work for resources that throttle.
  double order = 0;
  double most_day_chance = 1;  // highest chance of an OOM-day that a limit may have
  bool operator==(const BoostedTarget&) const = default;
};

// The bounds that the owner allows and the platform can set.
struct BoundSettings {
  std::optional<double> lower, upper;  // inclusive bounds in cores or bytes; absent: none
  double granularity = 0;              // unit to whose multiples limits are rounded up; 0: no rounding
  // Sources of the bounds that the owner did not set, for people.
  std::string lower_by = {}, upper_by = {};

  // Returns these bounds narrowed to `allowed`. If a bound contradicts `allowed`, the bound of `allowed` applies.
  BoundSettings Within(const AllowedRange& allowed) const;
  // Returns the default bounds: at least 10 millicores or 32 MiB.
  static BoundSettings For(Resource r);
  static PerResource<BoundSettings> ForEach();
};

struct OomSettings {
  double bump_ratio = 1.2;  // factor of the limit at an OOM kill; docs/references.md, C6
  double bump_bytes = 100 * kMiB;
  double hold_s = 7 * kDay;  // seconds for which the raised limit is a floor
};

struct VerticalSettings {
  MovingWindowSettings moving_window;
  EnsembleSettings ensemble;
  PeakSettings peak;
  VpaSettings vpa;
  KrrSettings krr;
  CraneSettings crane;
  AnalogSettings analogs;
  WorkFunctionSettings work_function;
  BoostedSettings boosted;
  OomSettings oom;
  PerResource<BoundSettings> bounds_by = BoundSettings::ForEach();
  // The load that the job's number of tasks follows.
  enum class ScaledBy : uint8_t { kNothing, kCpu, kSeries };
  ScaledBy scaled_by = ScaledBy::kNothing;
  bool external = false;  // true if limits of an external recommender override the recommender's own limits
  MemorySignal memory_signal = MemorySignal::kUsage;

  const BoundSettings& bounds(Resource r) const { return bounds_by[IndexOf(r)]; }
  BoostedTarget boosted_target(Resource r) const {
    return {ThrottlesAtLimit(r) ? work_function.order(r) : analogs.order(r), analogs.MostChance(r)};
  }
};

}  // namespace taut::brain
