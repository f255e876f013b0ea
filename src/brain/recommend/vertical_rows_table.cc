// The rows of the recommenders' settings.
#include <limits>

#include "brain/recommend/vertical_rows.h"
#include "common/base/byte_units.h"
#include "common/base/did_you_mean.h"
#include "common/base/row_named.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

using enum FieldUnit;

constexpr double kMaxDouble = std::numeric_limits<double>::max();

constexpr EnumName<JobClass> kJobClasses[] = {{JobClass::kBatch, kJobClassNames[0]},
                                              {JobClass::kServing, kJobClassNames[1]},
                                              {JobClass::kServingTolerant, kJobClassNames[2]}};
constexpr EnumName<OomTolerance> kTolerances[] = {{OomTolerance::kMinimal, kOomToleranceNames[0]},
                                                  {OomTolerance::kLow, kOomToleranceNames[1]},
                                                  {OomTolerance::kIntermediate, kOomToleranceNames[2]},
                                                  {OomTolerance::kBySize, kOomToleranceNames[3]}};
constexpr EnumName<EnsembleCost> kCosts[] = {{EnsembleCost::kPaper, "paper"},
                                             {EnsembleCost::kSlack, "slack"}};
constexpr EnumName<EnsembleJudging> kJudgings[] = {{EnsembleJudging::kPaper, "paper"},
                                                   {EnsembleJudging::kPrequential, "prequential"}};

