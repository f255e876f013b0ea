// Reads VerticalPodAutoscalerCheckpoints, as `kubectl get vpa,vpacheckpoint -A -o json` prints them.
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

// State that a VerticalPodAutoscaler has learnt for one container.
struct VpaLearnt {
  std::string job;  // "shop/deployment/web/app"; the kind is "*" if the file lacks the VPA itself
  double days = 0;  // between its first and its last sample
  PerResource<brain::VpaEstimate> estimates;  // by Resource: the VPA's recommendation
  PerResource<bool> has_learnt = {};          // false: its histogram is empty
};

struct VpaCheckpoints {
  std::vector<VpaLearnt> containers;  // by job
  std::vector<std::string> warnings;  // about checkpoints that are left out
};

// Parses the text. `cluster` is the prefix of names, as tautd's kubernetes.cluster; "": none. InvalidArgument
// if it is not JSON, or has no checkpoint.
absl::StatusOr<VpaCheckpoints> ReadVpaCheckpoints(std::string_view text, std::string_view cluster,
                                                  const brain::VpaSettings& settings);

}  // namespace taut::tools
