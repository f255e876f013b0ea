// The version of Tautline's programs.
#pragma once

#include <string_view>

namespace taut {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace taut
