#include "server/config/settings_file.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base/did_you_mean.h"
#include "common/base/strings.h"
#include "common/settings/enum_name.h"
#include "common/settings/yaml_walk.h"
#include "fmt/format.h"
#include "server/config/walk_settings.h"

namespace taut::server {
namespace {

constexpr double kMaxDouble = std::numeric_limits<double>::max();

constexpr EnumName<brain::JobClass> kJobClasses[] = {
    {brain::JobClass::kBatch, brain::kJobClassNames[0]},
    {brain::JobClass::kServing, brain::kJobClassNames[1]},
    {brain::JobClass::kServingTolerant, brain::kJobClassNames[2]}};
constexpr EnumName<brain::OomTolerance> kTolerances[] = {
    {brain::OomTolerance::kMinimal, brain::kOomToleranceNames[0]},
    {brain::OomTolerance::kLow, brain::kOomToleranceNames[1]},
    {brain::OomTolerance::kIntermediate, brain::kOomToleranceNames[2]},
    {brain::OomTolerance::kBySize, brain::kOomToleranceNames[3]}};
constexpr EnumName<brain::EnsembleCost> kCosts[] = {{brain::EnsembleCost::kPaper, "paper"},
                                                    {brain::EnsembleCost::kSlack, "slack"}};
constexpr EnumName<brain::EnsembleJudging> kJudgings[] = {
    {brain::EnsembleJudging::kPaper, "paper"}, {brain::EnsembleJudging::kPrequential, "prequential"}};

std::span<const EnumName<brain::JobClass>> NamesOf(brain::JobClass) { return kJobClasses; }
std::span<const EnumName<brain::OomTolerance>> NamesOf(brain::OomTolerance) { return kTolerances; }
std::span<const EnumName<brain::EnsembleCost>> NamesOf(brain::EnsembleCost) { return kCosts; }
std::span<const EnumName<brain::EnsembleJudging>> NamesOf(brain::EnsembleJudging) { return kJudgings; }

#define TAUT_REF(field) +[](brain::VerticalSettings& s) -> SettingRef { return &s.field; }
const Setting kVerticalSettings[] = {
    {"moving_window.cpu_half_life_h", "half-life of CPU samples, hours", brain::kHour, 0.1, 1e6,
     TAUT_REF(moving_window.cpu_half_life_s)},
    {"moving_window.memory_half_life_h", "half-life of memory samples, hours", brain::kHour, 0.1, 1e6,
     TAUT_REF(moving_window.memory_half_life_s)},
    {"moving_window.job_class",
     "class of jobs whose trace names none: batch (average), serving (p95), serving_tolerant "
     "(p90)",
     1, 0, 0, TAUT_REF(moving_window.job_class)},
    {"moving_window.oom_tolerance",
     "memory statistic: minimal (peak), low (p98), intermediate (max of p60 and half the peak), by_size "
     "(minimal "
     "for jobs of less than 10 tasks, else low)",
     1, 0, 0, TAUT_REF(moving_window.oom_tolerance)},
    {"moving_window.peak_days", "days over which the peak is taken", 1, 0.1, 400,
     TAUT_REF(moving_window.peak_days)},
    {"moving_window.hold_windows", "windows whose highest recommendation is held (12 = 1 hour)", 1, 1, 16,
     TAUT_REF(moving_window.hold_windows)},
    {"moving_window.margin_scale",
     "factor on the margin, which falls from 15 to 10 % with the limit; 0: no margin", 1, 0, 100,
     TAUT_REF(moving_window.margin_scale)},
    {"moving_window.min_history_h", "hours for which a new job keeps its owner's limit", brain::kHour, 0, 1e6,
     TAUT_REF(moving_window.min_history_s)},
    {"ensemble.half_lives_h", "decay rates of the models, as half-lives in hours", brain::kHour, 0.1, 1e6,
     TAUT_REF(ensemble.half_lives_s)},
    {"ensemble.margins", "margins of the models, as fractions of the limit", 1, 0, 10,
     TAUT_REF(ensemble.margins)},
    {"ensemble.cost", "paper: counts above and below; slack: overruns as events, underrun as bytes", 1, 0, 0,
     TAUT_REF(ensemble.cost)},
    {"ensemble.judging", "prequential: on the limit in force before the window; paper: as published", 1, 0, 0,
     TAUT_REF(ensemble.judging)},
    {"ensemble.w_over", "w_o: the price of a window's samples above the limit", 1, 0, kMaxDouble,
     TAUT_REF(ensemble.w_over)},
    {"ensemble.cpu_w_over", "w_o of CPU; none: ensemble.w_over", 1, 0, kMaxDouble,
     TAUT_REF(ensemble.cpu_w_over)},
    {"ensemble.young_margin",
     "margin on memory of a job on its second to eighth day: twice this, this, half of it", 1, 0, 10,
     TAUT_REF(ensemble.young_margin)},
    {"ensemble.w_under", "w_u: the price of unused capacity below the limit", 1, 0, kMaxDouble,
     TAUT_REF(ensemble.w_under)},
    {"ensemble.w_limit_change", "w_dL: the price of a changed limit", 1, 0, kMaxDouble,
     TAUT_REF(ensemble.w_limit_change)},
    {"ensemble.cpu_w_limit_change", "w_dL of CPU; none: ensemble.w_limit_change", 1, 0, kMaxDouble,
     TAUT_REF(ensemble.cpu_w_limit_change)},
    {"ensemble.w_model_change", "w_dm: the price of a changed model", 1, 0, kMaxDouble,
     TAUT_REF(ensemble.w_model_change)},
    {"ensemble.score_half_life_h", "half-life of the models' scores (d of equation 8), hours", brain::kHour,
     0.1, 1e6, TAUT_REF(ensemble.score_half_life_s)},
    {"ensemble.min_history_h", "hours for which a new job keeps its owner's limit", brain::kHour, 0, 1e6,
     TAUT_REF(ensemble.min_history_s)},
    {"peak.days", "days over which the peak is taken", 1, 0.1, 400, TAUT_REF(peak.days)},
    {"peak.margin", "margin on the peak, as a fraction", 1, 0, 100, TAUT_REF(peak.margin)},
    {"peak.min_history_h", "hours for which a new job keeps its owner's limit", brain::kHour, 0, 1e6,
     TAUT_REF(peak.min_history_s)},
    {"vpa.percentile", "target percentile of the VPA comparator", 1, 0, 1, TAUT_REF(vpa.percentile)},
    {"vpa.margin", "its margin", 1, 0, 10, TAUT_REF(vpa.margin)},
    {"vpa.half_life_h", "its half-life, hours", brain::kHour, 1, 1e6, TAUT_REF(vpa.half_life_s)},
    {"vpa.min_cpu_cores", "its smallest CPU recommendation, cores", 1, 0, 1e4, TAUT_REF(vpa.min_cpu_cores)},
    {"vpa.min_memory_mib", "its smallest memory recommendation, MiB", kMiB, 0, 1e9,
     TAUT_REF(vpa.min_memory_bytes)},
    {"krr.days", "whole days of history that KRR reads", 1, 1, 365, TAUT_REF(krr.days)},
    {"krr.cpu_percentile", "its percentile of a task's CPU usage", 1, 0, 1, TAUT_REF(krr.cpu_percentile)},
    {"krr.memory_margin", "its margin on the memory peak, as a fraction", 1, 0, 10,
     TAUT_REF(krr.memory_margin)},
    {"krr.oom_margin", "its margin on the limit at which a task was killed, as a fraction", 1, 0, 10,
     TAUT_REF(krr.oom_margin)},
    {"crane.days", "whole days of history that Crane reads", 1, 1, 365, TAUT_REF(crane.days)},
    {"crane.percentile", "its percentile of the load", 1, 0, 1, TAUT_REF(crane.percentile)},
    {"crane.margin", "its margin, as a fraction", 1, 0, 10, TAUT_REF(crane.margin)},
    {"analogs.memory_oom_days", "target share of OOM-days", 1, 1e-4, 0.9, TAUT_REF(analogs.memory_oom_days)},
    {"analogs.cpu_oom_days", "target share of days over the CPU limit", 1, 1e-4, 0.9,
     TAUT_REF(analogs.cpu_oom_days)},
    {"analogs.memory_price_gib",
     "a fixed price of an OOM-day instead, GiB-days; 0: derived from the target share", 1024 * kMiB, 0, 1e12,
     TAUT_REF(analogs.memory_price_bytes)},
    {"analogs.cpu_price_cores",
     "a fixed price of a day over the CPU limit, core-days; 0: derived from the target share", 1, 0, 1e12,
     TAUT_REF(analogs.cpu_price_cores)},
    {"analogs.keep", "yesterday's limit is kept if it costs at most this share more than the best", 1, 0, 10,
     TAUT_REF(analogs.keep)},
    {"analogs.max_overrun_chance",
     "highest chance of an OOM-day (throttled day) allowed for one job; 0: three times the target share, and "
     "at least 0.1",
     1, 0, 1, TAUT_REF(analogs.max_overrun_chance)},
    {"analogs.job_order",
     "target share of OOM-days of each job; empty: the fleet's target is shared over the jobs", 1, 1e-4, 0.5,
     TAUT_REF(analogs.job_order)},
    {"analogs.own_half_life_days", "half-life of a job's own days", 1, 0.1, 1e4,
     TAUT_REF(analogs.own_half_life_days)},
    {"analogs.fleet_weight", "weight of the fleet, in days of the job's own history", 1, 0, 1e6,
     TAUT_REF(analogs.fleet_weight)},
    {"analogs.min_rows", "job-days of history needed before the fleet forecasts", 1, 1, 1e9,
     TAUT_REF(analogs.min_rows)},
    {"analogs.min_days", "days of history needed before the fleet forecasts", 1, 1, 1e4,
     TAUT_REF(analogs.min_days)},
    {"analogs.max_rows", "job-days of history that are kept and trained on", 1, 100, 1e7,
     TAUT_REF(analogs.max_rows)},
    {"analogs.retrain_days", "days between trainings", 1, 1, 1e4, TAUT_REF(analogs.retrain_days)},
    {"analogs.solver_jobs", "jobs on which the price is solved", 1, 1, 1e6, TAUT_REF(analogs.solver_jobs)},
    {"analogs.raise_at", "usage above this share of the limit raises it immediately; 0: never", 1, 0, 10,
     TAUT_REF(analogs.raise_at)},
    {"analogs.raise_factor", "the raised limit as a multiple of that usage", 1, 1, 100,
     TAUT_REF(analogs.raise_factor)},
    {"analogs.raise_hours",
     "minimum duration of a raise; it lasts until the next daily decision if usage needed it", 1, 0.1, 24,
     TAUT_REF(analogs.raise_hours)},
    {"analogs.raise_change_price",
     "cost of a raise besides its bytes: this share of a mean job's limit for a day", 1, 0, 100,
     TAUT_REF(analogs.raise_change_price)},
    {"analogs.raise_pin", "no raise when usage is above this share of the owner's limit", 1, 0, 10,
     TAUT_REF(analogs.raise_pin)},
    {"work_function.cpu_throttled", "target share of CPU work above the limits", 1, 1e-6, 0.5,
     TAUT_REF(work_function.cpu_throttled)},
    {"work_function.memory_above", "target share of memory use above the limits", 1, 1e-6, 0.5,
     TAUT_REF(work_function.memory_above)},
    {"work_function.price",
     "price of a core-window (byte-window) above the limit, in core-windows (byte-windows) reserved; 0: "
     "derived from the target",
     1, 0, 1e6, TAUT_REF(work_function.price)},
    {"work_function.job_cap",
     "a job above its limits for more than this many times the target has its own price; 0: off", 1, 0, 1e6,
     TAUT_REF(work_function.job_cap)},
    {"work_function.job_order",
     "target share of throttled CPU work of each job; empty: the fleet's target is shared over the jobs", 1,
     1e-6, 0.5, TAUT_REF(work_function.job_order)},
    {"work_function.change_scale", "factor on the charge for a change", 1, 0, 1e4,
     TAUT_REF(work_function.change_scale)},
    {"work_function.min_history_h", "hours for which a new job keeps its owner's limit", brain::kHour, 0, 1e6,
     TAUT_REF(work_function.min_history_s)},
    {"oom.bump_ratio", "after an OOM at L the usage counts as max(ratio * L, L + bump_mib)", 1, 1, 100,
     TAUT_REF(oom.bump_ratio)},
    {"oom.bump_mib", "see oom.bump_ratio, MiB", kMiB, 0, 1e9, TAUT_REF(oom.bump_bytes)},
    {"oom.hold_h", "hours for which the limit does not fall below that value", brain::kHour, 0, 1e6,
     TAUT_REF(oom.hold_s)},
    {"cpu.lower_cores", "lowest CPU limit, cores", 1, 0, 1e9, TAUT_REF(bounds_by[kCpuIndex].lower)},
    {"cpu.upper_cores", "highest CPU limit, cores", 1, 0, 1e9, TAUT_REF(bounds_by[kCpuIndex].upper)},
    {"cpu.granularity_cores", "CPU limits are rounded up to a multiple of this; 0: not rounded", 1, 0, 1e6,
     TAUT_REF(bounds_by[kCpuIndex].granularity)},
    {"memory.lower_mib", "lowest memory limit, MiB", kMiB, 0, 1e12, TAUT_REF(bounds_by[kMemoryIndex].lower)},
    {"memory.upper_mib", "highest memory limit, MiB", kMiB, 0, 1e12, TAUT_REF(bounds_by[kMemoryIndex].upper)},
    {"memory.granularity_mib", "memory limits are rounded up to a multiple of this, MiB; 0: not rounded",
     kMiB, 0, 1e6, TAUT_REF(bounds_by[kMemoryIndex].granularity)},
};
#undef TAUT_REF

const Setting* Find(std::string_view key) {
  for (const Setting& s : kVerticalSettings) {
    if (s.key == key) return &s;
  }
  return nullptr;
}

absl::Status UnknownKey(std::string_view key) {
  const std::string near = DidYouMean(key, KeysOf(kVerticalSettings));
  return absl::InvalidArgumentError(
      StrCat("unknown setting \"", key, "\"", near.empty() ? "; `taut list settings` lists them" : near));
}

absl::StatusOr<double> ParseNumber(const Setting& s, std::string_view text) {
  const std::optional<double> value = ParseDouble(StripSpace(text));
  if (!value.has_value())
    return absl::InvalidArgumentError(StrCat(s.key, ": \"", text, "\" is not a number"));
  if (*value < s.min || *value > s.max) {
    return absl::InvalidArgumentError(
        fmt::format("{}: {:g} is outside {:g} .. {:g}", s.key, *value, s.min, s.max));
  }
  return *value * s.scale;
}

// One assignment for each kind of setting.
struct AssignSetting {
  const Setting& setting;
  std::string_view text;

