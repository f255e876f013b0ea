// Implements CgroupFiles for cgroup v2: one directory for all controllers.
#include <fcntl.h>
#include <sys/epoll.h>

#include <cerrno>
#include <cmath>

#include "common/base/strings.h"
#include "node/cgroup/cgroup_files.h"
#include "node/cgroup/kernel_text.h"

namespace taut::node {
namespace {

constexpr double kDefaultWeight = 100;
constexpr int kReclaimTries = 3;
constexpr double kAllMemory = 1e18;  // bytes: "max" of a protection

class V2Files final : public CgroupFiles {
 public:
  explicit V2Files(KernelDirectory directory) : directory_(std::move(directory)) {
    OpenHotFiles();
    // Read the file once: otherwise the first poll reports old events as new (kernfs_generic_poll).
    oom_events_ = directory_.OpenFile("memory.events", O_RDONLY);
    V2Files::ClearOomWakeup();
  }

  const KernelDirectory& home() const override { return directory_; }
  void Read(ReadDepth depth, TaskReading& out) override;
  std::optional<uint64_t> ReadInactiveFile() override;
  std::optional<double> ReadLimit(LimitKind kind) const override;
  absl::StatusOr<std::optional<double>> WriteLimit(LimitKind kind, std::optional<double> value) override;
  std::optional<double> Rounded(LimitKind kind, std::optional<double> value) const override;
  Wakeup oom_wakeup() const override { return {oom_events_.get(), EPOLLPRI}; }
  void ClearOomWakeup() override {
    KernelBuffer buffer;
    if (oom_events_.is_open()) ReadKernelFile(oom_events_.get(), buffer);
  }

 private:
  // A controller may be enabled while the group exists.
  void OpenHotFiles() {
    for (HotFile* file : {&cpu_stat_, &memory_current_, &memory_stat_}) file->OpenIfClosed(directory_);
  }
  void ReadEvents(TaskReading& out) const;
  absl::StatusOr<std::optional<double>> WriteMemory(const char* file, std::optional<double> value);
  std::optional<double> ReadProtection(const char* file) const;
  absl::StatusOr<std::optional<double>> WriteProtection(const char* file, std::optional<double> value);
  absl::StatusOr<std::optional<double>> WriteQuota(std::optional<double> cores);
  absl::Status MakeRoom(uint64_t bytes);

