// Settings of recommenders within a larger YAML file. Internal to src/server/config/.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/recommend/vertical_rows.h"
#include "yaml-cpp/yaml.h"

namespace taut::server {

// Parses the settings below a node into `settings`. Settings that are not below the node remain unchanged. Returns
// InvalidArgument "name:line: ..." if a setting is invalid.
absl::Status WalkVerticalSettings(const YAML::Node& map, std::string_view name,
                                  brain::VerticalSettings& settings, SettingNotices& notices);
// Returns the value of `compatibility` in the root of a file; "" if the key is missing.
absl::StatusOr<std::string> CompatibilityOf(const YAML::Node& root, std::string_view name);

}  // namespace taut::server
