// Generates a synthetic cell from a seed. Its usage resembles the usage of real jobs, for demonstrations,
// benchmarks and tests.
//
// The model (figures in docs/reference/traces.md) includes heavy-tailed job sizes, daily and weekly seasons, slow
// noise per job and task, spikes, and deploys that shift usage. Memory grows after a start or leaks, and cron jobs
// have bursts. Programs run repeatedly under one logical name, and jobs start or end within the period. Owners'
// limits are 46 to 60 % above the p95 of the job's usage, but a few owners requested too little memory. Usage is
// never capped at a limit.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

struct GenerateOptions {
  int jobs = 200;
  int days = 28;
  uint64_t seed = 1;
  int64_t start_s = 0;  // multiple of 300; midnight before a Wednesday in the model
  int max_tasks = 40;   // maximum number of tasks of a job
};

struct GeneratedJob {
  struct Row {
    int64_t start_s = 0, end_s = 0;  // time [start_s, end_s) within one window
    uint32_t task = 0;
    float cpu_mean = 0, cpu_peak = 0;        // amounts in cores
    float memory_mean = 0, memory_peak = 0;  // amounts in bytes
  };
  struct LimitChange {
    int64_t from_s = 0;
    float cpu_cores = 0, memory_bytes = 0;
  };
  JobId id;
  JobInfo info;
  uint32_t tasks = 1;
  float burst = 0;                  // sigma of the logarithm of the 1 s CPU samples within a window
  bool in_alloc = false;            // true: tasks run inside the instances of an alloc set
  std::vector<LimitChange> limits;  // limits, ascending by time; the first is in force from the first row on
  std::vector<Row> rows;            // usage rows, ordered by time and task
};

// Returns InvalidArgument for counts below 1, and if start_s is not a multiple of 300.
absl::Status Check(const GenerateOptions& options);

// Calls `take` for each job, ascending. Stops at the first error and returns it. Equal options result in equal
// jobs. Memory: one job. About 5 million rows/s.
absl::Status GenerateJobs(const GenerateOptions& options,
                          const std::function<absl::Status(const GeneratedJob&)>& take);

// Passes the rows of the cell to `sink`, job by job, with mean, peak and limit.
absl::Status GenerateCell(const GenerateOptions& options, TraceSink& sink);

// Percentiles of the 1 s CPU samples that a row contains, as fractions.
inline constexpr float kGeneratedFractions[20] = {0,    .1F,  .2F,  .3F,  .4F,  .5F,  .6F,  .7F,  .8F,  .9F,
                                                  .91F, .92F, .93F, .94F, .95F, .96F, .97F, .98F, .99F, 1};
// Computes the percentiles at kGeneratedFractions.
void GeneratedPercentiles(double mean, double burst, std::span<float, 20> out);

// Writes a CSV with the columns time,job,task,cpu_cores,memory_bytes,cpu_limit,memory_limit, job by job. Times are
// in seconds, and memory is the window's peak. Compresses with gzip if `path` ends in .gz.
absl::Status WriteGeneratedCsv(const GenerateOptions& options, const std::string& path);

// Writes the tables of a Google v3 cell, except machine_attributes, as .json.gz shards with `rows_per_shard` usage
// rows each. Creates `directory`. Amounts are relative to `units` and rounded to 10 binary digits, as in Google's
// trace. A task inside an alloc set appears twice: as a task, and in the alloc instance.
absl::Status WriteGeneratedGoogle2019(const GenerateOptions& options, const TraceOptions& units,
                                      const std::string& directory, int rows_per_shard = 1'000'000);

// Appends `row` as one line of instance_usage, with its newline, to `out`.
void AppendGoogle2019Usage(const GeneratedJob& job, const GeneratedJob::Row& row, const TraceOptions& units,
                           bool as_alloc, std::string& out);

}  // namespace taut::tools
