// A task as its own machine sees it: what can be read of it and what can be set. Cgroups and containers stand
// behind these seams; the agent stands before them.
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

// Microseconds in which some or all processes stood still for want of a resource (PSI), since the start.
struct PressureTotals {
  std::optional<uint64_t> some_us, full_us;
};

// Counters since the task's start and gauges of now. What the kernel does not say is absent, never 0.
struct TaskReading {
  std::optional<uint64_t> cpu_usage_us;
  std::optional<uint64_t> cpu_periods, cpu_throttled_periods, cpu_throttled_us;
  std::optional<uint64_t> memory_bytes;              // all that is charged, page cache too
  std::optional<uint64_t> memory_working_set_bytes;  // less the inactive file pages: what counts as usage
  std::optional<uint64_t> memory_peak_bytes;         // of memory_bytes, since the start
  std::optional<uint64_t> oom_kills;                 // processes killed
  std::optional<uint64_t> memory_high_events, memory_max_events;
  // Times that the limit of the task, or of a group in it, called the OOM killer; v1: that it was met. A kill
  // while it stands still is due to a limit above the task, or to the machine.
  std::optional<uint64_t> limit_ooms;
  PressureTotals cpu_pressure, memory_pressure, io_pressure;
};
// What counts as memory usage: the working set, where it is known. Absent: neither is.
inline std::optional<double> UsageIn(const TaskReading& reading) {
  const auto& bytes =
      reading.memory_working_set_bytes.has_value() ? reading.memory_working_set_bytes : reading.memory_bytes;
  return bytes.has_value() ? std::optional(static_cast<double>(*bytes)) : std::nullopt;
}
enum class ReadDepth : uint8_t {
  kUsage,  // cpu_usage_us and memory: each second, so it must be cheap
  kAll
};

enum class LimitKind : uint8_t {
  kMemoryMax,   // bytes; above it the kernel kills
  kMemoryHigh,  // bytes; above it the kernel reclaims and slows down (cgroup v2 only)
  kCpuMax,      // cores; above it the kernel throttles
  kCpuWeight,   // 1 .. 10,000, as cgroup v2 counts (100 is the default); only counts when cores are short
  // Protection, in bytes (cgroup v2 only): the kernel reclaims below it last, or never. The groups above must
  // have it too.
  kMemoryLow,
  kMemoryMin
};
inline constexpr int kNumLimitKinds = 6;
std::string_view Name(LimitKind kind);

// As read; absent: no limit or protection, or the kernel has no such file (kCpuWeight: absent only then).
struct TaskLimits {
  std::optional<double> memory_max_bytes, memory_high_bytes, cpu_max_cores, cpu_weight;
  std::optional<double> memory_low_bytes, memory_min_bytes;

  std::optional<double>& of(LimitKind kind);
  const std::optional<double>& of(LimitKind kind) const;
};

// A group above a task, and what it allows all that is in it. Absent: no limit.
struct GroupAbove {
  std::string path;  // "/": the hierarchy's root
  std::optional<double> memory_max_bytes, cpu_max_cores;
  std::optional<uint64_t> limit_ooms;  // as TaskReading::limit_ooms, of this group's limit alone
};

// A descriptor to wait on with epoll; fd < 0: there is nothing to wait for.
struct Wakeup {
  int fd = -1;
  uint32_t epoll_events = 0;  // EPOLLIN (eventfd, socket) or EPOLLPRI (a cgroup v2 events file)
};

// One living task: handles stay open, so that another task of the same name is never taken for this one.
// Every call fails with NotFound once the task is gone, and for good. Not thread-safe.
class TaskGroup {
 public:
  virtual ~TaskGroup() = default;

