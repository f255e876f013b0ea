#include "node/cgroup/cgroup_files.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "common/base/strings.h"
#include "node/cgroup/kernel_text.h"

namespace taut::node {
namespace {

constexpr double kMinQuotaUs = 1000;  // the kernel's minimum of a quota

}  // namespace

PressureTotals ReadPressure(const KernelDirectory& directory, const char* file) {
  char buffer[256];
  return ParsePressure(directory.Read(file, buffer).text);
}

absl::Status WriteStatus(int error, const char* file) {
  if (error == 0) return absl::OkStatus();
  if (error == ENOENT) {
    return absl::UnimplementedError(
        StrCat(file, " does not exist: its controller is not enabled for this cgroup"));
  }
  return KernelError(error, file);
}

std::optional<uint64_t> V1LimitOoms(const KernelDirectory& memory) {
  const std::optional<uint64_t> met = memory.ReadNumber("memory.failcnt");
  if (!met.has_value()) return met;
  return *met + memory.ReadNumber("memory.memsw.failcnt").value_or(0);
}

uint64_t QuotaFor(double cores, uint64_t period_us) {
  return static_cast<uint64_t>(std::llround(std::max(kMinQuotaUs, cores * static_cast<double>(period_us))));
}

double RoundedQuota(double cores, uint64_t period_us) {
  if (period_us == 0) return cores;
  return static_cast<double>(QuotaFor(cores, period_us)) / static_cast<double>(period_us);
}

}  // namespace taut::node
