#include "cgroup/memory_sources.h"

#include <algorithm>

#include "base/byte_units.h"
#include "base/strings.h"
#include "cgroup/kernel_file.h"
#include "cgroup/kernel_text.h"

namespace taut {
namespace {

// "MemTotal:       16303068 kB", in bytes.
std::optional<double> MemInfo(std::string_view text, std::string_view key) {
  for (std::string_view line : Split(text, '\n')) {
    if (!line.starts_with(key)) continue;
    line = StripSpace(line.substr(key.size()));
    if (!line.ends_with(" kB")) return std::nullopt;
    const std::optional<uint64_t> value = ParseDecimal(StripSpace(line.substr(0, line.size() - 3)));
    if (!value.has_value()) return std::nullopt;
    return static_cast<double>(*value) * kKiB;
  }
  return std::nullopt;
}

void AddPressure(const KernelDirectory& directory, const char* file, MemoryNow& out) {
  KernelBuffer buffer;
  const PressureShares shares = ParsePressureShares(directory.Read(file, buffer).text);
  out.some = shares.some;
  out.full = shares.full;
}

class Machine final : public MemorySource {
 public:
  explicit Machine(std::string proc_dir) : proc_dir_(std::move(proc_dir)) {}

  absl::StatusOr<MemoryNow> Read() override {
    const absl::StatusOr<KernelDirectory> proc = KernelDirectory::Open(proc_dir_, "/");
    if (!proc.ok()) return proc.status();
    KernelBuffer buffer;
    const std::string_view text = proc->Read("meminfo", buffer).text;
    const std::optional<double> total = MemInfo(text, "MemTotal:"), free = MemInfo(text, "MemAvailable:");
    if (!total.has_value() || !free.has_value()) {
      return absl::UnavailableError(StrCat(proc_dir_, "/meminfo has no MemTotal and MemAvailable"));
    }
    MemoryNow out{*total, *free, {}, {}};
    AddPressure(*proc, "pressure/memory", out);
    return out;
  }

 private:
  std::string proc_dir_;
};

class Group final : public MemorySource {
 public:
  Group(const CgroupMounts& mounts, std::string path, MemorySource& machine)
      : mounts_(mounts), path_(std::move(path)), machine_(machine) {}

  absl::StatusOr<MemoryNow> Read() override {
    const bool is_v2 = mounts_.version() == CgroupVersion::kV2;
    const absl::StatusOr<KernelDirectory> home = KernelDirectory::Open(mounts_.home(), path_);
    if (!home.ok()) return home.status();
    KernelBuffer limit_text, stat_text;
    const std::optional<KernelLimit> limit =
        ParseByteLimit(home->Read(is_v2 ? "memory.max" : "memory.limit_in_bytes", limit_text).text);
    if (!limit.has_value() || !limit->is_limited) {
      return absl::FailedPreconditionError(
          StrCat("cgroup ", path_, " has no memory limit; without one, guard the machine instead"));
    }
    const std::optional<uint64_t> used = home->ReadNumber(is_v2 ? "memory.current" : "memory.usage_in_bytes");
    if (!used.has_value())
      return absl::UnavailableError(StrCat("cgroup ", path_, ": its usage cannot be read"));
    const uint64_t inactive = ParseKeyedNumber(home->Read("memory.stat", stat_text).text,
                                               is_v2 ? "inactive_file" : "total_inactive_file")
                                  .value_or(0);
    const auto total = static_cast<double>(limit->value);
    MemoryNow out{total, total - static_cast<double>(*used - std::min(*used, inactive)), {}, {}};
    if (const absl::StatusOr<MemoryNow> all = machine_.Read(); all.ok()) {
      out.total = std::min(out.total, all->total);
      out.free = std::min(out.free, all->free);
    }
    const absl::StatusOr<KernelDirectory> unified = mounts_.unified.empty()
                                                        ? absl::StatusOr<KernelDirectory>(KernelDirectory())
                                                        : KernelDirectory::Open(mounts_.unified, path_);
    if (unified.ok()) AddPressure(*unified, "memory.pressure", out);
    return out;
  }

 private:
  CgroupMounts mounts_;
  std::string path_;
  MemorySource& machine_;
};

}  // namespace

std::unique_ptr<MemorySource> MachineMemory(std::string proc_dir) {
  return std::make_unique<Machine>(std::move(proc_dir));
}
std::unique_ptr<MemorySource> GroupMemory(const CgroupMounts& mounts, std::string path,
                                          MemorySource& machine) {
  return std::make_unique<Group>(mounts, std::move(path), machine);
}

}  // namespace taut
