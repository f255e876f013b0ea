// Text format of the metrics of a HorizontalPodAutoscaler in addition to the load, on one line:
//
//   queue_length 30 per task; lag 500; memory 80%
//
// Each entry is a signal and its target: per task, for all tasks, or (cpu and memory) a share of the owner's
// limit. A leading `only` removes the load from the metrics.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "brain/replicas/settings.h"

namespace taut::brain {

// Parses the text; "" means no metric. `signals` are the known names of signals in addition to kOwnSignals.
// InvalidArgument contains the metric and the allowed format.
absl::Status ParseHpaMetrics(std::string_view text, std::span<const std::string> signals,
                             HpaMetrics& metrics);
// Returns text that ParseHpaMetrics parses to equal metrics.
std::string HpaMetricsText(const HpaMetrics& metrics);

// Return the count that a metric without pod utilisation proposes (replica_calculator.go). `value` is the sum
// over all tasks; of `current` running tasks, `ready` are ready.
int ProposeHpaAverageValue(int current, double value, double target, double tolerance);
int ProposeHpaValue(int current, int ready, double value, double target, double tolerance);

}  // namespace taut::brain