  KernelDirectory directory_;
  HotFile cpu_stat_{"cpu.stat"}, memory_current_{"memory.current"}, memory_stat_{"memory.stat"};
  Fd oom_events_;
};

void V2Files::Read(ReadDepth depth, TaskReading& out) {
  if (depth == ReadDepth::kAll) OpenHotFiles();
  KernelBuffer buffer;
  const std::string_view cpu = cpu_stat_.Read(buffer).text;
  out.cpu_usage_us = ParseKeyedNumber(cpu, "usage_usec");
  if (depth == ReadDepth::kAll) {
    out.cpu_periods = ParseKeyedNumber(cpu, "nr_periods");
    out.cpu_throttled_periods = ParseKeyedNumber(cpu, "nr_throttled");
    out.cpu_throttled_us = ParseKeyedNumber(cpu, "throttled_usec");
  }
  out.memory_bytes = memory_current_.ReadNumber();
  if (depth == ReadDepth::kUsage) return;
  out.memory_peak_bytes = directory_.ReadNumber("memory.peak");
  ReadEvents(out);
  out.cpu_pressure = ReadPressure(directory_, "cpu.pressure");
  out.memory_pressure = ReadPressure(directory_, "memory.pressure");
  out.io_pressure = ReadPressure(directory_, "io.pressure");
}

void V2Files::ReadEvents(TaskReading& out) const {
  KernelBuffer buffer;
  const std::string_view events = directory_.Read("memory.events", buffer).text;
  out.oom_kills = ParseKeyedNumber(events, "oom_kill");
  out.memory_high_events = ParseKeyedNumber(events, "high");
  out.memory_max_events = ParseKeyedNumber(events, "max");
  out.limit_ooms = ParseKeyedNumber(events, "oom");
}

std::optional<uint64_t> V2Files::ReadInactiveFile() {
  KernelBuffer buffer;
  return ParseKeyedNumber(memory_stat_.Read(buffer).text, "inactive_file");
}

std::optional<double> V2Files::ReadLimit(LimitKind kind) const {
  KernelBuffer buffer;
  switch (kind) {
    case LimitKind::kMemoryMax:
    case LimitKind::kMemoryHigh: {
      const char* file = kind == LimitKind::kMemoryMax ? "memory.max" : "memory.high";
      const std::optional<KernelLimit> limit = ParseByteLimit(directory_.Read(file, buffer).text);
      return limit.has_value() ? limit->amount() : std::nullopt;
    }
    case LimitKind::kMemoryLow:
    case LimitKind::kMemoryMin:
      return ReadProtection(kind == LimitKind::kMemoryLow ? "memory.low" : "memory.min");
    case LimitKind::kCpuMax: {
      const std::optional<CpuQuota> quota = ParseCpuMax(directory_.Read("cpu.max", buffer).text);
      return quota.has_value() ? quota->cores() : std::nullopt;
    }
    case LimitKind::kCpuWeight:
      break;
  }
  // An idle group (cpu.idle) has weight 0, which is read as no weight.
  const uint64_t weight = directory_.ReadNumber("cpu.weight").value_or(0);
  return weight == 0 ? std::nullopt : std::optional<double>(static_cast<double>(weight));
}

absl::StatusOr<std::optional<double>> V2Files::WriteLimit(LimitKind kind, std::optional<double> value) {
  switch (kind) {
    case LimitKind::kMemoryMax:
      return WriteMemory("memory.max", value);
    case LimitKind::kMemoryHigh:
      return WriteMemory("memory.high", value);
    case LimitKind::kMemoryLow:
    case LimitKind::kMemoryMin:
      return WriteProtection(kind == LimitKind::kMemoryLow ? "memory.low" : "memory.min", value);
    case LimitKind::kCpuMax:
      return WriteQuota(value);
    case LimitKind::kCpuWeight:
      break;
  }
  const double weight = std::round(value.value_or(kDefaultWeight));
  const absl::Status written = WriteStatus(directory_.Write("cpu.weight", StrCat(weight)), "cpu.weight");
  if (!written.ok()) return written;
  return weight;
}

absl::StatusOr<std::optional<double>> V2Files::WriteMemory(const char* file, std::optional<double> value) {
  std::string text = "max";
  if (value.has_value()) {
    const auto bytes = static_cast<uint64_t>(*value);
    text = StrCat(bytes);
    if (file == std::string_view("memory.max")) {
      if (absl::Status room = MakeRoom(bytes); !room.ok()) return room;
    }
  }
  if (absl::Status written = WriteStatus(directory_.Write(file, text), file); !written.ok()) return written;
  return value;
}

// Returns the protection in bytes: "max" protects all memory, and 0 protects none.
std::optional<double> V2Files::ReadProtection(const char* file) const {
  KernelBuffer buffer;
  const std::optional<KernelLimit> read = ParseByteLimit(directory_.Read(file, buffer).text);
  if (!read.has_value() || (read->is_limited && read->value == 0)) return std::nullopt;
  return read->amount().value_or(kAllMemory);
}

absl::StatusOr<std::optional<double>> V2Files::WriteProtection(const char* file,
                                                               std::optional<double> value) {
  const std::string text = !value.has_value()     ? "0"
                           : *value >= kAllMemory ? "max"
                                                  : StrCat(static_cast<uint64_t>(*value));
  if (absl::Status written = WriteStatus(directory_.Write(file, text), file); !written.ok()) return written;
  return value;
}

std::optional<double> V2Files::Rounded(LimitKind kind, std::optional<double> value) const {
  if (kind == LimitKind::kCpuWeight) return std::round(value.value_or(kDefaultWeight));
  if (kind != LimitKind::kCpuMax || !value.has_value()) return value;
  KernelBuffer buffer;
  const std::optional<CpuQuota> now = ParseCpuMax(directory_.Read("cpu.max", buffer).text);
  return RoundedQuota(*value, now.has_value() ? now->period_us : 0);
}

// Writes only the quota: the period stays as it is.
absl::StatusOr<std::optional<double>> V2Files::WriteQuota(std::optional<double> cores) {
  CpuQuota quota;
  if (cores.has_value()) {
    KernelBuffer buffer;
    const KernelText read = directory_.Read("cpu.max", buffer);
    if (read.error != 0) return WriteStatus(read.error, "cpu.max");
    const std::optional<CpuQuota> before = ParseCpuMax(read.text);
    if (!before.has_value()) return absl::UnavailableError("cpu.max: its period cannot be read");
    quota = {QuotaFor(*cores, before->period_us), before->period_us};
  }
  const std::string text = cores.has_value() ? StrCat(*quota.quota_us) : std::string("max");
  const absl::Status written = WriteStatus(directory_.Write("cpu.max", text), "cpu.max");
  if (!written.ok()) return written;
  return quota.cores();
}

// A memory.max below the usage does not fail: the kernel reclaims and then kills. MakeRoom therefore reclaims
// first. It returns an error if the usage stays above `bytes`; the caller must then not write the limit.
absl::Status V2Files::MakeRoom(uint64_t bytes) {
  if (!directory_.Has("memory.max")) return WriteStatus(ENOENT, "memory.max");
  const std::optional<double> before = ReadLimit(LimitKind::kMemoryMax);
  if (before.has_value() && static_cast<double>(bytes) >= *before) return absl::OkStatus();
  std::optional<uint64_t> current;
  for (int tries = 0; tries <= kReclaimTries; ++tries) {
    current = directory_.ReadNumber("memory.current");
    if (!current.has_value()) {
      return absl::UnavailableError("memory.current cannot be read: lowering memory.max might kill the task");
    }
    if (*current <= bytes) return absl::OkStatus();
    // Reclaim only inactive pages: below the working set the kernel would have to swap.
    const uint64_t over = *current - bytes;
    if (tries == kReclaimTries || over > ReadInactiveFile().value_or(0)) break;
    const int error = directory_.Write("memory.reclaim", StrCat(over));
    if (error != 0 && error != EAGAIN) break;
  }
  return absl::ResourceExhaustedError(
      StrCat("memory.max: ", *current, " bytes are in use, more than ", bytes));
}

}  // namespace

absl::StatusOr<std::unique_ptr<CgroupFiles>> OpenV2Files(const CgroupMounts& mounts, std::string_view path) {
  absl::StatusOr<KernelDirectory> directory = KernelDirectory::Open(mounts.unified, path);
  if (!directory.ok()) return directory.status();
  return std::make_unique<V2Files>(*std::move(directory));
}

}  // namespace taut::node