  // Fills `out` anew. A file that cannot be read leaves its fields absent; an error only if nothing can be.
  virtual absl::Status Read(ReadDepth depth, TaskReading& out) = 0;
  virtual absl::StatusOr<TaskLimits> ReadLimits() = 0;
  // Sets one limit (absent: none) and reads it back; OK only if the kernel now has it, up to its rounding
  // (pages, 1 ms of quota a period). ResourceExhausted: more is in use than `value` and the kernel cannot get
  // it back. Unimplemented: no such limit here. FailedPrecondition: written, but read back as something else.
  virtual absl::Status SetLimit(LimitKind kind, std::optional<double> value) = 0;
  // What ReadLimits will say after SetLimit(kind, value): a quota is at least 1 ms a period, which in a
  // period of 10 ms is 0.1 cores.
  virtual std::optional<double> Rounded(LimitKind /*kind*/, std::optional<double> value) { return value; }
  // The smallest value that can be set; 0: none is known.
  virtual double Least(LimitKind /*kind*/) const { return 0; }
  // Kills every process of the task, those that it starts meanwhile too, and says how many there were, 0 if
  // the kernel does not say. FailedPrecondition: the calling process, or the first of the machine, is one of
  // them; nothing is killed then. It is no OOM kill, and no counter of those moves.
  virtual absl::StatusOr<int> Kill() { return absl::UnimplementedError("cannot be killed"); }
  // The groups above the task that limit memory or CPU, the nearest first. Groups that cannot be read are left
  // out. Opens files of each: not for every reading.
  virtual std::vector<GroupAbove> ReadAbove() { return {}; }
  // Processes of the task, ascending, as this process numbers them. `leave_out` (may be empty): paths of groups
  // below the task whose processes do not count. Processes of another PID namespace are left out.
  virtual std::vector<int> Pids(const std::set<std::string_view>& /*leave_out*/) { return {}; }
  // Below the hierarchy's root; "": not known.
  virtual std::string_view cgroup_path() const { return {}; }
  // When it started, seconds since 1970 by the machine's clock; absent: not known.
  virtual std::optional<int64_t> started_s() const { return std::nullopt; }

  // Ready when the task may have met an OOM kill: read with kAll and compare oom_kills.
  virtual Wakeup oom_wakeup() const { return {}; }
  // Takes the readiness away. Call before the Read.
  virtual void ClearOomWakeup() {}
};

// A task that was found.
struct FoundTask {
  // The same as long as the task lives, also over a restart of the agent, and never another's:
  // "cgroup:/system.slice/web.service#1234" (the directory's inode), "docker:4f5e...".
  std::string identity;
  std::string job;
  std::string task;  // unique in the job over all machines: "host/name"
  std::vector<std::pair<std::string, std::string>> labels;  // ascending by key
  size_t rule = 0;                                          // of the finder's rules, which one found it
};

struct TaskEvent {
  enum class Kind : uint8_t { kStarted, kGone, kOomKill };
  Kind kind = Kind::kStarted;
  std::string identity;
};

// Knows a way to find tasks. Not thread-safe.
class TaskFinder {
 public:
  virtual ~TaskFinder() = default;
  // "cgroup", "systemd", "docker": for people.
  virtual std::string_view name() const = 0;
  // All tasks there are now, ascending by identity. Called every few seconds, and when wakeup says so. An
  // error means "not known now", not "none".
  virtual absl::StatusOr<std::vector<FoundTask>> Find() = 0;
  // Why tasks that fit a rule were left out by the last Find, for people: some of them, and how many there are.
  virtual std::vector<std::string> refusals() const { return {}; }
  virtual size_t num_refused() const { return refusals().size(); }
  // NotFound if it is gone since.
  virtual absl::StatusOr<std::unique_ptr<TaskGroup>> Open(const FoundTask& task) = 0;
  // Of a task that Open does not find: may it come back under this identity, with the limits it had? So do
  // containers that are stopped. True also if that cannot be known now.
  virtual bool MayReturn(const FoundTask& /*task*/) { return false; }
  // Ready when TakeEvents has something.
  virtual Wakeup wakeup() const { return {}; }
  virtual std::vector<TaskEvent> TakeEvents() { return {}; }
};

}  // namespace taut::node
