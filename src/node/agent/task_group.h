// The interfaces between the agent and the drivers of cgroups and containers: TaskGroup reads and limits one task,
// and TaskFinder lists tasks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace taut::node {

// Microseconds in which some or all processes waited for a resource (PSI), since the task's start.
struct PressureTotals {
  std::optional<uint64_t> some_us, full_us;
};

// Counters since the task's start, and present values. A figure that the kernel does not provide is absent, never
// 0.
struct TaskReading {
  std::optional<uint64_t> cpu_usage_us;
  std::optional<uint64_t> cpu_periods, cpu_throttled_periods, cpu_throttled_us;
  std::optional<uint64_t> memory_bytes;              // all charged memory, with page cache
  std::optional<uint64_t> memory_working_set_bytes;  // excludes inactive file pages; counts as usage
  std::optional<uint64_t> memory_peak_bytes;         // highest memory_bytes since the start
  std::optional<uint64_t> oom_kills;                 // number of killed processes
  std::optional<uint64_t> memory_high_events, memory_max_events;
  // Number of times that the limit of the task, or of a group in it, invoked the OOM killer; on v1, number of
  // times that the limit was met. A kill that does not raise this number is due to a limit above the task, or to
  // the machine.
  std::optional<uint64_t> limit_ooms;
  PressureTotals cpu_pressure, memory_pressure, io_pressure;
};
// Returns the memory usage: the working set if known, else all charged memory. Absent if neither is known.
inline std::optional<double> UsageIn(const TaskReading& reading) {
  const auto& bytes =
      reading.memory_working_set_bytes.has_value() ? reading.memory_working_set_bytes : reading.memory_bytes;
  return bytes.has_value() ? std::optional(static_cast<double>(*bytes)) : std::nullopt;
}
enum class ReadDepth : uint8_t {
  kUsage,  // CPU time and memory: read each second, so it must be cheap
  kAll
};

enum class LimitKind : uint8_t {
  kMemoryMax,   // bytes; above this limit the kernel kills
  kMemoryHigh,  // bytes; above this limit the kernel reclaims and slows down (cgroup v2 only)
  kCpuMax,      // cores; above this limit the kernel throttles
  kCpuWeight,   // 1 .. 10,000, in cgroup v2's scale (default 100); matters only when cores are short
  // Protection in bytes (cgroup v2 only): memory below this amount is reclaimed last, or never. The groups above
  // the task need this protection too.
  kMemoryLow,
  kMemoryMin
};
inline constexpr int kNumLimitKinds = 6;
std::string_view Name(LimitKind kind);

// Limits as read. Absent: no limit or protection, or the kernel does not provide the file. kCpuWeight is absent
// only without the file.
struct TaskLimits {
  std::optional<double> memory_max_bytes, memory_high_bytes, cpu_max_cores, cpu_weight;
  std::optional<double> memory_low_bytes, memory_min_bytes;

  std::optional<double>& of(LimitKind kind);
  const std::optional<double>& of(LimitKind kind) const;
};

// A group above a task, and the limits on everything in it. Absent: no limit.
struct GroupAbove {
  std::string path;  // cgroup path; "/": the hierarchy's root
  std::optional<double> memory_max_bytes, cpu_max_cores;
  std::optional<uint64_t> limit_ooms;  // TaskReading::limit_ooms of this group's limit alone
};

// A descriptor for epoll; fd < 0: no descriptor.
struct Wakeup {
  int fd = -1;
  uint32_t epoll_events = 0;  // EPOLLIN (eventfd, socket) or EPOLLPRI (a cgroup v2 events file)
};

// One running task. Its files stay open, so that another task of the same name is never mistaken for this task.
// After the task has ended, every call fails with NotFound. Not thread-safe.
class TaskGroup {
 public:
  virtual ~TaskGroup() = default;

