// Validates the messages of agents before the daemon uses them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "agent.pb.h"

namespace taut {

// Greatest size of a message in either direction. An agent drops a larger message, because no daemon would
// accept it.
inline constexpr size_t kMaxMessageBytes = size_t{16} << 20;

inline constexpr uint32_t kCpuGridBuckets = 321;  // Grid::Cpu().size(), which this room cannot include

// Returns InvalidArgument with the field if
//  - the message has no body that this version supports;
//  - a name is empty, not UTF-8, longer than 512 bytes, or has control characters (labels' values and texts for
//    people may be empty and up to 16 KiB);
//  - a number is negative, infinite or NaN, or a time is before 1970;
//  - an enum has an unknown value;
//  - the buckets of a window do not ascend strictly below `cpu_buckets`, or the numbers of buckets and of seconds
//    differ;
//  - throttled CPU periods exceed all CPU periods;
//  - a task has more than 256 labels.
//
// O(size).
absl::Status CheckMessage(const taut::agent::v1::FromAgent& message, uint32_t cpu_buckets = kCpuGridBuckets);

}  // namespace taut
