#pragma once

#include <string_view>

namespace taut::tools {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace taut::tools
