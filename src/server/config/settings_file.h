// The settings file that `replay` reads and `tune` writes: YAML, one table of keys, unknown keys refused with
// the nearest one that exists.
//
//   ensemble:
//     w_over: 100
//     half_lives_h: [1, 6, 24, 168]
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/recommend/settings.h"
#include "server/config/changed_defaults.h"

namespace taut::server {

// Where a setting lives in a VerticalSettings. A number is shown divided by `Setting::scale`.
using SettingRef = std::variant<double*, int*, std::vector<double>*, std::optional<double>*, brain::JobClass*,
                                brain::OomTolerance*, brain::EnsembleCost*, brain::EnsembleJudging*>;

struct Setting {
  std::string_view key;  // "ensemble.w_over"
  std::string_view help;
  double scale;     // value in the file * scale = value in the struct
  double min, max;  // of the value in the file, inclusive
  SettingRef (*ref)(brain::VerticalSettings&);
};

// All settings, grouped by the part before the dot, in a fixed order.
std::span<const Setting> SettingsTable();

// Sets one key from text ("0.5", "[1, 6]", "paper"). InvalidArgument names the key, the choices or the
// nearest key.
absl::Status SetSetting(std::string_view key, std::string_view value, brain::VerticalSettings& settings);
// The text of one setting, as SetSetting would read it.
std::string GetSetting(const Setting& setting, const brain::VerticalSettings& settings);

// RestoreDefaults of kScopeRecommenders.
absl::Status RestoreVerticalDefaults(std::string_view version, brain::VerticalSettings& settings,
                                     std::span<const ChangedDefault> changes = ChangedDefaults());

// Reads YAML text over the defaults in `settings`, after those that its `compatibility` restores; `name` is what
// errors call the file.
absl::Status ParseSettings(std::string_view yaml, std::string_view name, brain::VerticalSettings& settings,
                           std::span<const ChangedDefault> changes = ChangedDefaults());
absl::StatusOr<brain::VerticalSettings> ReadSettingsFile(const std::string& path,
                                                         brain::VerticalSettings defaults = {});
// YAML of every setting (or just of those that differ from the defaults), each with its help as a comment.
std::string WriteSettings(const brain::VerticalSettings& settings, bool only_changed);

}  // namespace taut::server
