// Jobs that are all that some machines use, of which their containers and processes are jobs of their own.
#pragma once

#include <algorithm>
#include <string_view>

#include "common/model/rollout.h"

namespace taut {

// The label of such a job, which its mapping rule sets. A sum that has the job, too, would count twice.
inline constexpr std::string_view kWorkloadLabel = "workload", kWholeMachine = "machine";

inline bool IsWholeMachine(const JobRecord& record) {
  return std::ranges::any_of(record.labels, [](const auto& label) {
    return label.first == kWorkloadLabel && label.second == kWholeMachine;
  });
}

}  // namespace taut