#define TAUT_REF(field) +[](VerticalSettings& s) -> FieldRef { return &s.field; }
#define TAUT_CHOICE(names, field) +[](VerticalSettings& s) -> FieldRef { return ChoiceOf<names>(&s.field); }
constexpr VerticalSetting kRows[] = {
    {"moving_window.cpu_half_life", "half-life of CPU samples", kDuration, 0.1 * kHour, 1e6 * kHour,
     TAUT_REF(moving_window.cpu_half_life_s), Was("moving_window.cpu_half_life_h", kHour)},
    {"moving_window.memory_half_life", "half-life of memory samples", kDuration, 0.1 * kHour, 1e6 * kHour,
     TAUT_REF(moving_window.memory_half_life_s), Was("moving_window.memory_half_life_h", kHour)},
    {"moving_window.job_class",
     "class of jobs whose trace names none: batch (average), serving (p95), serving_tolerant (p90)", kPlain,
     0, 0, TAUT_CHOICE(kJobClasses, moving_window.job_class)},
    {"moving_window.oom_tolerance",
     "memory statistic: minimal (peak), low (p98), intermediate (max of p60 and half the peak), by_size "
     "(minimal for jobs of less than 10 tasks, else low)",
     kPlain, 0, 0, TAUT_CHOICE(kTolerances, moving_window.oom_tolerance)},
    {"moving_window.peak_window", "time over which the peak is taken", kDuration, 0.1 * kDay, 400 * kDay,
     TAUT_REF(moving_window.peak_days), Was("moving_window.peak_days", kDay, kDay)},
    {"moving_window.hold_windows",
     "number of windows whose highest recommendation is held (12 windows are an hour)", kPlain, 1, 16,
     TAUT_REF(moving_window.hold_windows)},
    {"moving_window.margin_scale",
     "factor on the margin, which falls from 15 to 10 % with the limit; 0: no margin", kPlain, 0, 100,
     TAUT_REF(moving_window.margin_scale)},
    {"moving_window.min_history", "time for which a new job keeps its owner's limit", kDuration, 0,
     1e6 * kHour, TAUT_REF(moving_window.min_history_s), Was("moving_window.min_history_h", kHour)},
    {"ensemble.half_lives", "half-lives by which the models decay", kDuration, 0.1 * kHour, 1e6 * kHour,
     TAUT_REF(ensemble.half_lives_s), Was("ensemble.half_lives_h", kHour)},
    {"ensemble.margins", "margins of the models, as fractions of the limit", kPlain, 0, 10,
     TAUT_REF(ensemble.margins)},
    {"ensemble.cost", "paper: counts above and below; slack: overruns as events, underrun as bytes", kPlain,
     0, 0, TAUT_CHOICE(kCosts, ensemble.cost)},
    {"ensemble.judging", "prequential: on the limit in force before the window; paper: as published", kPlain,
     0, 0, TAUT_CHOICE(kJudgings, ensemble.judging)},
    {"ensemble.w_over", "w_o: the price of a window's samples above the limit", kPlain, 0, kMaxDouble,
     TAUT_REF(ensemble.w_over)},
    {"ensemble.cpu_w_over", "w_o of CPU; none: ensemble.w_over", kPlain, 0, kMaxDouble,
     TAUT_REF(ensemble.cpu_w_over)},
    {"ensemble.young_margin",
     "margin on memory of a job on its second to eighth day: twice this, this, half of it", kPlain, 0, 10,
     TAUT_REF(ensemble.young_margin)},
    {"ensemble.w_under", "w_u: the price of unused capacity below the limit", kPlain, 0, kMaxDouble,
     TAUT_REF(ensemble.w_under)},
    {"ensemble.w_limit_change", "w_dL: the price of a changed limit", kPlain, 0, kMaxDouble,
     TAUT_REF(ensemble.w_limit_change)},
    {"ensemble.cpu_w_limit_change", "w_dL of CPU; none: ensemble.w_limit_change", kPlain, 0, kMaxDouble,
     TAUT_REF(ensemble.cpu_w_limit_change)},
    {"ensemble.w_model_change", "w_dm: the price of a changed model", kPlain, 0, kMaxDouble,
     TAUT_REF(ensemble.w_model_change)},
    {"ensemble.score_half_life", "half-life of the models' scores (d of equation 8)", kDuration, 0.1 * kHour,
     1e6 * kHour, TAUT_REF(ensemble.score_half_life_s), Was("ensemble.score_half_life_h", kHour)},
    {"ensemble.min_history", "time for which a new job keeps its owner's limit", kDuration, 0, 1e6 * kHour,
     TAUT_REF(ensemble.min_history_s), Was("ensemble.min_history_h", kHour)},
    {"peak.window", "time over which the peak is taken", kDuration, 0.1 * kDay, 400 * kDay,
     TAUT_REF(peak.days), Was("peak.days", kDay, kDay)},
    {"peak.margin", "margin on the peak, as a fraction", kPlain, 0, 100, TAUT_REF(peak.margin)},
    {"peak.min_history", "time for which a new job keeps its owner's limit", kDuration, 0, 1e6 * kHour,
     TAUT_REF(peak.min_history_s), Was("peak.min_history_h", kHour)},
    {"vpa.percentile", "target percentile of the VPA comparator", kPlain, 0, 1, TAUT_REF(vpa.percentile)},
    {"vpa.margin", "its margin", kPlain, 0, 10, TAUT_REF(vpa.margin)},
    {"vpa.half_life", "half-life of its samples", kDuration, kHour, 1e6 * kHour, TAUT_REF(vpa.half_life_s),
     Was("vpa.half_life_h", kHour)},
    {"vpa.min_cpu", "its smallest CPU recommendation, in cores", kPlain, 0, 1e4, TAUT_REF(vpa.min_cpu_cores),
     Was("vpa.min_cpu_cores")},
    {"vpa.min_memory", "its smallest memory recommendation", kBytes, 0, 1e9 * kMiB,
     TAUT_REF(vpa.min_memory_bytes), Was("vpa.min_memory_mib", kMiB)},
    {"krr.history", "history that KRR reads, in whole days", kDuration, kDay, 365 * kDay, TAUT_REF(krr.days),
     Was("krr.days", kDay, kDay)},
    {"krr.cpu_percentile", "its percentile of a task's CPU usage", kPlain, 0, 1,
     TAUT_REF(krr.cpu_percentile)},
    {"krr.memory_margin", "its margin on the memory peak, as a fraction", kPlain, 0, 10,
     TAUT_REF(krr.memory_margin)},
    {"krr.oom_margin", "its margin on the limit at which a task was killed, as a fraction", kPlain, 0, 10,
     TAUT_REF(krr.oom_margin)},
    {"crane.history", "history that Crane reads, in whole days", kDuration, kDay, 365 * kDay,
     TAUT_REF(crane.days), Was("crane.days", kDay, kDay)},
    {"crane.percentile", "its percentile of the load", kPlain, 0, 1, TAUT_REF(crane.percentile)},
    {"crane.margin", "its margin, as a fraction", kPlain, 0, 10, TAUT_REF(crane.margin)},
    {"analogs.memory_oom_days", "risk target: share of OOM-days", kPlain, 1e-4, 0.9,
     TAUT_REF(analogs.memory_oom_days)},
    {"analogs.cpu_oom_days", "risk target: share of days over the CPU limit", kPlain, 1e-4, 0.9,
     TAUT_REF(analogs.cpu_oom_days)},
    {"analogs.memory_price",
     "fixed price of an OOM-day, in memory for a day; 0: the price follows from the target share", kBytes, 0,
     1e12 * kGiB, TAUT_REF(analogs.memory_price_bytes), Was("analogs.memory_price_gib", kGiB)},
    {"analogs.cpu_price",
     "fixed price of a day over the CPU limit, in cores for a day; 0: the price follows from the target "
     "share",
     kPlain, 0, 1e12, TAUT_REF(analogs.cpu_price_cores), Was("analogs.cpu_price_cores")},
    {"analogs.keep", "yesterday's limit is kept if it costs at most this share more than the best", kPlain, 0,
     10, TAUT_REF(analogs.keep)},
    {"analogs.max_overrun_chance",
     "highest chance of an OOM-day (throttled day) allowed for one job; 0: three times the target share, and "
     "at least 0.1",
     kPlain, 0, 1, TAUT_REF(analogs.max_overrun_chance)},
    {"analogs.job_order",
     "risk target: share of OOM-days of each job; empty: the fleet's target is shared over the jobs", kPlain,
     1e-4, 0.5, TAUT_REF(analogs.job_order)},
    {"analogs.own_half_life", "half-life of a job's own days", kDuration, 0.1 * kDay, 1e4 * kDay,
     TAUT_REF(analogs.own_half_life_days), Was("analogs.own_half_life_days", kDay, kDay)},
    {"analogs.fleet_weight", "weight of the fleet, in days of the job's own history", kPlain, 0, 1e6,
     TAUT_REF(analogs.fleet_weight)},
    {"analogs.min_rows", "job-days of history that the fleet needs before it forecasts", kPlain, 1, 1e9,
     TAUT_REF(analogs.min_rows)},
    {"analogs.min_history", "history that the fleet needs before it forecasts", kDuration, kDay, 1e4 * kDay,
     TAUT_REF(analogs.min_days), Was("analogs.min_days", kDay, kDay)},
    {"analogs.max_rows", "job-days of history that are kept and trained on", kPlain, 100, 1e7,
     TAUT_REF(analogs.max_rows)},
    {"analogs.retrain_every", "time between trainings", kDuration, kDay, 1e4 * kDay,
     TAUT_REF(analogs.retrain_days), Was("analogs.retrain_days", kDay, kDay)},
    {"analogs.solver_jobs", "jobs on which the price is solved", kPlain, 1, 1e6,
     TAUT_REF(analogs.solver_jobs)},
    {"analogs.raise_at", "usage above this share of the limit raises it immediately; 0: never", kPlain, 0, 10,
     TAUT_REF(analogs.raise_at)},
    {"analogs.raise_factor", "the raised limit as a multiple of that usage", kPlain, 1, 100,
     TAUT_REF(analogs.raise_factor)},
    {"analogs.raise_for",
     "shortest duration of a raise; it lasts until the next daily decision if usage needed it", kDuration,
     0.1 * kHour, 24 * kHour, TAUT_REF(analogs.raise_hours), Was("analogs.raise_hours", kHour, kHour)},
    {"analogs.raise_change_price",
     "cost of a raise besides its bytes: this share of a mean job's limit for a day", kPlain, 0, 100,
     TAUT_REF(analogs.raise_change_price)},
    {"analogs.raise_pin", "no raise when usage is above this share of the owner's limit", kPlain, 0, 10,
     TAUT_REF(analogs.raise_pin)},
    {"work_function.cpu_throttled", "risk target: share of CPU work above the limits", kPlain, 1e-6, 0.5,
     TAUT_REF(work_function.cpu_throttled)},
    {"work_function.memory_above", "risk target: share of memory use above the limits", kPlain, 1e-6, 0.5,
     TAUT_REF(work_function.memory_above)},
    {"work_function.price",
     "price of a core-window (byte-window) above the limit, in core-windows (byte-windows) reserved; 0: "
     "derived from the target",
     kPlain, 0, 1e6, TAUT_REF(work_function.price)},
    {"work_function.job_cap",
     "a job above its limits for more than this many times the target has its own price; 0: off", kPlain, 0,
     1e6, TAUT_REF(work_function.job_cap)},
    {"work_function.job_order",
     "risk target: share of throttled CPU work of each job; empty: the fleet's target is shared over the "
     "jobs",
     kPlain, 1e-6, 0.5, TAUT_REF(work_function.job_order)},
    {"work_function.change_scale", "factor on the charge for a change", kPlain, 0, 1e4,
     TAUT_REF(work_function.change_scale)},
    {"work_function.min_history", "time for which a new job keeps its owner's limit", kDuration, 0,
     1e6 * kHour, TAUT_REF(work_function.min_history_s), Was("work_function.min_history_h", kHour)},
    {"oom.bump_ratio", "after an OOM kill at L the usage counts as max(oom.bump_ratio * L, L + oom.bump)",
     kPlain, 1, 100, TAUT_REF(oom.bump_ratio)},
    {"oom.bump", "least amount by which an OOM kill raises the usage, see oom.bump_ratio", kBytes, 0,
     1e9 * kMiB, TAUT_REF(oom.bump_bytes), Was("oom.bump_mib", kMiB)},
    {"oom.hold", "time for which the limit does not fall below that value", kDuration, 0, 1e6 * kHour,
     TAUT_REF(oom.hold_s), Was("oom.hold_h", kHour)},
    {"cpu.lower", "lowest CPU limit, in cores", kPlain, 0, 1e9, TAUT_REF(bounds_by[kCpuIndex].lower),
     Was("cpu.lower_cores")},
    {"cpu.upper", "highest CPU limit, in cores", kPlain, 0, 1e9, TAUT_REF(bounds_by[kCpuIndex].upper),
     Was("cpu.upper_cores")},
    {"cpu.granularity", "CPU limits are rounded up to a multiple of this; 0: limits are not rounded", kPlain,
     0, 1e6, TAUT_REF(bounds_by[kCpuIndex].granularity), Was("cpu.granularity_cores")},
    {"memory.lower", "lowest memory limit", kBytes, 0, 1e12 * kMiB, TAUT_REF(bounds_by[kMemoryIndex].lower),
     Was("memory.lower_mib", kMiB)},
    {"memory.upper", "highest memory limit", kBytes, 0, 1e12 * kMiB, TAUT_REF(bounds_by[kMemoryIndex].upper),
     Was("memory.upper_mib", kMiB)},
    {"memory.granularity", "memory limits are rounded up to a multiple of this; 0: limits are not rounded",
     kBytes, 0, 1e6 * kMiB, TAUT_REF(bounds_by[kMemoryIndex].granularity),
     Was("memory.granularity_mib", kMiB)},
};
#undef TAUT_CHOICE
#undef TAUT_REF

}  // namespace

std::span<const VerticalSetting> VerticalSettingRows() { return kRows; }

absl::Status SetVerticalSetting(std::string_view key, std::string_view value, VerticalSettings& settings,
                                SettingNotices* notices) {
  const VerticalSetting* row = FindSetting(VerticalSettingRows(), key);
  if (row != nullptr) return SetSetting(*row, key, value, settings, notices);
  const std::string near = DidYouMean(key, KeysOf(kRows));
  return absl::InvalidArgumentError(
      StrCat("unknown setting \"", key, "\"", near.empty() ? "; `taut list settings` lists them" : near));
}

}  // namespace taut::brain
