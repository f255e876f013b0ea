// Changes one setting of one job, for tests.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "server/control/control_plane.h"

namespace taut::server {

// Calls ControlPlane::SetMany with one setting.
inline absl::StatusOr<SettingChange> SetOne(ControlPlane& control, JobId id, std::string_view key,
                                            std::string_view value, std::string_view who) {
  const brain::KeyValue setting{key, value};
  absl::StatusOr<std::vector<SettingChange>> changes = control.SetMany(id, {&setting, 1}, who);
  if (!changes.ok()) return changes.status();
  return std::move(changes->front());
}

}  // namespace taut::server
