// Trace files to days of usage: what every verb that reads a trace does first.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/cell/recorded_machines.h"
#include "tools/sim/replay.h"
#include "tools/trace/job_days.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

// The trace options as written on the command line; texts are parsed by LoadTrace.
struct TraceArgs {
  std::vector<std::string> paths;
  std::string format = "auto";
  std::string from, to;
  int group = 1;
  bool strict = false;
  double unit_cpu_cores = 64;
  std::string unit_memory = "256GiB";
  std::string spill_memory = "512MiB";
  bool count_allocs = false;  // Google 2019: alloc instances instead of the tasks inside of them
};

// Whether the machines of the trace are read, too.
enum class WithMachines : uint8_t { kNo, kYes };

// A trace read whole, as the source of a replay.
class LoadedTrace final : public DaySource {
 public:
  explicit LoadedTrace(JobDayStore::Options options) : store_(std::move(options)) {}

  const std::vector<JobInfo>& jobs() const override { return store_.jobs(); }
  const std::vector<int32_t>& days() const override { return store_.days(); }
  int32_t last_day(JobId job) const override { return store_.last_day(job); }
  absl::StatusOr<std::vector<JobDay>> LoadDay(int32_t day) override { return store_.LoadDay(day); }

  JobDayStore& store() { return store_; }
  const JobDayStore& store() const { return store_; }
  ReadReport& report() { return report_; }
  const ReadReport& report() const { return report_; }
  // The job called `name`; NotFound names the nearest.
  absl::StatusOr<JobId> FindJob(const std::string& name) const;
  bool interrupted = false;          // reading was interrupted
  brain::RecordedMachines machines;  // empty unless asked for

 private:
  JobDayStore store_;
  ReadReport report_;
};

// InvalidArgument for arguments that make no sense.
absl::StatusOr<TraceOptions> ToTraceOptions(const TraceArgs& args);
// Reads with a progress line. InvalidArgument for arguments that make no sense.
absl::StatusOr<std::unique_ptr<LoadedTrace>> LoadTrace(const TraceArgs& args, bool quiet,
                                                       WithMachines with_machines = WithMachines::kNo);

// What was read and what was skipped, for people: a few lines.
std::string DescribeInput(const LoadedTrace& trace);

}  // namespace taut::tools
