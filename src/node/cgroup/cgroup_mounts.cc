#include "node/cgroup/cgroup_mounts.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include "common/base/strings.h"

namespace taut::node {
namespace {

struct Mount {
  std::string root, point;
  std::string_view type, options;
};

// Decodes octal escapes such as "\040", which the kernel writes for blanks and backslashes.
std::string WithoutEscapes(std::string_view text) {
  const auto octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && octal(text[i + 1]) && octal(text[i + 2]) &&
        octal(text[i + 3])) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// Parses "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime [optional]... - cgroup cgroup rw,cpu".
bool ParseLine(std::string_view line, Mount& out) {
  const std::vector<std::string_view> fields = Split(line, ' ');
  const auto dash = std::find(fields.begin(), fields.end(), "-");
  if (dash - fields.begin() < 6 || fields.end() - dash < 4) return false;
  out = {WithoutEscapes(fields[3]), WithoutEscapes(fields[4]), dash[1], dash[3]};
  return true;
}

bool IsAtOrBelow(std::string_view point, std::string_view root) {
  if (root.empty() || root == "/" || point == root) return true;
  return point.starts_with(root) && point[root.size()] == '/';
}

bool HasOption(const Mount& mount, std::string_view option) {
  const std::vector<std::string_view> options = Split(mount.options, ',');
  return std::find(options.begin(), options.end(), option) != options.end();
}

// Returns the mount point. A mount of a part of the hierarchy (a container's view) is used only if no other
// mount exists.
template <typename Fits>
std::string PointOf(const std::vector<Mount>& mounts, Fits fits) {
  const Mount* found = nullptr;
  for (const Mount& mount : mounts) {
    if (fits(mount) && (found == nullptr || (found->root != "/" && mount.root == "/"))) found = &mount;
  }
  return found == nullptr ? std::string() : found->point;
}

std::string V1Point(const std::vector<Mount>& mounts, std::string_view controller) {
  return PointOf(mounts, [controller](const Mount& mount) {
    return mount.type == "cgroup" && HasOption(mount, controller);
  });
}

}  // namespace

CgroupVersion CgroupMounts::version() const {
  if (!memory.empty()) return CgroupVersion::kV1;
  if (!unified.empty()) return CgroupVersion::kV2;
  return cpu.empty() && cpuacct.empty() ? CgroupVersion::kNone : CgroupVersion::kV1;
}

const std::string& CgroupMounts::home() const {
  if (version() == CgroupVersion::kV2) return unified;
  if (!memory.empty()) return memory;
  return cpuacct.empty() ? cpu : cpuacct;
}

std::string_view CgroupMounts::description() const {
  switch (version()) {
    case CgroupVersion::kV2:
      return "cgroup v2";
    case CgroupVersion::kV1:
      return unified.empty() ? "cgroup v1" : "cgroup v1 and v2 (hybrid)";
    case CgroupVersion::kNone:
      break;
  }
  return "no cgroups";
}

absl::StatusOr<CgroupMounts> ParseCgroupMounts(std::string_view mountinfo, std::string_view root) {
  std::vector<Mount> mounts;
  while (root.size() > 1 && root.ends_with('/')) root.remove_suffix(1);
  for (const std::string_view line : Split(mountinfo, '\n')) {
    Mount mount;
    if (!ParseLine(line, mount)) continue;
    // A later mount at the same point hides the earlier mount.
    std::erase_if(mounts, [&mount](const Mount& other) { return other.point == mount.point; });
    mounts.push_back(std::move(mount));
  }
  std::erase_if(mounts, [root](const Mount& mount) { return !IsAtOrBelow(mount.point, root); });
  CgroupMounts out;
  out.memory = V1Point(mounts, "memory");
  out.cpu = V1Point(mounts, "cpu");
  out.cpuacct = V1Point(mounts, "cpuacct");
  out.unified = PointOf(mounts, [](const Mount& mount) { return mount.type == "cgroup2"; });
  if (out.version() == CgroupVersion::kNone && !root.empty()) {
    return absl::NotFoundError(StrCat("invalid cgroup_root \"", root,
                                      "\": expected a directory at or below which a cgroup hierarchy with "
                                      "memory or cpu is mounted; leave it empty to use all mounts"));
  }
  if (out.version() == CgroupVersion::kNone) {
    return absl::NotFoundError(
        "no cgroup hierarchy with memory or cpu is mounted: mount cgroup2 at /sys/fs/cgroup, or, in a "
        "container, give it the host's /sys/fs/cgroup");
  }
  return out;
}

absl::StatusOr<CgroupMounts> ReadCgroupMounts(std::string_view root) {
  std::ifstream file("/proc/self/mountinfo", std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (text.empty())
    return absl::NotFoundError("/proc/self/mountinfo cannot be read; check that /proc is mounted");
  return ParseCgroupMounts(text, root);
}

}  // namespace taut::node
