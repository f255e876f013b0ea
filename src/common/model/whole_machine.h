// Jobs that stand for all usage of some machines, whose containers and processes are jobs of their own.
#pragma once

#include <algorithm>
#include <string_view>

#include "common/model/rollout.h"

namespace taut {

// The label of such a job, set by its mapping rule. Sums must exclude these jobs, or they count usage twice.
inline constexpr std::string_view kWorkloadLabel = "workload", kWholeMachine = "machine";

inline bool IsWholeMachine(const JobRecord& record) {
  return std::ranges::any_of(record.labels, [](const auto& label) {
    return label.first == kWorkloadLabel && label.second == kWholeMachine;
  });
}

}  // namespace taut
