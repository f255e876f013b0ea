// Maintenance windows as people write them: "Mon-Fri 22:00-06:00; Sun 00:00-24:00", UTC.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/rollout/job_policy.h"

namespace taut::brain {

// Windows between ';', each of days and a time: "Mon-Fri 22:00-06:00", "Sat,Sun 00:00-24:00", or a time alone
// for every day. "" is no window. InvalidArgument says what was read and what is meant; at most 64 windows.
absl::StatusOr<std::vector<MaintenanceWindow>> ParseMaintenance(std::string_view text);
// What ParseMaintenance reads back to the same windows.
std::string MaintenanceText(const std::vector<MaintenanceWindow>& windows);

// When the next window begins, after now_s; nullopt without windows.
std::optional<int64_t> NextMaintenance(const std::vector<MaintenanceWindow>& windows, int64_t now_s);
// "Mon 22:00 UTC".
std::string WeekTime(int64_t time_s);

}  // namespace taut::brain
