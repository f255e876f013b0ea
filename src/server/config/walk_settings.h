// The settings of recommenders as a part of a larger YAML file. For this room's .cc files, as yaml_walk.h.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/recommend/vertical_rows.h"
#include "yaml-cpp/yaml.h"

namespace taut::server {

// Reads the settings below a node into `settings`; an absent one stays as it is. InvalidArgument "name:line: ...".
absl::Status WalkVerticalSettings(const YAML::Node& map, std::string_view name,
                                  brain::VerticalSettings& settings, SettingNotices& notices);
// The value of `compatibility` in the root of a file; "" if it is absent.
absl::StatusOr<std::string> CompatibilityOf(const YAML::Node& root, std::string_view name);

}  // namespace taut::server
