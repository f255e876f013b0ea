// Names of a job's signals in expressions (brain/replicas/target_expression.h).
#pragma once

#include <array>
#include <string_view>

#include "absl/status/status.h"

namespace taut {

// Signals of every job: the CPU and memory that the job's tasks use together, in cores and bytes, and the owner's
// limits per task.
inline constexpr std::array<std::string_view, 4> kOwnSignals = {"cpu", "memory", "cpu_limit", "memory_limit"};

inline constexpr size_t kMostSignalName = 64;  // maximum length in bytes

// Checks the name of a series that becomes a signal. InvalidArgument unless the name has 1 to 64 lower-case
// letters, digits and '_', begins with a letter, and is not reserved in expressions.
absl::Status CheckSignalName(std::string_view name);

}  // namespace taut
