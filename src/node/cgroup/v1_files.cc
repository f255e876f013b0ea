// Implements CgroupFiles for cgroup v1: one directory for each controller and, if v2 is mounted too, one more for
// pressure.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "common/base/strings.h"
#include "node/agent/cpu_weight.h"
#include "node/cgroup/cgroup_files.h"
#include "node/cgroup/kernel_text.h"

namespace taut::node {
namespace {

constexpr const char* kLimit = "memory.limit_in_bytes";
constexpr const char* kSwapLimit = "memory.memsw.limit_in_bytes";  // limit of memory and swap together
constexpr const char* kQuota = "cpu.cfs_quota_us";
constexpr uint64_t kDefaultShares = 1024;

class V1Files final : public CgroupFiles {
 public:
  struct Directories {
    KernelDirectory memory, cpu, cpuacct, unified;
  };
  explicit V1Files(Directories directories);

  const KernelDirectory& home() const override;
  void Read(ReadDepth depth, TaskReading& out) override;
  std::optional<uint64_t> ReadInactiveFile() override;
  std::optional<double> ReadLimit(LimitKind kind) const override;
  absl::StatusOr<std::optional<double>> WriteLimit(LimitKind kind, std::optional<double> value) override;
  std::optional<double> Rounded(LimitKind kind, std::optional<double> value) const override;
  Wakeup oom_wakeup() const override { return {oom_event_.get(), EPOLLIN}; }
  void ClearOomWakeup() override;

 private:
  std::optional<CpuQuota> ReadQuota() const;
  std::optional<KernelLimit> ReadBytes(const char* file) const;
  int WriteBytes(const char* file, const KernelLimit& limit) const;
  absl::Status WriteMemory(const KernelLimit& to);
  absl::StatusOr<std::optional<double>> WriteQuota(std::optional<double> cores);
  absl::StatusOr<std::optional<double>> WriteWeight(std::optional<double> weight);

