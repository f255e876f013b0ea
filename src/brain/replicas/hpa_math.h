// The arithmetic of Kubernetes' HorizontalPodAutoscaler (autoscaling/v2), without its objects: the replica
// count by resource utilisation, the stabilisation windows and the rate limits (peers.md §2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "brain/replicas/settings.h"

namespace taut::brain {

// The pods of one workload by what is known of them. All have the same request.
struct HpaPods {
  std::vector<double> usage;  // of the ready pods with a metric, in shares of the request
  int unready = 0;            // not ready, or within their initialisation period
  int missing = 0;            // ready, without a metric
};

struct HpaProposal {
  int count = 0;
  double ratio = 1;   // of the utilisation to the target, that the count follows from
  bool known = true;  // false: no pod had a metric; the count is the current one
};

// Utilisations are whole per cent, rounded down, as published.
HpaProposal ProposeHpa(int current, const HpaPods& pods, double target, double tolerance);
// The same for `ready` pods with the same usage each.
HpaProposal ProposeHpaEven(int current, int ready, double usage_each, int unready, double target,
                           double tolerance);

// What the rate limits and windows remember. Times in seconds, ascending.
struct HpaChange {
  double at_s = 0;
  int change = 0;  // > 0
};
struct HpaAdvice {
  double at_s = 0;
  int count = 0;
};

// The count nearest to `current` that the windows' recommendations allow. `past` is without `desired`.
int StabilizeHpa(double now_s, int current, int desired, std::span<const HpaAdvice> past, double up_window_s,
                 double down_window_s);
// The greatest count that the policies of scaling up allow, and the least of scaling down.
int HpaUpLimit(double now_s, int current, std::span<const HpaChange> ups, std::span<const HpaChange> downs,
               const HpaDirection& rules);
int HpaDownLimit(double now_s, int current, std::span<const HpaChange> ups, std::span<const HpaChange> downs,
                 const HpaDirection& rules);

}  // namespace taut::brain
