#include "node/docker/container_cgroup.h"

#include <algorithm>

#include "common/base/strings.h"

namespace taut::node {

absl::StatusOr<ContainerCgroup> ParseContainerCgroup(std::string_view text, std::string_view id) {
  std::string_view v1_path, v2_path;
  for (const std::string_view line : Split(text, '\n')) {
    // A line is "4:memory:/docker/4f5e" or "0::/docker/4f5e"; the path may contain colons.
    const size_t first = line.find(':');
    if (first == std::string_view::npos) continue;
    const size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view path = line.substr(second + 1);
    if (line.substr(0, first) == "0" && controllers.empty()) {
      v2_path = path;
      continue;
    }
    const std::vector<std::string_view> names = Split(controllers, ',');
    if (std::find(names.begin(), names.end(), "memory") != names.end()) v1_path = path;
  }
  ContainerCgroup out;
  if (v1_path.empty()) out.version = CgroupVersion::kV2;
  const std::string_view path = v1_path.empty() ? v2_path : v1_path;
  const size_t at = id.empty() ? std::string_view::npos : path.rfind(id);
  if (at == std::string_view::npos) {
    return absl::NotFoundError(
        StrCat("container ", id.substr(0, 12), ": its process has no separate cgroup ('", path, "')"));
  }
  out.path = path.substr(0, path.find('/', at));
  return out;
}

}  // namespace taut::node
