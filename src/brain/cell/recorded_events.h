// Folds the event tables of a trace, in order of time, into rates, delays, ends and amounts by tier. Also yields
// one row per job from which a cell can be built.
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

inline constexpr uint32_t kWholeJob = UINT32_MAX;  // value of TraceEvent::task for an event of the whole job

enum class TraceEventKind : uint8_t {
  kSubmit,
  kReady,  // the task or job can be scheduled; from now on, only the scheduler delays its start
  kStart,
  kEvict,
  kFail,
  kFinish,
  kKill,
  kLost,
  kRequest,  // the requested amounts change
};
inline constexpr size_t kTaskEnds = 5;
constexpr bool IsEnd(TraceEventKind kind) {
  return kind >= TraceEventKind::kEvict && kind <= TraceEventKind::kLost;
}
// Returns the name of an end, counted from kEvict: "evicted", "failed", "finished", "killed" or "lost".
std::string_view EndName(size_t end);

// A row of an event table: an event of a task or of a whole job.
struct TraceEvent {
  int64_t time_us = 0;  // microseconds since the start of the trace; 0 for events before the trace
  uint64_t place = 0;   // position of the row, for reports and for the order of events of equal time
  uint32_t job = 0, task = kWholeJob;
  float cpu_cores = kAbsent, memory_bytes = kAbsent;  // requested amounts; kAbsent: not in the row
  TraceEventKind kind = TraceEventKind::kSubmit;
};

enum class ScalingMode : uint8_t { kUnknown, kOff, kConstrained, kFull };
inline constexpr size_t kScalingModes = 4;
std::string_view Name(ScalingMode mode);  // returns "unknown", "off", "constrained" or "full"

// Properties of a job that are not events.
struct RecordedJob {
  std::string name = {}, user = {};
  Tier tier = Tier::kBatch;
  bool is_alloc_set = false, in_alloc_set = false;
  ScalingMode scaling = ScalingMode::kUnknown;
  uint32_t max_per_machine = 0;  // most tasks of the job on one machine; 0: unlimited
  // Number of tasks and request of each task, for a job whose tasks have no events.
  uint32_t told_tasks = 0;
  float told_cpu_cores = 0, told_memory_bytes = 0;
  bool start_only = false;  // true if only the start is recorded; the start then counts as submission
};

// Numbers of submissions in one hour.
struct EventHour {
  uint32_t jobs = 0, new_tasks = 0, tasks_again = 0;  // numbers of jobs, new tasks and repeated submissions
};

// Figures of one tier.
struct TierEvents {
  uint64_t jobs = 0, tasks = 0;          // jobs and tasks with events
  uint64_t submissions = 0, starts = 0;  // numbers of submissions and starts of tasks
  std::array<uint64_t, kTaskEnds> ends = {};
  double cpu_hours = 0, gib_hours = 0;  // requests of running tasks, integrated over time
  // Seconds from the time at which a job could be scheduled to its first start, in no order. Contains only jobs
  // that were submitted after the start of the trace and started.
  std::vector<float> delays_s;
  uint64_t never_started = 0;  // jobs that were submitted after the start of the trace and never started
};

// Results of the fold over all jobs.
struct EventFigures {
  std::array<TierEvents, kTiers> tiers;  // figures by tier, without alloc sets
  std::map<int64_t, EventHour> hours;    // figures by hour of the trace, without submissions before the trace
  struct AllocSets {
    uint64_t collections = 0, sets = 0, production_sets = 0, jobs_inside = 0;
    // Requests of alloc sets, and of tasks outside alloc sets, integrated over time.
    double cpu_hours = 0, gib_hours = 0, others_cpu_hours = 0, others_gib_hours = 0;
  } allocs;
  std::array<uint64_t, kScalingModes> scaling_jobs = {};
  std::array<double, kScalingModes> scaling_cpu_hours = {};
  int64_t first_us = 0, last_us = 0;  // first and last event after the start of the trace; 0: no event

  // Returns the number of jobs of all tiers.
  uint64_t jobs() const;
};

// The times of one job in the trace, microseconds; < 0 if unknown.
struct JobSpan {
  int64_t submit_us = -1, ready_us = -1, start_us = -1, end_us = -1;
  TraceEventKind end = TraceEventKind::kFinish;  // end of the job, if an event of the whole job reports it
  uint32_t tasks = 0, live = 0;  // number of tasks; number of tasks that were submitted and have not ended
  uint64_t runs = 0;             // number of runs of the job's tasks that finished, failed or were killed
  double run_us = 0;             // total time of these runs, microseconds
  float cpu_cores = 0, memory_bytes = 0;  // largest request of a task at its submission
  struct Change {
    int64_t time_us;
    float cpu_cores, memory_bytes;
  };
  std::vector<Change> changes;  // later requests of the job's tasks, ascending by time
};

// Folds events, which must arrive in order of time. Uses about 150 bytes per job, 40 bytes per live task and 10
// bytes per task ever submitted. Not thread-safe.
class EventFold {
 public:
  // Receives inconsistent events:
  // - an end or change of a task that is not live,
  // - a start of a task that was not submitted or already runs,
  // - a submission of a live task.
  // These events are ignored, except for a start without a submission, which counts.
  using Odd = std::function<void(std::string_view cause, const TraceEvent& event)>;
  // `jobs` must outlive the fold.
  EventFold(const std::vector<RecordedJob>& jobs, Odd odd);

  // Adds an event. Amortized O(1).
  void Take(const TraceEvent& event);
  // Returns the figures. Call once, after the last event.
  EventFigures Finish();
  // Returns one span for each job. Call once, after Finish.
  std::vector<JobSpan> TakeSpans() { return std::move(spans_); }

 private:
  struct Living {
    int64_t since_us = -1;    // start of the task's run; < 0 if the task is pending
    int64_t counted_us = -1;  // time up to which the task's requests are counted
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
  absl::flat_hash_map<uint64_t, Living> living_;  // live tasks by EventKey (job and task)
  absl::flat_hash_set<uint64_t> seen_;            // EventKey of every task that was submitted
  EventFigures out_;
};

}  // namespace taut::brain
