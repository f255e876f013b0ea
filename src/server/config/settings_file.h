// The settings file that `replay` reads and `tune` writes: YAML, one table of keys. An unknown key is an
// error that contains the nearest known key.
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

// Calls RestoreDefaults for the settings of recommenders (kScopeRecommenders).
absl::Status RestoreVerticalDefaults(std::string_view version, brain::VerticalSettings& settings,
                                     std::span<const ChangedDefault> changes = ChangedDefaults());

struct SettingsFile {
  brain::VerticalSettings settings;
  // One notice per old key, such as "tuned.yaml:3: peak.days is now peak.window; write peak.window: 2w".
  SettingNotices notices;
};

// Applies the settings of a YAML text to `file`, after the defaults of the text's `compatibility` were
// restored in `file`. An error begins with `name` and leaves `file` unchanged.
absl::Status ParseSettings(std::string_view yaml, std::string_view name, SettingsFile& file,
                           std::span<const ChangedDefault> changes = ChangedDefaults());
// Reads and parses the file. Returns NotFound if the file cannot be read, else the errors of ParseSettings.
absl::StatusOr<SettingsFile> ReadSettingsFile(const std::string& path, brain::VerticalSettings defaults = {});
// Returns YAML with every setting, or only the settings that differ from the defaults. The help of a setting
// is a comment in the YAML.
std::string WriteSettings(const brain::VerticalSettings& settings, bool only_changed);

}  // namespace taut::server
