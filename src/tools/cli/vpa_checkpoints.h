// Reads VerticalPodAutoscalerCheckpoints in the format of `kubectl get vpa,vpacheckpoint -A -o json`.
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
  // "shop/deployment/web/app"; the kind is "*" if the file does not contain the VPA of the checkpoint
  std::string job;
  double days = 0;                            // days between the first and the last sample
  PerResource<brain::VpaEstimate> estimates;  // the VPA's recommendation, by Resource
  PerResource<bool> has_learnt = {};          // false: the histogram of the resource is empty
};

struct VpaCheckpoints {
  std::vector<VpaLearnt> containers;  // state of each container, ascending by job
  std::vector<std::string> warnings;  // about checkpoints that are left out
};

// Parses the text. `cluster` is the prefix of the jobs' names, like tautd's kubernetes.cluster; "": no
// prefix. Returns InvalidArgument if the text is not JSON, or contains no checkpoint.
absl::StatusOr<VpaCheckpoints> ReadVpaCheckpoints(std::string_view text, std::string_view cluster,
                                                  const brain::VpaSettings& settings);

}  // namespace taut::tools
