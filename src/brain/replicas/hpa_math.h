// The arithmetic of Kubernetes' HorizontalPodAutoscaler (autoscaling/v2) without Kubernetes objects: the count
// by resource utilisation, the stabilisation windows and the rate limits. Source: replica_calculator.go and
// horizontal.go.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "brain/replicas/settings.h"

namespace taut::brain {

// The pods of one workload, grouped by their state. All pods have equal requests.
struct HpaPods {
  std::vector<double> usage;  // usage of the ready pods with a metric, as shares of the request
  int unready = 0;            // number of pods that are not ready or are within their initialisation period
  int missing = 0;            // number of ready pods without a metric
};

struct HpaProposal {
  int count = 0;
  double ratio = 1;   // utilisation divided by the target, which determines the count
  bool known = true;  // false if no pod had a metric; the count is then the current count
};

// Returns the count by utilisation. Utilisations are rounded down to whole per cent, as published.
HpaProposal ProposeHpa(int current, const HpaPods& pods, double target, double tolerance);
// Returns the count for `ready` pods with equal usage.
HpaProposal ProposeHpaEven(int current, int ready, double usage_each, int unready, double target,
                           double tolerance);

// A past change of the count, for rate limits. Lists of changes ascend by time.
struct HpaChange {
  double at_s = 0;
  int change = 0;  // number of added or removed pods, > 0
};
struct HpaAdvice {
  double at_s = 0;
  int count = 0;
};

// Returns the count nearest to `current` that the recommendations within the windows allow. `past` has the
// earlier recommendations, without `desired`.
int StabilizeHpa(double now_s, int current, int desired, std::span<const HpaAdvice> past, double up_window_s,
                 double down_window_s);
// HpaUpLimit returns the greatest count that the scale-up policies allow, HpaDownLimit the least count that the
// scale-down policies allow.
int HpaUpLimit(double now_s, int current, std::span<const HpaChange> ups, std::span<const HpaChange> downs,
               const HpaDirection& rules);
int HpaDownLimit(double now_s, int current, std::span<const HpaChange> ups, std::span<const HpaChange> downs,
                 const HpaDirection& rules);

}  // namespace taut::brain
