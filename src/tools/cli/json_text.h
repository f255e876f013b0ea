// What the daemon answered, as JSON for a script or YAML for an eye.
#pragma once

#include <string>

#include "nlohmann/json.hpp"

namespace taut::tools {

using Json = nlohmann::ordered_json;

// Indented, with a newline at the end.
std::string JsonText(const Json& value);
// YAML 1.1 and 1.2 that reads back to the same value: texts that could be something else are quoted.
std::string YamlText(const Json& value);

}  // namespace taut::tools
