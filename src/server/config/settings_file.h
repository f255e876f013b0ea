// The settings file that `replay` reads and `tune` writes: YAML, one table of keys, unknown keys refused with
// the nearest one that exists.
//
//   ensemble:
//     w_over: 100
//     half_lives: [1h, 6h, 1d, 1w]
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/recommend/vertical_rows.h"
#include "server/config/changed_defaults.h"

namespace taut::server {

// RestoreDefaults of kScopeRecommenders.
absl::Status RestoreVerticalDefaults(std::string_view version, brain::VerticalSettings& settings,
                                     std::span<const ChangedDefault> changes = ChangedDefaults());

struct SettingsFile {
  brain::VerticalSettings settings;
  SettingNotices notices;  // "tuned.yaml:3: peak.days is now peak.window; write peak.window: 2w"
};

// Reads YAML text over the defaults in `file`, after those that its `compatibility` restores. Errors call the file
// `name`.
absl::Status ParseSettings(std::string_view yaml, std::string_view name, SettingsFile& file,
                           std::span<const ChangedDefault> changes = ChangedDefaults());
absl::StatusOr<SettingsFile> ReadSettingsFile(const std::string& path, brain::VerticalSettings defaults = {});
// YAML of every setting (or just of those that differ from the defaults), each with its help as a comment.
std::string WriteSettings(const brain::VerticalSettings& settings, bool only_changed);

}  // namespace taut::server
