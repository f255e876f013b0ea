// VerticalPodAutoscalerCheckpoints, as `kubectl get vpa,vpacheckpoint -A -o json` prints them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/recommend/settings.h"
#include "brain/recommend/vpa.h"
#include "common/model/resource.h"

namespace taut::tools {

// Of one container of a VerticalPodAutoscaler.
struct VpaLearnt {
  std::string job;  // "shop/deployment/web/app"; the kind is "*" where the file has not the VPA itself
  double days = 0;  // between its first and its last sample
  PerResource<brain::VpaEstimate> estimates;  // by Resource: what the VPA would set
  PerResource<bool> has_learnt = {};          // false: its histogram is empty
};

struct VpaCheckpoints {
  std::vector<VpaLearnt> containers;  // by job
  std::vector<std::string> warnings;  // of checkpoints that are left out
};

// `cluster`: what names begin with, as kubernetes.cluster of tautd; "": nothing. InvalidArgument: no JSON, or no
// checkpoint in it.
absl::StatusOr<VpaCheckpoints> ReadVpaCheckpoints(std::string_view text, std::string_view cluster,
                                                  const brain::VpaSettings& settings);

}  // namespace taut::tools
