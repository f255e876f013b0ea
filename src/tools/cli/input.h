// Loads trace files as days of usage, for all commands that read a trace.
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

// The trace options as typed. LoadTrace() parses the texts.
struct TraceArgs {
  std::vector<std::string> paths;
  std::string format = "auto";
  std::string from, to;
  int group = 1;
  bool strict = false;
  double unit_cpu_cores = 64;
  std::string unit_memory = "256GiB";
  std::string spill_memory = "512MiB";
  bool count_allocs = false;  // true (Google 2019): count alloc instances instead of their tasks
};

// Selects whether the machines of the trace are read, too.
enum class WithMachines : uint8_t { kNo, kYes };

// A trace in memory and in spill files, as the source of a replay.
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
  // Returns the job named `name`; NotFound, with the most similar name, if no job has this name.
  absl::StatusOr<JobId> FindJob(const std::string& name) const;
  bool interrupted = false;          // true if reading was interrupted
  brain::RecordedMachines machines;  // machines of the trace; empty without WithMachines::kYes

 private:
  JobDayStore store_;
  ReadReport report_;
};

// Return the value of an option in seconds since the epoch, or in bytes; InvalidArgument, with the option, for an
// invalid value.
absl::StatusOr<int64_t> TimeOption(std::string_view option, const std::string& text);
absl::StatusOr<double> BytesOption(std::string_view option, const std::string& text);
// Converts the arguments. If an option is invalid, returns InvalidArgument with its name.
absl::StatusOr<TraceOptions> ToTraceOptions(const TraceArgs& args);
// Reads the trace, or the usage of the console in use (console.h), and shows a progress line. Returns
// InvalidArgument for invalid arguments, and errors of ReadTrace().
absl::StatusOr<std::unique_ptr<LoadedTrace>> LoadTrace(const TraceArgs& args, bool quiet,
                                                       WithMachines with_machines = WithMachines::kNo);

// Returns true if `paths` is the path kGivenUsage and a console with usage is in use (console.h).
bool IsGivenUsage(const std::vector<std::string>& paths);

// Counts of the input that was read.
struct InputCounts {
  ReadReport read;
  FoldReport fold;
  uint64_t jobs = 0;
  int32_t first_day = 0, last_day = -1;  // last_day < first_day: no day
};
// Returns lines for users that count read and skipped rows.
std::string DescribeInput(const InputCounts& counts);
std::string DescribeInput(const LoadedTrace& trace);

}  // namespace taut::tools
