#include "brain/replicas/hpa_metrics.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/nearest.h"
#include "common/base/strings.h"
#include "common/model/signal_name.h"

namespace taut::brain {
namespace {

constexpr std::string_view kOnly = "only ", kPerTask = " per task";
constexpr size_t kMostMetrics = 8;

absl::Status InvalidMetric(std::string_view text) {
  return absl::InvalidArgumentError(StrCat(
      "invalid metric \"", text.substr(0, 80),
      "\": expected \"NAME N per task\", \"NAME N\" or, of cpu and memory, \"NAME N%\", N above 0, as in "
      "\"queue_length 30 per task; memory 80%\""));
}

absl::StatusOr<HpaMetric> ParseMetric(std::string_view text, std::span<const std::string> signals) {
  HpaMetric metric;
  std::string_view rest = text;
  if (rest.ends_with(kPerTask)) {
    rest.remove_suffix(kPerTask.size());
  } else if (rest.ends_with('%')) {
    rest.remove_suffix(1);
    metric.target = HpaMetric::Target::kUtilization;
  } else {
    metric.target = HpaMetric::Target::kValue;
  }
  const size_t blank = rest.find(' ');
  if (blank == std::string_view::npos) return InvalidMetric(text);
  metric.signal = rest.substr(0, blank);
  const std::optional<double> value = ParseDouble(StripSpace(rest.substr(blank)));
  if (!value.has_value() || !(*value > 0 && *value <= 1e300)) return InvalidMetric(text);
  metric.value = metric.target == HpaMetric::Target::kUtilization ? *value / 100 : *value;
  const bool of_owner = metric.signal == kOwnSignals[0] || metric.signal == kOwnSignals[1];
  if (metric.target == HpaMetric::Target::kUtilization && !of_owner) return InvalidMetric(text);
  std::vector<std::string_view> names(kOwnSignals.begin(), kOwnSignals.end());
  names.insert(names.end(), signals.begin(), signals.end());
  if (std::ranges::find(names, metric.signal) != names.end()) return metric;
  return absl::InvalidArgumentError(StrCat("unknown signal \"", metric.signal.substr(0, 80),
                                           "\"; did you mean \"", NearestName(metric.signal, names),
                                           "\"? There are ", Join(names, ", ")));
}

int WholeCount(double tasks) { return static_cast<int>(std::min(std::ceil(tasks), 1e9)); }
bool Within(double ratio, double tolerance) { return 1 - tolerance <= ratio && ratio <= 1 + tolerance; }

}  // namespace

absl::Status ParseHpaMetrics(std::string_view text, std::span<const std::string> signals,
                             HpaMetrics& metrics) {
  HpaMetrics out;
  std::string_view rest = StripSpace(text);
  if (rest.starts_with(kOnly)) {
    out.without_load = true;
    rest.remove_prefix(kOnly.size());
    if (StripSpace(rest).empty()) return InvalidMetric(text);
  }
  if (!StripSpace(rest).empty()) {
    for (const std::string_view piece : Split(rest, ';')) {
      absl::StatusOr<HpaMetric> metric = ParseMetric(StripSpace(piece), signals);
      if (!metric.ok()) return metric.status();
      out.list.push_back(*std::move(metric));
    }
  }
  if (out.list.size() > kMostMetrics)
    return absl::InvalidArgumentError(StrCat(out.list.size(), " metrics: expected at most ", kMostMetrics));
  metrics = std::move(out);
  return absl::OkStatus();
}

std::string HpaMetricsText(const HpaMetrics& metrics) {
  std::string out(metrics.without_load ? kOnly : "");
  std::string_view separator;
  for (const HpaMetric& m : metrics.list) {
    const bool share = m.target == HpaMetric::Target::kUtilization;
    StrAppend(&out, std::exchange(separator, "; "), m.signal, " ", share ? m.value * 100 : m.value,
              share                                          ? "%"
              : m.target == HpaMetric::Target::kAverageValue ? kPerTask
                                                             : "");
  }
  return out;
}

int ProposeHpaAverageValue(int current, double value, double target, double tolerance) {
  if (current > 0 && Within(value / (target * current), tolerance)) return current;
  return WholeCount(value / target);
}

int ProposeHpaValue(int current, int ready, double value, double target, double tolerance) {
  const double ratio = value / target;
  if (current == 0) return WholeCount(ratio);
  return Within(ratio, tolerance) ? current : WholeCount(ratio * ready);
}

}  // namespace taut::brain
