// Bounds of the rows of plain usage, and the causes for which a row is skipped. The plain CSV format and tables of
// the Python package share these bounds and causes.
#pragma once

#include <cstdint>
#include <string_view>

namespace taut::tools {

inline constexpr int64_t kPlainAloneSeconds = 300;  // length of the only row of a task
// A task with a number keeps this number, which is below kFirstNamedTask. Tasks with a name receive numbers from
// kFirstNamedTask on.
inline constexpr uint32_t kFirstNamedTask = uint32_t{1} << 31;
inline constexpr int64_t kMostKills = 1'000'000;  // maximum number of kills in a row

inline constexpr std::string_view kBadTime = "bad time";
inline constexpr std::string_view kBadTask = "task number out of range";
inline constexpr std::string_view kBadKills = "oom_kills is not a whole number from 0 to 1000000";
inline constexpr std::string_view kBadDuration = "duration is not a number of seconds above 0 and up to 300";
inline constexpr std::string_view kNoJobName = "no job name";
inline constexpr std::string_view kNoUsage = "no usage in the row";

}  // namespace taut::tools