  absl::Status operator()(double* target) const {
    const absl::StatusOr<double> value = ParseNumber(setting, text);
    if (value.ok()) *target = *value;
    return value.status();
  }
  absl::Status operator()(int* target) const {
    const absl::StatusOr<double> value = ParseNumber(setting, text);
    if (!value.ok()) return value.status();
    if (*value != std::floor(*value)) {
      return absl::InvalidArgumentError(StrCat(setting.key, ": \"", text, "\" is not a whole number"));
    }
    *target = static_cast<int>(*value);
    return absl::OkStatus();
  }
  absl::Status operator()(std::optional<double>* target) const {
    if (text == "none") {
      target->reset();
      return absl::OkStatus();
    }
    const absl::StatusOr<double> value = ParseNumber(setting, text);
    if (value.ok()) *target = *value;
    return value.status();
  }
  absl::Status operator()(std::vector<double>* target) const {
    std::string_view list = StripSpace(text);
    if (list.size() >= 2 && list.front() == '[' && list.back() == ']') list = list.substr(1, list.size() - 2);
    std::vector<double> values;
    for (std::string_view part : Split(list, ',')) {
      const absl::StatusOr<double> value = ParseNumber(setting, part);
      if (!value.ok()) return value.status();
      values.push_back(*value);
    }
    if (values.empty() || values.size() > 16) {
      return absl::InvalidArgumentError(StrCat(setting.key, ": must be 1 to 16 values"));
    }
    *target = std::move(values);
    return absl::OkStatus();
  }
  template <typename T>
  requires std::is_enum_v<T> absl::Status operator()(T* target) const {
    const absl::Status s = SetByName(NamesOf(T{}), text, *target);
    return s.ok() ? s : absl::InvalidArgumentError(StrCat(setting.key, ": ", Message(s)));
  }
};

struct ShowSetting {
  const Setting& setting;
  std::string operator()(const double* v) const { return fmt::format("{:g}", *v / setting.scale); }
  std::string operator()(const int* v) const { return std::to_string(*v); }
  std::string operator()(const std::optional<double>* v) const {
    return v->has_value() ? fmt::format("{:g}", **v / setting.scale) : "none";
  }
  std::string operator()(const std::vector<double>* v) const {
    std::vector<std::string> parts;
    for (double x : *v) parts.push_back(fmt::format("{:g}", x / setting.scale));
    return StrCat("[", Join(parts, ", "), "]");
  }
  template <typename T>
  requires std::is_enum_v<T> std::string operator()(const T* v) const { return NameIn(NamesOf(T{}), *v); }
};

}  // namespace

std::span<const Setting> SettingsTable() { return kVerticalSettings; }

absl::Status SetSetting(std::string_view key, std::string_view value, brain::VerticalSettings& settings) {
  const Setting* s = Find(key);
  if (s == nullptr) return UnknownKey(key);
  return std::visit(AssignSetting{*s, value}, s->ref(settings));
}

std::string GetSetting(const Setting& setting, const brain::VerticalSettings& settings) {
  brain::VerticalSettings copy = settings;
  return std::visit(ShowSetting{setting}, setting.ref(copy));
}

absl::Status WalkVerticalSettings(const YAML::Node& map, std::string_view name,
                                  brain::VerticalSettings& settings) {
  return ForEachEntry(map, name, "the settings", [&](const YAML::Node& group, const YAML::Node& values) {
    const auto set = [&](const YAML::Node& at, const std::string& key, const YAML::Node& value) {
      const absl::StatusOr<std::vector<std::string>> texts = TextsOf(value, name, key);
      if (!texts.ok()) return texts.status();
      const absl::Status s = SetSetting(key, Join(*texts, ","), settings);
      return s.ok() ? s : ErrorAt(name, at, Message(s));
    };
    if (group.Scalar() == kCompatibilityKey) return absl::OkStatus();  // read before
    if (!values.IsMap()) return set(group, group.Scalar(), values);
    return ForEachEntry(values, name, group.Scalar(), [&](const YAML::Node& key, const YAML::Node& value) {
      return set(key, StrCat(group.Scalar(), ".", key.Scalar()), value);
    });
  });
}

absl::StatusOr<std::string> CompatibilityOf(const YAML::Node& root, std::string_view name) {
  if (!root.IsMap()) return std::string();
  const YAML::Node version = root[std::string(kCompatibilityKey)];
  return version.IsDefined() ? TextOf(version, name, kCompatibilityKey) : std::string();
}

absl::Status RestoreVerticalDefaults(std::string_view version, brain::VerticalSettings& settings,
                                     std::span<const ChangedDefault> changes) {
  return RestoreDefaults(
      version, kScopeRecommenders, changes,
      [&settings](std::string_view key, std::string_view value) { return SetSetting(key, value, settings); });
}

absl::Status ParseSettings(std::string_view yaml, std::string_view name, brain::VerticalSettings& settings,
                           std::span<const ChangedDefault> changes) {
  brain::VerticalSettings result = settings;
  const absl::Status s = WalkYaml(yaml, name, [&](const YAML::Node& root) {
    const absl::StatusOr<std::string> version = CompatibilityOf(root, name);
    if (!version.ok()) return version.status();
    const absl::Status restored = RestoreVerticalDefaults(*version, result, changes);
    if (!restored.ok())
      return ErrorAt(name, root[std::string(kCompatibilityKey)],
                     StrCat(kCompatibilityKey, ": ", Message(restored)));
    return WalkVerticalSettings(root, name, result);
  });
  if (s.ok()) settings = std::move(result);
  return s;
}

absl::StatusOr<brain::VerticalSettings> ReadSettingsFile(const std::string& path,
                                                         brain::VerticalSettings defaults) {
  const absl::StatusOr<std::string> text = ReadYamlFile(path, "settings file");
  if (!text.ok()) return text.status();
  if (absl::Status s = ParseSettings(*text, path, defaults); !s.ok()) return s;
  return defaults;
}

std::string WriteSettings(const brain::VerticalSettings& settings, bool only_changed) {
  const brain::VerticalSettings defaults;
  std::string out;
  std::string_view group;
  for (const Setting& s : kVerticalSettings) {
    const std::string value = GetSetting(s, settings);
    if (only_changed && value == GetSetting(s, defaults)) continue;
    const size_t dot = s.key.find('.');
    if (s.key.substr(0, dot) != group) {
      group = s.key.substr(0, dot);
      StrAppend(&out, group, ":\n");
    }
    StrAppend(&out, "  ", s.key.substr(dot + 1), ": ", value, "  # ", s.help, "\n");
  }
  return out;
}

}  // namespace taut::server
