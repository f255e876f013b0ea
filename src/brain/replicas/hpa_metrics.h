// Metrics of a HorizontalPodAutoscaler beside the load as one line:
//
//   queue_length 30 per task; lag 500; memory 80%
//
// a signal and its target: of each task, of all, or (cpu and memory) a share of the owner's limit. `only` before
// them: the load is no metric.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "brain/replicas/settings.h"

namespace taut::brain {

// "": none. `signals`: those there are beside kOwnSignals. InvalidArgument names the metric and what is allowed.
absl::Status ParseHpaMetrics(std::string_view text, std::span<const std::string> signals,
                             HpaMetrics& metrics);
// What ParseHpaMetrics reads back to the same.
std::string HpaMetricsText(const HpaMetrics& metrics);

// The proposal of a metric that is no utilisation of pods; `value` of all tasks. `current`: the workload's tasks,
// of which `ready` are ready (replica_calculator.go).
int ProposeHpaAverageValue(int current, double value, double target, double tolerance);
int ProposeHpaValue(int current, int ready, double value, double target, double tolerance);

}  // namespace taut::brain
