// Reads VerticalPodAutoscalerCheckpoints from the output of `kubectl get vpa,vpacheckpoint -A -o json`.
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

// State that a VerticalPodAutoscaler has learned about one container.
struct VpaLearnt {
  // Name such as "shop/deployment/web/app"; the kind is "*" if the file lacks the VPA of the checkpoint.
  std::string job;
  double days = 0;                            // time from the first to the last sample, in days
  PerResource<brain::VpaEstimate> estimates;  // estimates of the VPA by resource
  PerResource<bool> has_learnt = {};          // false: the VPA has no sample of the resource
};

struct VpaCheckpoints {
  std::vector<VpaLearnt> containers;  // containers, ascending by job
  std::vector<std::string> warnings;  // sentences, one per omitted checkpoint
};

// Parses the text. The names of jobs start with `cluster`, like tautd's kubernetes.cluster; "": no prefix. Returns
// InvalidArgument if the text is not JSON or contains no checkpoint.
absl::StatusOr<VpaCheckpoints> ReadVpaCheckpoints(std::string_view text, std::string_view cluster,
                                                  const brain::VpaSettings& settings);

}  // namespace taut::tools
