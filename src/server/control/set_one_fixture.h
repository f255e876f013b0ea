// One setting of one job, as tests change it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "server/control/control_plane.h"

namespace taut::server {

// As ControlPlane::SetMany.
inline absl::StatusOr<SettingChange> SetOne(ControlPlane& control, JobId id, std::string_view key,
                                            std::string_view value, std::string_view who) {
  const brain::KeyValue setting{key, value};
  absl::StatusOr<std::vector<SettingChange>> changes = control.SetMany(id, {&setting, 1}, who);
  if (!changes.ok()) return changes.status();
  return std::move(changes->front());
}

}  // namespace taut::server
