#include "node/cgroup/groups_above.h"

#include <string>

#include "node/cgroup/cgroup_files.h"
#include "node/cgroup/kernel_file.h"
#include "node/cgroup/kernel_text.h"

namespace taut::node {
namespace {

std::optional<double> MemoryLimitOf(const KernelDirectory& directory, const char* file) {
  KernelBuffer buffer;
  const std::optional<KernelLimit> limit = ParseByteLimit(directory.Read(file, buffer).text);
  return limit.has_value() ? limit->amount() : std::nullopt;
}

KernelDirectory OpenOrNone(const std::string& root, std::string_view path) {
  if (root.empty()) return {};
  absl::StatusOr<KernelDirectory> out = KernelDirectory::Open(root, path);
  return out.ok() ? *std::move(out) : KernelDirectory();
}

void ReadV2(const CgroupMounts& mounts, GroupAbove& out) {
  const KernelDirectory directory = OpenOrNone(mounts.unified, out.path);
  KernelBuffer buffer;
  out.memory_max_bytes = MemoryLimitOf(directory, "memory.max");
  const std::optional<CpuQuota> quota = ParseCpuMax(directory.Read("cpu.max", buffer).text);
  out.cpu_max_cores = quota.has_value() ? quota->cores() : std::nullopt;
  // memory.events includes the groups below; older kernels have no memory.events.local.
  for (const char* file : {"memory.events.local", "memory.events"}) {
    out.limit_ooms = ParseKeyedNumber(directory.Read(file, buffer).text, "oom");
    if (out.limit_ooms.has_value()) break;
  }
}

void ReadV1(const CgroupMounts& mounts, GroupAbove& out) {
  const KernelDirectory memory = OpenOrNone(mounts.memory, out.path), cpu = OpenOrNone(mounts.cpu, out.path);
  out.memory_max_bytes = MemoryLimitOf(memory, "memory.limit_in_bytes");
  out.limit_ooms = V1LimitOoms(memory);
  KernelBuffer quota_text, period_text;
  const std::optional<CpuQuota> quota = ParseCfsQuota(cpu.Read("cpu.cfs_quota_us", quota_text).text,
                                                      cpu.Read("cpu.cfs_period_us", period_text).text);
  out.cpu_max_cores = quota.has_value() ? quota->cores() : std::nullopt;
}

}  // namespace

std::vector<GroupAbove> ReadGroupsAbove(const CgroupMounts& mounts, std::string_view path) {
  std::vector<GroupAbove> out;
  while (path.size() > 1) {
    path = path.substr(0, path.rfind('/'));
    GroupAbove above;
    above.path = path.empty() ? "/" : std::string(path);
    mounts.version() == CgroupVersion::kV2 ? ReadV2(mounts, above) : ReadV1(mounts, above);
    if (above.memory_max_bytes.has_value() || above.cpu_max_cores.has_value())
      out.push_back(std::move(above));
  }
  return out;
}

}  // namespace taut::node
