// Limits as properties of systemd's units. systemd writes a unit's properties to the kernel at each `systemctl
// daemon-reload` and whenever one of them is set, so a limit that is only in the kernel's files does not last.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "node/agent/task_group.h"

namespace taut::node {

// Not thread-safe.
class UnitProperties {
 public:
  virtual ~UnitProperties() = default;
  // Sets the property of a limit until the machine's next start, as `systemctl set-property --runtime` does.
  // `unit`: the full name. `value`: as in TaskGroup::SetLimit. Waits for the answer, 2 s at most. NotFound if
  // systemd does not know the unit. Unavailable if systemd does not answer.
  virtual absl::Status Set(const std::string& unit, LimitKind kind, std::optional<double> value) = 0;
};

// Returns the properties of this machine's system manager, which is called at the first Set(); null if systemd
// does not run this machine.
std::unique_ptr<UnitProperties> ConnectToSystemd();

// Returns the name of the system manager's unit whose group is at `path`: "web.service" for
// "/system.slice/web.service". nullopt if the last directory is no unit, or belongs to a user's manager.
std::optional<std::string> SystemUnitAt(std::string_view path);

// Wraps the group of a unit: each limit that is set in the kernel is also set as the unit's property. The kernel
// decides: an error of systemd is not an error of SetLimit(), and MayBeReset() remains true for this limit.
// `unit`: nullopt for a unit of a user's manager, whose properties cannot be set.
std::unique_ptr<TaskGroup> WithProperties(std::unique_ptr<TaskGroup> group, std::optional<std::string> unit,
                                          std::shared_ptr<UnitProperties> systemd);

}  // namespace taut::node
