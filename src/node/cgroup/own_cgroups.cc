#include "node/cgroup/own_cgroups.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "common/base/strings.h"

namespace taut::node {

std::vector<std::string> ParseOwnCgroups(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string_view line : Split(text, '\n')) {  // "4:memory:/system.slice/tautlet.service"
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    std::string path(line.substr(second + 1));
    if (path.size() < 2 || path.front() != '/') continue;
    if (std::find(out.begin(), out.end(), path) == out.end()) out.push_back(std::move(path));
  }
  return out;
}

std::vector<std::string> OwnCgroups() {
  std::ifstream in("/proc/self/cgroup");
  return ParseOwnCgroups(std::string(std::istreambuf_iterator<char>(in), {}));
}

}  // namespace taut::node
