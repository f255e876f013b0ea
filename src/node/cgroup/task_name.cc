#include "node/cgroup/task_name.h"

#include "common/base/printable.h"
#include "fmt/format.h"

namespace taut::node {
bool IsTaskName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxTaskNameBytes && IsPrintableUtf8(text);
}

std::string Shown(std::string_view text) {
  if (IsPrintableUtf8(text)) return std::string(text);
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte >= 0x20 && byte < 0x7F ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return out;
}

}  // namespace taut::node
