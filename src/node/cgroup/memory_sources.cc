#include "node/cgroup/memory_sources.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "node/cgroup/kernel_file.h"
#include "node/cgroup/kernel_text.h"

namespace taut::node {
namespace {

// Parses "MemTotal:       16303068 kB" to bytes.
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
      : mounts_(mounts), path_(std::move(path)), machine_(machine) {
    if (mounts_.version() == CgroupVersion::kV1) event_ = Fd(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  }

  void Watch(std::vector<FreeThreshold> below) override { below_ = std::move(below); }
  int wakeup_fd() const override { return event_.get(); }
  void ClearWakeup() override {
    uint64_t count = 0;
    while (event_.is_open() && read(event_.get(), &count, sizeof(count)) < 0 && errno == EINTR) {
    }
  }

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
    SetThresholds(*home, limit->value);
    const auto total = static_cast<double>(limit->value);
    MemoryNow out{total, total - static_cast<double>(*used - std::min(*used, inactive)), {}, {}};
    // A group's limit may be above the machine's memory.
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
  // Registers the thresholds with the kernel. The thresholds of an earlier limit stay registered until the group
  // is removed. Old thresholds only cause needless wakeups.
  void SetThresholds(const KernelDirectory& home, uint64_t limit) {
    if (!event_.is_open() || below_.empty() || (home.inode() == watched_ && limit == watched_limit_)) return;
    watched_ = home.inode();
    watched_limit_ = limit;
    const Fd usage = home.OpenFile("memory.usage_in_bytes", O_RDONLY);
    for (const FreeThreshold& below : below_) {
      const auto total = static_cast<double>(limit);
      const auto at = static_cast<uint64_t>(total - below.Of(total));
      // If the write fails, the guard reads the memory only at its own intervals.
      if (usage.is_open()) {
        (void)home.Write("cgroup.event_control", StrCat(event_.get(), " ", usage.get(), " ", at));
      }
    }
  }

  CgroupMounts mounts_;
  std::string path_;
  MemorySource& machine_;
  Fd event_;
  std::vector<FreeThreshold> below_;
  uint64_t watched_ = 0, watched_limit_ = 0;  // inode and limit of the group with registered thresholds
};

}  // namespace

std::unique_ptr<MemorySource> MachineMemory(std::string proc_dir) {
  return std::make_unique<Machine>(std::move(proc_dir));
}
std::unique_ptr<MemorySource> GroupMemory(const CgroupMounts& mounts, std::string path,
                                          MemorySource& machine) {
  return std::make_unique<Group>(mounts, std::move(path), machine);
}

}  // namespace taut::node
