// Limits as properties of systemd's transient units (scopes, and services of systemd-run). systemd writes a unit's
// properties to the kernel at each `systemctl daemon-reload` and whenever one of them is set, so a limit that is
// only in the kernel's files does not last. A unit with a file keeps its properties: a property of tautlet would
// outlive the task, and hide later changes of the file.
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
  // Sets the property of a limit until the unit ends, as `systemctl set-property --runtime` does. `unit`: the
  // full name. `value`: as in TaskGroup::SetLimit. Waits for the answers, 2 s at most for each. NotFound if
  // systemd does not know the unit. FailedPrecondition, without a change, if the unit has a file. Unavailable if
  // systemd does not answer.
  virtual absl::Status Set(const std::string& unit, LimitKind kind, std::optional<double> value) = 0;
};

// Returns the properties of this machine's system manager, which is called at the first Set(); null if systemd
// does not run this machine.
std::unique_ptr<UnitProperties> ConnectToSystemd();

// Returns the name of the system manager's unit whose group is at `path`: "web.service" for
// "/system.slice/web.service". nullopt if the last directory is no unit, or belongs to a user's manager.
std::optional<std::string> SystemUnitAt(std::string_view path);

// Wraps the group of a unit: each limit that is set in the kernel is also set as a transient unit's property. The
// kernel decides: an error of systemd is not an error of SetLimit(), and MayBeReset() remains true for this limit.
// `unit`: nullopt for a unit of a user's manager, whose properties cannot be set.
std::unique_ptr<TaskGroup> WithProperties(std::unique_ptr<TaskGroup> group, std::optional<std::string> unit,
                                          std::shared_ptr<UnitProperties> systemd);

}  // namespace taut::node
