// The files of one cgroup in one version of the kernel's interface. Used only by cgroup.cc, which adds the
// behaviour that both versions share.
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
  // Fills in every figure that can be read, except the working set.
  virtual void Read(ReadDepth depth, TaskReading& out) = 0;
  // Returns the bytes of inactive file pages of the group and the groups below it. Slow: the kernel adds up
  // all CPUs and prints 60 lines.
  virtual std::optional<uint64_t> ReadInactiveFile() = 0;
  // Returns the limit in the unit of TaskLimits; nullopt if there is no limit or the file cannot be read.
  virtual std::optional<double> ReadLimit(LimitKind kind) const = 0;
  // Writes a value that cgroup.cc has checked. Returns the value that a later ReadLimit should return, up to whole
  // pages: the kernel may round a weight or quota.
  virtual absl::StatusOr<std::optional<double>> WriteLimit(LimitKind kind, std::optional<double> value) = 0;

  // Returns the value that ReadLimit will return after `value` is written.
  virtual std::optional<double> Rounded(LimitKind kind, std::optional<double> value) const = 0;

  virtual Wakeup oom_wakeup() const = 0;
  virtual void ClearOomWakeup() = 0;
};

// Open the group at `path`. NotFound if the group does not exist.
absl::StatusOr<std::unique_ptr<CgroupFiles>> OpenV1Files(const CgroupMounts& mounts, std::string_view path);
absl::StatusOr<std::unique_ptr<CgroupFiles>> OpenV2Files(const CgroupMounts& mounts, std::string_view path);

// Functions that both versions share.
PressureTotals ReadPressure(const KernelDirectory& directory, const char* file);
// Converts the errno of a write; 0: OK. Unimplemented if the file does not exist (ENOENT).
absl::Status WriteStatus(int error, const char* file);
// Returns the number of times that a v1 group met its limit of memory, or of memory and swap together.
std::optional<uint64_t> V1LimitOoms(const KernelDirectory& memory);
// Returns the quota in microseconds a period, at least the kernel's minimum of 1 ms.
uint64_t QuotaFor(double cores, uint64_t period_us);
// Returns the cores of the quota that QuotaFor computes; `cores` unchanged if the period is unknown (0).
double RoundedQuota(double cores, uint64_t period_us);

}  // namespace taut::node