  // Overwrites `out`. A file that cannot be read leaves its fields absent; an error means that no file could be
  // read.
  virtual absl::Status Read(ReadDepth depth, TaskReading& out) = 0;
  virtual absl::StatusOr<TaskLimits> ReadLimits() = 0;
  // Sets one limit (absent: none) and reads it back. OK only if the kernel now has this value, up to the
  // kernel's rounding (pages, 1 ms of quota a period). ResourceExhausted: more memory is in use than `value`
  // and cannot be reclaimed. InvalidArgument: below Least(). Unimplemented: no such limit here.
  // FailedPrecondition: the value read back differs.
  virtual absl::Status SetLimit(LimitKind kind, std::optional<double> value) = 0;
  // Returns the value that ReadLimits will return after SetLimit(kind, value). A quota is at least 1 ms a
  // period; with a period of 10 ms this minimum is 0.1 cores.
  virtual std::optional<double> Rounded(LimitKind /*kind*/, std::optional<double> value) { return value; }
  // Returns the smallest value that can be set; 0: unknown.
  virtual double Least(LimitKind /*kind*/) const { return 0; }
  // Returns true if the task's service manager may write its own value over the limit that SetLimit() last set, as
  // systemd does when it reloads its units.
  virtual bool MayBeReset(LimitKind /*kind*/) const { return false; }
  // Kills every process of the task, including processes that start meanwhile, and returns the number of
  // processes; 0 if the kernel does not count them. FailedPrecondition, without a kill, if the task contains this
  // process or process 1. OOM counters do not change.
  virtual absl::StatusOr<int> Kill() { return absl::UnimplementedError("cannot be killed"); }
  // Returns the groups above the task that limit memory or CPU, nearest first, without groups that cannot be
  // read. Opens files of each group: too slow for every reading.
  virtual std::vector<GroupAbove> ReadAbove() { return {}; }
  // Returns the task's processes, ascending, in this process's PID namespace. Leaves out processes of other
  // namespaces, and of the groups below the task whose paths are in `leave_out` (may be empty).
  virtual std::vector<int> Pids(const std::set<std::string_view>& /*leave_out*/) { return {}; }
  // Path below the hierarchy's root; "": unknown.
  virtual std::string_view cgroup_path() const { return {}; }
  // Start time, seconds since 1970 by the machine's clock; absent: unknown.
  virtual std::optional<int64_t> started_s() const { return std::nullopt; }

  // Becomes ready after a possible OOM kill: read with kAll and compare oom_kills.
  virtual Wakeup oom_wakeup() const { return {}; }
  // Clears the readiness. Call it before Read: an event between the two calls is then not lost.
  virtual void ClearOomWakeup() {}
};

// A task that a finder returned.
struct FoundTask {
  // Constant while the task runs, also across restarts of the agent, and never reused:
  // "cgroup:/system.slice/web.service#1234" (inode of the directory), "docker:4f5e...".
  std::string identity;
  std::string job;
  std::string task;  // unique in the job over all machines: "host/name"
  std::vector<std::pair<std::string, std::string>> labels;  // ascending by key
  size_t rule = 0;  // index of the matching rule in the finder's rules
  // ID of the pod's container that this task represents (TaskRule::pods), 64 hex digits; "": none.
  std::string pod_container = {};
};

struct TaskEvent {
  enum class Kind : uint8_t { kStarted, kGone, kOomKill };
  Kind kind = Kind::kStarted;
  std::string identity;
};

// A source of tasks. Not thread-safe.
class TaskFinder {
 public:
  virtual ~TaskFinder() = default;
  // Human-readable name: "cgroup", "systemd", "docker".
  virtual std::string_view name() const = 0;
  // Returns all tasks that exist now, ascending by identity. Called every few seconds, and when wakeup() is
  // ready. An error means that the tasks are unknown now, not that there are none.
  virtual absl::StatusOr<std::vector<FoundTask>> Find() = 0;
  // Human-readable reasons for which the last Find left out matching tasks (examples), and the number of these
  // tasks.
  virtual std::vector<std::string> refusals() const { return {}; }
  virtual size_t num_refused() const { return refusals().size(); }
  // Opens the task. NotFound if the task has ended. InvalidArgument if the identity is not from this finder.
  virtual absl::StatusOr<std::unique_ptr<TaskGroup>> Open(const FoundTask& task) = 0;
  // Returns true if a task that Open does not find may return under this identity with its limits, as stopped
  // containers do. Also returns true if the finder cannot determine this now.
  virtual bool MayReturn(const FoundTask& /*task*/) { return false; }
  // Becomes ready when TakeEvents has events.
  virtual Wakeup wakeup() const { return {}; }
  virtual std::vector<TaskEvent> TakeEvents() { return {}; }
};

}  // namespace taut::node
