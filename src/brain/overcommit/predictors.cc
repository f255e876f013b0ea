#include "brain/overcommit/predictors.h"

#include <utility>
#include <vector>

#include "brain/overcommit/pool.h"
#include "brain/overcommit/statistics.h"
#include "common/base/row_named.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

using Made = absl::StatusOr<std::unique_ptr<PeakPredictor>>;
using Summed = absl::StatusOr<std::unique_ptr<SummedPeak>>;

// Returns the rows of the predictors whose highest prediction `max` selects.
absl::StatusOr<std::vector<const PeakPredictorInfo*>> PartsOfMax(const OvercommitSettings& settings) {
  std::vector<const PeakPredictorInfo*> out;
  for (const std::string_view part : Split(settings.max.of, '+')) {
    const std::string_view name = StripSpace(part);
    const absl::StatusOr<const PeakPredictorInfo*> info = FindPeakPredictor(name);
    if (!info.ok() || name == "max") {
      return absl::InvalidArgumentError(StrCat("invalid max.of \"", settings.max.of,
                                               "\": expected names of predictors other than max, ",
                                               "joined by +; \"", name, "\" is none"));
    }
    out.push_back(*info);
  }
  return out;
}

Made MakeMax(const OvercommitSettings& settings) {
  const auto parts = PartsOfMax(settings);
  if (!parts.ok()) return parts.status();
  std::vector<std::unique_ptr<PeakPredictor>> of;
  for (const PeakPredictorInfo* info : *parts) {
    Made made = info->make(settings);
    if (!made.ok()) return made;
    of.push_back(*std::move(made));
  }
  return NewMaxPredictor(std::move(of));
}

Summed MakeSummedMax(const OvercommitSettings& settings) {
  const auto parts = PartsOfMax(settings);
  if (!parts.ok()) return parts.status();
  std::vector<std::unique_ptr<SummedPeak>> of;
  std::vector<std::string> alone;
  for (const PeakPredictorInfo* info : *parts) {
    if (info->sums_tasks) {
      alone.emplace_back(info->name);
      continue;
    }
    Summed made = info->summed(settings);
    if (!made.ok()) return made;
    of.push_back(*std::move(made));
  }
  return NewSummedMax(std::move(of), std::move(alone));
}

constexpr PeakPredictorInfo kPredictors[] = {
    {"limit", "the sum of the tasks' limits: nothing is overcommitted",
     [](const OvercommitSettings&) -> Made { return NewLimitPredictor(); }, true},
    {"borg-default", "a fixed share of the sum of the limits",
     [](const OvercommitSettings& s) -> Made { return NewBorgPredictor(s.borg); }, true},
    {"n-sigma", "mean plus N standard deviations of the machine's usage over its limits",
     [](const OvercommitSettings& s) -> Made { return NewNSigmaPredictor(s.n_sigma); }, false,
     [](const OvercommitSettings& s) -> Summed { return NewSummedNSigma(s); }},
    {"rc-like", "the sum of a percentile of each task's usage",
     [](const OvercommitSettings& s) -> Made { return NewRcLikePredictor(s.rc_like); }, true},
    {"machine-percentile", "a percentile of the machine's usage over its limits",
     [](const OvercommitSettings& s) -> Made { return NewMachinePercentilePredictor(s.machine_percentile); },
     false, [](const OvercommitSettings& s) -> Summed { return NewSummedMachinePercentile(s); }},
    {"reservation",
     "the sum of the tasks' reservations: usage and a margin, approached slowly from the limit",
     [](const OvercommitSettings& s) -> Made { return NewReservationPredictor(s.reservation); }, true},
    {"machine-max", "the machine's highest usage of some days, times a factor",
     [](const OvercommitSettings& s) -> Made { return NewMachineMaxPredictor(s.machine_max); }, false,
     [](const OvercommitSettings& s) -> Summed { return NewSummedMachineMax(s); }},
    {"pool", "a quantile of the peaks of the whole cell's machines, at a risk target",
     [](const OvercommitSettings& s) -> Made { return NewPoolPredictor(s.pool, s.horizon_h); }, false,
     [](const OvercommitSettings& s) -> Summed { return NewSummedPool(s); }},
    {"max", "the highest of several predictors", MakeMax, false, MakeSummedMax},
};

}  // namespace

std::span<const PeakPredictorInfo> PeakPredictors() { return kPredictors; }

absl::StatusOr<const PeakPredictorInfo*> FindPeakPredictor(std::string_view name) {
  return RowNamed("peak predictor", kPredictors, name);
}

namespace {

// Returns the row of the predictor that `spec` names, and applies the settings of `spec` to `settings`.
absl::StatusOr<const PeakPredictorInfo*> ParseSpec(std::string_view spec, OvercommitSettings& settings,
                                                   SettingNotices* notices = nullptr) {
  const std::vector<std::string_view> parts = Split(spec, ':');
  const absl::StatusOr<const PeakPredictorInfo*> info = FindPeakPredictor(parts[0]);
  if (!info.ok()) return info.status();
  for (size_t i = 1; i < parts.size(); ++i) {
    const size_t equals = parts[i].find('=');
    if (equals == std::string_view::npos) {
      return absl::InvalidArgumentError(StrCat(
          "invalid predictor \"", spec, "\": expected key=value after each ':', not \"", parts[i], "\""));
    }
    const absl::Status s = SetOvercommitSetting(StrCat(parts[0], ".", parts[i].substr(0, equals)),
                                                parts[i].substr(equals + 1), settings, notices);
    if (!s.ok()) return s;
  }
  return info;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PeakPredictor>> NewPeakPredictor(std::string_view spec,
                                                                OvercommitSettings settings,
                                                                SettingNotices* notices) {
  const absl::StatusOr<const PeakPredictorInfo*> info = ParseSpec(spec, settings, notices);
  if (!info.ok()) return info.status();
  return (*info)->make(settings);
}

absl::StatusOr<std::unique_ptr<SummedPeak>> NewSummedPeak(std::string_view spec,
                                                          OvercommitSettings settings) {
  const absl::StatusOr<const PeakPredictorInfo*> info = ParseSpec(spec, settings);
  if (!info.ok()) return info.status();
  if ((*info)->sums_tasks)
    return absl::InvalidArgumentError(StrCat("\"", spec, "\" adds up tasks, and no whole machine"));
  return (*info)->summed(settings);
}

}  // namespace taut::brain
