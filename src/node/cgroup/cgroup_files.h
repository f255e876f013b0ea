// The files of one cgroup as one version of the kernel's interface has them. cgroup.h puts what both versions
// have in common on top; no other code needs this.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "node/agent/task_group.h"
#include "node/cgroup/cgroup_mounts.h"
#include "node/cgroup/kernel_file.h"

namespace taut::node {

// Not thread-safe.
class CgroupFiles {
 public:
  virtual ~CgroupFiles() = default;

  // The directory that defines the group's lifetime.
  virtual const KernelDirectory& home() const = 0;
  // Fills in what can be read: all but the working set.
  virtual void Read(ReadDepth depth, TaskReading& out) = 0;
  // Of the group and those below it. Expensive: the kernel adds up over all CPUs and prints 60 lines.
  virtual std::optional<uint64_t> ReadInactiveFile() = 0;
  // As TaskLimits.
  virtual std::optional<double> ReadLimit(LimitKind kind) const = 0;
  // `value` is plausible (see cgroup.cc). What ReadLimit should say now, up to whole pages: a weight or quota
  // may be rounded.
  virtual absl::StatusOr<std::optional<double>> WriteLimit(LimitKind kind, std::optional<double> value) = 0;

  // What ReadLimit will say once `value` is written.
  virtual std::optional<double> Rounded(LimitKind kind, std::optional<double> value) const = 0;

  virtual Wakeup oom_wakeup() const = 0;
  virtual void ClearOomWakeup() = 0;
};

// NotFound if there is no such group.
absl::StatusOr<std::unique_ptr<CgroupFiles>> OpenV1Files(const CgroupMounts& mounts, std::string_view path);
absl::StatusOr<std::unique_ptr<CgroupFiles>> OpenV2Files(const CgroupMounts& mounts, std::string_view path);

// The parts that are the same in both.
PressureTotals ReadPressure(const KernelDirectory& directory, const char* file);
// Unimplemented if the file is not there.
absl::Status WriteStatus(int error, const char* file);
// How often the memory limit of a v1 group, or that of memory and swap together, was met.
std::optional<uint64_t> V1LimitOoms(const KernelDirectory& memory);
// Microseconds a period.
uint64_t QuotaFor(double cores, uint64_t period_us);
// In cores; `cores` as it is if the period is not known (0).
double RoundedQuota(double cores, uint64_t period_us);

}  // namespace taut::node
