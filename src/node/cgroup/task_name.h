// Rules for the names of jobs and tasks, so that people can read these names and every output can print them.
#pragma once

#include <string>
#include <string_view>

namespace taut::node {

inline constexpr size_t kMaxTaskNameBytes = 255;
// True for printable UTF-8 that is not empty and has at most kMaxTaskNameBytes.
bool IsTaskName(std::string_view text);
// Returns the text in printable form. If the text is not printable, every non-ASCII byte becomes \xNN.
std::string Shown(std::string_view text);

}  // namespace taut::node
