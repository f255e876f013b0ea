#include "brain/recommend/policy.h"

#include <iterator>
#include <vector>

#include "brain/recommend/settings.h"
#include "common/base/row_named.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

using Unit = WhatIfKnob::Unit;

constexpr WhatIfKnob kOomDays = {
    .key = "oom_days",
    .name = "Days over the limit, target",
    .help = "the accepted share of days over the limit: OOM-days of memory, throttled days of CPU",
    .unit = Unit::kShare,
    .least = 0.001,
    .most = 0.5,
    .low = 0.002,
    .high = 0.25,
    .initial = 0.03,
    .set = [](double v, VerticalSettings& s) {
      s.analogs.memory_oom_days = s.analogs.cpu_oom_days = v;
      if (s.analogs.job_order.has_value()) s.analogs.job_order = v;
    }};
constexpr WhatIfKnob kThrottled = {.key = "throttled",
                                   .name = "Throttled work, target",
                                   .help = "CPU: the accepted share of work above the limits",
                                   .unit = Unit::kShare,
                                   .least = 1e-5,
                                   .most = 0.5,
                                   .low = 0.0001,
                                   .high = 0.02,
                                   .initial = 0.001,
                                   .set = [](double v, VerticalSettings& s) {
                                     s.work_function.cpu_throttled = v;
                                     if (s.work_function.job_order.has_value()) s.work_function.job_order = v;
                                   }};
constexpr WhatIfKnob kOverrunPrice = {
    .key = "w_over",
    .name = "Price of an overrun",
    .help = "against unused limit (30,000 is usual); higher is safer",
    .unit = Unit::kNumber,
    .least = 0,
    .most = 1e12,
    .low = 100,
    .high = 1e7,
    .initial = 30'000,
    .set = [](double v, VerticalSettings& s) { s.ensemble.cpu_w_over = s.ensemble.w_over = v; }};
constexpr WhatIfKnob kMarginScale = {
    .key = "margin_scale",
    .name = "Margin",
    .help = "against the usual 10 to 15 %",
    .unit = Unit::kFactor,
    .least = 0,
    .most = 10,
    .low = 0,
    .high = 5,
    .initial = 1,
    .logarithmic = false,
    .set = [](double v, VerticalSettings& s) { s.moving_window.margin_scale = v; }};
constexpr WhatIfKnob kPeakDays = {
    .key = "peak_days",
    .name = "Days of history",
    .help = "more is safer and lowers limits later",
    .unit = Unit::kDays,
    .least = 0.1,
    .most = 60,
    .low = 0.25,
    .high = 28,
    .initial = 7,
    .set = [](double v, VerticalSettings& s) { s.peak.days = s.moving_window.peak_days = v; }};

constexpr WhatIfKnob kPeakKnobs[] = {kPeakDays};
constexpr WhatIfKnob kMovingWindowKnobs[] = {kMarginScale};
constexpr WhatIfKnob kEnsembleKnobs[] = {kOverrunPrice};
constexpr WhatIfKnob kAnalogsKnobs[] = {kOomDays};
constexpr WhatIfKnob kWorkFunctionKnobs[] = {kThrottled};
constexpr WhatIfKnob kCombinedKnobs[] = {kOomDays, kThrottled};

constexpr std::string_view kPeakSweep[] = {"peak.window=4d,7d,14d,28d", "peak.margin=0.05,0.15,0.3"};
constexpr std::string_view kVpaSweep[] = {"vpa.percentile=0.9,0.95,0.99", "vpa.margin=0.15,0.3"};
constexpr std::string_view kMovingWindowSweep[] = {"moving_window.oom_tolerance=minimal,low,intermediate",
                                                   "moving_window.memory_half_life=1d,2d,4d,7d",
                                                   "moving_window.margin_scale=0.5,1,2"};
constexpr std::string_view kEnsembleSweep[] = {"ensemble.w_over=3000,30000,300000",
                                               "ensemble.cpu_w_over=500,2000,8000",
                                               "ensemble.w_limit_change=0.5,2,8"};
constexpr std::string_view kAnalogsSweep[] = {"analogs.memory_oom_days=0.01,0.02,0.03,0.05,0.08,0.13",
                                              "analogs.cpu_oom_days=0.01,0.02,0.03,0.05,0.08,0.13"};
constexpr std::string_view kWorkFunctionSweep[] = {
    "work_function.cpu_throttled=0.0005,0.001,0.002,0.003,0.005",
    "work_function.memory_above=0.00003,0.0001,0.0003,0.001"};
constexpr std::string_view kCombinedSweep[] = {kAnalogsSweep[0], kWorkFunctionSweep[0]};
constexpr std::string_view kKrrSweep[] = {"krr.history=7d,14d,28d", "krr.cpu_percentile=0.9,0.95,0.99",
                                          "krr.memory_margin=0.05,0.15,0.3"};
constexpr std::string_view kCraneSweep[] = {"crane.history=3d,7d,14d", "crane.percentile=0.95,0.99,0.999",
                                            "crane.margin=0.05,0.15,0.3"};