  Directories in_;
  HotFile cpuacct_usage_{"cpuacct.usage"}, memory_usage_{"memory.usage_in_bytes"},
      memory_stat_{"memory.stat"};
  Fd oom_event_;
  // Excess of the owner's limit of memory and swap over the owner's limit of memory, in bytes. The value is kept
  // while the agent has removed both limits.
  std::optional<uint64_t> swap_allowance_;
  bool is_swap_lifted_ = false;
};

V1Files::V1Files(Directories directories) : in_(std::move(directories)) {
  cpuacct_usage_.OpenIfClosed(in_.cpuacct);
  memory_usage_.OpenIfClosed(in_.memory);
  memory_stat_.OpenIfClosed(in_.memory);
  // The kernel keeps its own reference to oom_control; only the eventfd has to stay open.
  Fd event(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  const Fd oom = in_.memory.OpenFile("memory.oom_control", O_RDONLY);
  if (event.is_open() && oom.is_open() &&
      in_.memory.Write("cgroup.event_control", StrCat(event.get(), " ", oom.get())) == 0) {
    oom_event_ = std::move(event);
  }
}

const KernelDirectory& V1Files::home() const {
  if (in_.memory.is_open()) return in_.memory;
  return in_.cpuacct.is_open() ? in_.cpuacct : in_.cpu;
}

void V1Files::Read(ReadDepth depth, TaskReading& out) {
  if (const std::optional<uint64_t> ns = cpuacct_usage_.ReadNumber()) out.cpu_usage_us = *ns / 1000;
  out.memory_bytes = memory_usage_.ReadNumber();
  if (depth == ReadDepth::kUsage) return;
  KernelBuffer buffer;
  const std::string_view cpu = in_.cpu.Read("cpu.stat", buffer).text;
  out.cpu_periods = ParseKeyedNumber(cpu, "nr_periods");
  out.cpu_throttled_periods = ParseKeyedNumber(cpu, "nr_throttled");
  if (const std::optional<uint64_t> ns = ParseKeyedNumber(cpu, "throttled_time")) {
    out.cpu_throttled_us = *ns / 1000;
  }
  out.memory_peak_bytes = in_.memory.ReadNumber("memory.max_usage_in_bytes");
  out.oom_kills = ParseKeyedNumber(in_.memory.Read("memory.oom_control", buffer).text, "oom_kill");
  out.memory_max_events = in_.memory.ReadNumber("memory.failcnt");
  // Some kernels (6.18) kill tasks at a group's limit without counting: a count of 0 therefore means unknown.
  out.limit_ooms = V1LimitOoms(in_.memory);
  if (out.limit_ooms == uint64_t{0}) out.limit_ooms.reset();
  out.cpu_pressure = ReadPressure(in_.unified, "cpu.pressure");
  out.memory_pressure = ReadPressure(in_.unified, "memory.pressure");
  out.io_pressure = ReadPressure(in_.unified, "io.pressure");
}

std::optional<uint64_t> V1Files::ReadInactiveFile() {
  KernelBuffer buffer;
  return ParseKeyedNumber(memory_stat_.Read(buffer).text, "total_inactive_file");
}

std::optional<CpuQuota> V1Files::ReadQuota() const {
  KernelBuffer quota, period;
  return ParseCfsQuota(in_.cpu.Read("cpu.cfs_quota_us", quota).text,
                       in_.cpu.Read("cpu.cfs_period_us", period).text);
}

std::optional<KernelLimit> V1Files::ReadBytes(const char* file) const {
  KernelBuffer buffer;
  return ParseByteLimit(in_.memory.Read(file, buffer).text);
}

std::optional<double> V1Files::ReadLimit(LimitKind kind) const {
  switch (kind) {
    case LimitKind::kMemoryMax: {
      const std::optional<KernelLimit> limit = ReadBytes(kLimit);
      return limit.has_value() ? limit->amount() : std::nullopt;
    }
    case LimitKind::kMemoryHigh:
    case LimitKind::kMemoryLow:
    case LimitKind::kMemoryMin:
      return std::nullopt;
    case LimitKind::kCpuMax: {
      const std::optional<CpuQuota> quota = ReadQuota();
      return quota.has_value() ? quota->cores() : std::nullopt;
    }
    case LimitKind::kCpuWeight:
      break;
  }
  const std::optional<uint64_t> shares = in_.cpu.ReadNumber("cpu.shares");
  return shares.has_value() ? std::optional<double>(WeightOfShares(*shares)) : std::nullopt;
}

absl::StatusOr<std::optional<double>> V1Files::WriteLimit(LimitKind kind, std::optional<double> value) {
  switch (kind) {
    case LimitKind::kMemoryMax: {
      const absl::Status written =
          WriteMemory(value.has_value() ? KernelLimit{true, static_cast<uint64_t>(*value)} : KernelLimit{});
      if (!written.ok()) return written;
      return value;
    }
    case LimitKind::kMemoryHigh:
    case LimitKind::kMemoryLow:
    case LimitKind::kMemoryMin:
      return absl::UnimplementedError(StrCat("cgroup v1 has no ", Name(kind)));
    case LimitKind::kCpuMax:
      return WriteQuota(value);
    case LimitKind::kCpuWeight:
      break;
  }
  return WriteWeight(value);
}

int V1Files::WriteBytes(const char* file, const KernelLimit& limit) const {
  return in_.memory.Write(file, limit.is_limited ? StrCat(limit.value) : "-1");
}

// The kernel requires memory <= memory and swap. A raise therefore writes the sum first, and a cut writes the sum
// last. The owner's swap allowance, often 0, stays unchanged.
absl::Status V1Files::WriteMemory(const KernelLimit& to) {
  const std::optional<KernelLimit> from = ReadBytes(kLimit), swap = ReadBytes(kSwapLimit);
  if (from.has_value() && swap.has_value() && from->is_limited && swap->is_limited) {
    swap_allowance_ = swap->value - std::min(swap->value, from->value);
  } else if (!is_swap_lifted_) {
    swap_allowance_.reset();
  }
  if (!from.has_value() || !swap.has_value() || !swap_allowance_.has_value()) {
    return WriteStatus(WriteBytes(kLimit, to), kLimit);
  }
  const KernelLimit swap_to = to.is_limited ? KernelLimit{true, to.value + *swap_allowance_} : KernelLimit{};
  const bool up = from->is_limited && (!to.is_limited || to.value > from->value);
  const char* const first = up ? kSwapLimit : kLimit;
  const char* const second = up ? kLimit : kSwapLimit;
  if (const int error = WriteBytes(first, up ? swap_to : to); error != 0) return WriteStatus(error, first);
  if (const int error = WriteBytes(second, up ? to : swap_to); error != 0) {
    // Undo the first write: a changed swap limit alone would change the owner's allowance.
    WriteBytes(first, up ? *swap : *from);
    return WriteStatus(error, second);
  }
  is_swap_lifted_ = !to.is_limited;
  return absl::OkStatus();
}

absl::StatusOr<std::optional<double>> V1Files::WriteQuota(std::optional<double> cores) {
  CpuQuota quota;
  if (cores.has_value()) {
    KernelBuffer buffer;
    const KernelText read = in_.cpu.Read("cpu.cfs_period_us", buffer);
    if (read.error != 0) return WriteStatus(read.error, kQuota);
    quota.period_us = ParseKernelNumber(read.text).value_or(0);
    if (quota.period_us == 0) return absl::UnavailableError("cpu.cfs_period_us cannot be read");
    quota.quota_us = QuotaFor(*cores, quota.period_us);
  }
  const std::string text = cores.has_value() ? StrCat(*quota.quota_us) : std::string("-1");
  if (absl::Status written = WriteStatus(in_.cpu.Write(kQuota, text), kQuota); !written.ok()) return written;
  return quota.cores();
}

absl::StatusOr<std::optional<double>> V1Files::WriteWeight(std::optional<double> weight) {
  const uint64_t shares = weight.has_value() ? SharesOfWeight(*weight) : kDefaultShares;
  const absl::Status written = WriteStatus(in_.cpu.Write("cpu.shares", StrCat(shares)), "cpu.shares");
  if (!written.ok()) return written;
  return WeightOfShares(shares);
}

std::optional<double> V1Files::Rounded(LimitKind kind, std::optional<double> value) const {
  if (kind == LimitKind::kCpuWeight) {
    return WeightOfShares(value.has_value() ? SharesOfWeight(*value) : kDefaultShares);
  }
  if (kind != LimitKind::kCpuMax || !value.has_value()) return value;
  const std::optional<uint64_t> period_us = in_.cpu.ReadNumber("cpu.cfs_period_us");
  return RoundedQuota(*value, period_us.value_or(0));
}

void V1Files::ClearOomWakeup() {
  uint64_t count = 0;
  while (oom_event_.is_open() && read(oom_event_.get(), &count, sizeof(count)) < 0 && errno == EINTR) {
  }
}

// Returns a closed KernelDirectory if the hierarchy is not mounted or does not contain the group.
absl::StatusOr<KernelDirectory> OpenIfThere(const std::string& root, std::string_view path) {
  if (root.empty()) return KernelDirectory();
  absl::StatusOr<KernelDirectory> out = KernelDirectory::Open(root, path);
  return absl::IsNotFound(out.status()) ? KernelDirectory() : std::move(out);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CgroupFiles>> OpenV1Files(const CgroupMounts& mounts, std::string_view path) {
  V1Files::Directories in;
  const std::pair<const std::string*, KernelDirectory*> wanted[] = {{&mounts.memory, &in.memory},
                                                                    {&mounts.cpu, &in.cpu},
                                                                    {&mounts.cpuacct, &in.cpuacct},
                                                                    {&mounts.unified, &in.unified}};
  // The group must exist in the home hierarchy; in other hierarchies it may be missing.
  for (const auto& [root, directory] : wanted) {
    const bool is_home = *root == mounts.home();
    absl::StatusOr<KernelDirectory> opened =
        is_home ? KernelDirectory::Open(*root, path) : OpenIfThere(*root, path);
    if (!opened.ok()) return opened.status();
    *directory = *std::move(opened);
  }
  return std::make_unique<V1Files>(std::move(in));
}

}  // namespace taut::node
