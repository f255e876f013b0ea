// What the event tables of a trace say of its jobs and tasks, folded in order of time: rates, delays, ends and
// amounts by tier, and one line a job from which a cell can be made.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "common/model/tier.h"
#include "common/model/usage.h"

namespace taut::brain {

inline constexpr uint32_t kWholeJob = UINT32_MAX;  // as the task of an event

enum class TraceEventKind : uint8_t {
  kSubmit,
  kReady,  // nothing but the scheduler stands before its start
  kStart,
  kEvict,
  kFail,
  kFinish,
  kKill,
  kLost,
  kRequest,  // asks for another amount
};
inline constexpr size_t kTaskEnds = 5;
constexpr bool IsEnd(TraceEventKind kind) {
  return kind >= TraceEventKind::kEvict && kind <= TraceEventKind::kLost;
}
// Of an end: "evicted", "failed", "finished", "killed", "lost".
std::string_view EndName(size_t end);

struct TraceEvent {
  int64_t time_us = 0;  // 0: before the trace
  uint64_t place = 0;   // of the row, for who reports it; decides between events of one time
  uint32_t job = 0, task = kWholeJob;
  float cpu_cores = kAbsent, memory_bytes = kAbsent;  // asked for by the task; absent: not said
  TraceEventKind kind = TraceEventKind::kSubmit;
};

enum class ScalingMode : uint8_t { kUnknown, kOff, kConstrained, kFull };
inline constexpr size_t kScalingModes = 4;
std::string_view Name(ScalingMode mode);  // "unknown", "off", "constrained", "full"

// What is known of a job besides its events.
struct RecordedJob {
  std::string name = {}, user = {};
  Tier tier = Tier::kBatch;
  bool is_alloc_set = false, in_alloc_set = false;
  ScalingMode scaling = ScalingMode::kUnknown;
  uint32_t max_per_machine = 0;  // 0: any number
  // Of a job without events of tasks: how many there are, and what each asks for.
  uint32_t told_tasks = 0;
  float told_cpu_cores = 0, told_memory_bytes = 0;
  bool start_only = false;  // its submission is its start, since only that is recorded: it has no delay
};

struct EventHour {
  uint32_t jobs = 0, new_tasks = 0, tasks_again = 0;  // submissions
};

struct TierEvents {
  uint64_t jobs = 0, tasks = 0;          // that have events
  uint64_t submissions = 0, starts = 0;  // of tasks
  std::array<uint64_t, kTaskEnds> ends = {};
  double cpu_hours = 0, gib_hours = 0;  // asked for by running tasks
  // Seconds from when a job could be scheduled to its first start, of the jobs that came after the beginning of
  // the trace and started. In no order.
  std::vector<float> delays_s;
  uint64_t never_started = 0;  // of the jobs that came after the beginning
};

struct EventFigures {
  std::array<TierEvents, kTiers> tiers;  // without alloc sets
  std::map<int64_t, EventHour> hours;    // by hour of the trace; without what was there before it
  struct AllocSets {
    uint64_t collections = 0, sets = 0, production_sets = 0, jobs_inside = 0;
    // Asked for on machines: by alloc sets, and by tasks outside of them.
    double cpu_hours = 0, gib_hours = 0, others_cpu_hours = 0, others_gib_hours = 0;
  } allocs;
  std::array<uint64_t, kScalingModes> scaling_jobs = {};
  std::array<double, kScalingModes> scaling_cpu_hours = {};
  int64_t first_us = 0, last_us = 0;  // of the events after the beginning; both 0: there are none

  uint64_t jobs() const;
};

// One job over the trace. Times < 0: not known.
struct JobSpan {
  int64_t submit_us = -1, ready_us = -1, start_us = -1, end_us = -1;
  TraceEventKind end = TraceEventKind::kFinish;  // how the whole job ended, if an event says so
  uint32_t tasks = 0, live = 0;                  // live: submitted and not ended
  uint64_t runs = 0;                             // of tasks, that ended by themselves or were killed
  double run_us = 0;                             // their sum
  float cpu_cores = 0, memory_bytes = 0;         // the most that a task asked for when it came
  struct Change {
    int64_t time_us;
    float cpu_cores, memory_bytes;
  };
  std::vector<Change> changes;  // ascending; what its tasks asked for later
};

// Takes events in order of time. About 150 bytes a job, 40 a living task, 10 a task that was ever there.
class EventFold {
 public:
  // For what cannot be right: an end or a change of a task that is not there, a start without a submission or of
  // what runs, a submission of what is there. Those events count for nothing, but a start counts.
  using Odd = std::function<void(std::string_view cause, const TraceEvent& event)>;
  // `jobs` must outlive it.
  EventFold(const std::vector<RecordedJob>& jobs, Odd odd);

  void Take(const TraceEvent& event);
  // Once, after the last event.
  EventFigures Finish();
  // By job; once, after Finish.
  std::vector<JobSpan> TakeSpans() { return std::move(spans_); }

 private:
  struct Living {
    int64_t since_us = -1;    // runs; < 0: waits
    int64_t counted_us = -1;  // what it asked for is in the hours until then
    float cpu_cores = 0, memory_bytes = 0;
  };
  void TakeJob(const TraceEvent& event);
  void Submit(const TraceEvent& event, uint64_t key);
  void Start(const TraceEvent& event, uint64_t key);
  void End(const TraceEvent& event, uint64_t key);
  void Request(const TraceEvent& event, uint64_t key);
  void AddTold(uint32_t job);
  void AddRun(uint32_t job, const Living& task, int64_t until_us);
  static void Ask(const TraceEvent& event, Living& task);
  EventHour& HourOf(const TraceEvent& event);
  TierEvents& TierOf(uint32_t job) { return out_.tiers[static_cast<size_t>(jobs_[job].tier)]; }

  const std::vector<RecordedJob>& jobs_;
  const Odd odd_;
  std::vector<JobSpan> spans_;
  absl::flat_hash_map<uint64_t, Living> living_;  // by job and task
  absl::flat_hash_set<uint64_t> seen_;            // tasks that were submitted
  EventFigures out_;
};

}  // namespace taut::brain