constexpr PolicyInfo kPolicies[] = {
    {Policy::kStatic, "static", "the owner's limit, whatever the usage", {}, {}},
    {Policy::kPeak, "peak", "the highest usage of the last days and a margin", kPeakKnobs, kPeakSweep},
    {Policy::kVpa, "vpa", "the recommendation of the Kubernetes VPA with its defaults", {}, kVpaSweep},
    {Policy::kMovingWindow, "moving_window", "Autopilot's decayed statistics of the usage, by job class",
     kMovingWindowKnobs, kMovingWindowSweep},
    {Policy::kEnsemble, "ensemble",
     "Autopilot's many simple models; the one with the lowest recent cost sets the limit", kEnsembleKnobs,
     kEnsembleSweep},
    {Policy::kAnalogs, "analogs", "a forecast from similar job-days of the whole fleet, at a risk target",
     kAnalogsKnobs, kAnalogsSweep},
    {Policy::kWorkFunction, "work_function",
     "the limit changes when another would have cost less, by more than a change costs, at a risk target",
     kWorkFunctionKnobs, kWorkFunctionSweep},
    {Policy::kCombined, "combined", "memory by analogs, CPU by work_function", kCombinedKnobs,
     kCombinedSweep},
    {Policy::kBoosted, "boosted",
     "a forecast of the next hours by boosted trees over the whole fleet, at a risk target", kCombinedKnobs,
     kCombinedSweep, /*replay_only=*/false, /*on_request=*/true},
    {Policy::kKrr, "krr", "a daily report of KRR's simple strategy; only in a replay", {}, kKrrSweep, true},
    {Policy::kCrane, "crane", "a daily recommendation of Crane; only in a replay", {}, kCraneSweep, true},
    {Policy::kRecorded,
     "recorded",
     "the limits that the trace's tasks had, which they may exceed as they did; only in a replay",
     {},
     {},
     true},
};

constexpr bool RowsAreInOrder() {
  for (size_t i = 0; i < std::size(kPolicies); ++i) {
    if (static_cast<size_t>(kPolicies[i].policy) != i) return false;
  }
  return true;
}
static_assert(RowsAreInOrder(), "a recommender's number is its row");

absl::StatusOr<Policy> Parse(std::string_view name, bool of_jobs) {
  std::vector<std::string_view> names;
  bool is_known = false;
  for (const PolicyInfo& p : kPolicies) {
    const bool is_allowed = !of_jobs || !p.replay_only;
    if (p.name == name && is_allowed) return p.policy;
    is_known |= p.name == name;
    if (is_allowed) names.push_back(p.name);
  }
  if (!is_known) return UnknownName("recommender", name, OneOf(names));
  return absl::InvalidArgumentError(
      StrCat("recommender \"", name, "\" runs only in taut replay: expected ", OneOf(names)));
}

}  // namespace

std::span<const PolicyInfo> Policies() { return kPolicies; }

const PolicyInfo& InfoOf(Policy p) { return kPolicies[static_cast<size_t>(p)]; }
std::string_view Name(Policy p) { return InfoOf(p).name; }

std::string_view Name(WhatIfKnob::Unit unit) {
  switch (unit) {
    case Unit::kShare:
      return "share";
    case Unit::kFactor:
      return "factor";
    case Unit::kDays:
      return "days";
    case Unit::kNumber:
      break;
  }
  return "number";
}

const WhatIfKnob* FindKnob(std::string_view key) {
  for (const PolicyInfo& p : kPolicies) {
    for (const WhatIfKnob& knob : p.knobs) {
      if (knob.key == key) return &knob;
    }
  }
  return nullptr;
}

Policy PolicyFor(Policy p, Resource r) {
  if (p != Policy::kCombined) return p;
  return ThrottlesAtLimit(r) ? Policy::kWorkFunction : Policy::kAnalogs;
}

TargetKind TargetOf(Policy p, Resource r) {
  switch (PolicyFor(p, r)) {
    case Policy::kAnalogs:
      return TargetKind::kDays;
    case Policy::kWorkFunction:
      return TargetKind::kWork;
    case Policy::kBoosted:
      return ThrottlesAtLimit(r) ? TargetKind::kWork : TargetKind::kDays;
    default:
      return TargetKind::kNone;
  }
}

std::optional<Policy> PolicyPair::one() const {
  for (const PolicyInfo& p : kPolicies) {
    if (*this == PolicyPair(p.policy)) return p.policy;
  }
  return std::nullopt;
}

std::string Name(PolicyPair pair) {
  const std::optional<Policy> one = pair.one();
  return one.has_value() ? std::string(Name(*one)) : StrCat(Name(pair.cpu), "+", Name(pair.memory));
}

absl::StatusOr<PolicyPair> ParsePolicyPair(std::string_view name) {
  const size_t plus = name.find('+');
  const absl::StatusOr<Policy> cpu = ParsePolicy(name.substr(0, plus));
  if (!cpu.ok()) return cpu.status();
  if (plus == std::string_view::npos) return PolicyPair(*cpu);
  const absl::StatusOr<Policy> memory = ParsePolicy(name.substr(plus + 1));
  if (!memory.ok()) return memory.status();
  return PolicyPair(*cpu, *memory);
}

absl::StatusOr<Policy> ParsePolicy(std::string_view name) { return Parse(name, /*of_jobs=*/false); }
absl::StatusOr<Policy> ParseJobPolicy(std::string_view name) { return Parse(name, /*of_jobs=*/true); }

}  // namespace taut::brain
