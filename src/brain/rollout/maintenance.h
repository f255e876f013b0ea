// Text format of maintenance windows: "Mon-Fri 22:00-06:00; Sun 00:00-24:00", in UTC.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/rollout/job_policy.h"

namespace taut::brain {

// Parses windows separated by ';': "Mon-Fri 22:00-06:00; Sat,Sun 00:00-24:00". A time without days applies to
// every day; "" yields no window. Returns InvalidArgument with the text and the expected format, also for more
// than 64 windows.
absl::StatusOr<std::vector<MaintenanceWindow>> ParseMaintenance(std::string_view text);
// Returns text that ParseMaintenance parses to equal windows.
std::string MaintenanceText(const std::vector<MaintenanceWindow>& windows);

// Returns the start of the first window that begins after now_s; nullopt without windows.
std::optional<int64_t> NextMaintenance(const std::vector<MaintenanceWindow>& windows, int64_t now_s);
// Returns the day of the week and the time, such as "Mon 22:00 UTC".
std::string WeekTime(int64_t time_s);

}  // namespace taut::brain
