// What a job or task may be called: text that people can read and every face can print.
#pragma once

#include <string>
#include <string_view>

namespace taut::node {

inline constexpr size_t kMaxTaskNameBytes = 255;
// Printable UTF-8, not empty, at most kMaxTaskNameBytes.
bool IsTaskName(std::string_view text);
// For people: text that is not printable with \xNN for all that is no ASCII.
std::string Shown(std::string_view text);

}  // namespace taut::node
