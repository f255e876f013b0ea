// Names of the signals of a job, as expressions over them (brain/replicas/target_expression.h) know them.
#pragma once

#include <array>
#include <string_view>

#include "absl/status/status.h"

namespace taut {

// What every job has: CPU and memory that its tasks use together, in cores and bytes, and the owner's limits of a
// task.
inline constexpr std::array<std::string_view, 4> kOwnSignals = {"cpu", "memory", "cpu_limit", "memory_limit"};

inline constexpr size_t kMostSignalName = 64;  // bytes

// Of a series that is made a signal: InvalidArgument unless it is lower-case letters, digits and '_', does not
// begin with a digit or '_', and means nothing in an expression yet.
absl::Status CheckSignalName(std::string_view name);

}  // namespace taut
