// What an agent's message must be before anybody believes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "agent.pb.h"

namespace taut {

// The longest message of either side. An agent keeps none that is longer: no daemon would take it.
inline constexpr size_t kMaxMessageBytes = size_t{16} << 20;

inline constexpr uint32_t kCpuGridBuckets = 321;  // Grid::Cpu().size(), of a room that this one does not know

// InvalidArgument naming the field if
//  - there is no body that this version knows;
//  - a name is empty, not UTF-8, longer than 512 bytes, or has control characters (texts for people and label
//    values may be empty);
//  - a number is negative, infinite or NaN, or a time is before 1970;
//  - the buckets of a window do not ascend below `cpu_buckets`, or their seconds are not as many;
//  - there are too many labels for a task.
// O(size).
absl::Status CheckMessage(const taut::agent::v1::FromAgent& message, uint32_t cpu_buckets = kCpuGridBuckets);

}  // namespace taut
