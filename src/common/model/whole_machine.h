// Jobs that represent the whole usage of machines. The containers and processes of these machines are jobs of
// their own.
#pragma once

#include <algorithm>
#include <string_view>

#include "common/model/rollout.h"

namespace taut {

// The label that a mapping rule sets on a job of a whole machine. Sums must exclude jobs with this label;
// otherwise usage is counted twice.
inline constexpr std::string_view kWorkloadLabel = "workload", kWholeMachine = "machine";

inline bool IsWholeMachine(const JobRecord& record) {
  return std::ranges::any_of(record.labels, [](const auto& label) {
    return label.first == kWorkloadLabel && label.second == kWholeMachine;
  });
}

}  // namespace taut
