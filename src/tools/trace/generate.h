// Generates a cell: seeded jobs whose usage has the features of real jobs, for demonstrations, benchmarks and
// tests.
//
// The features (docs/reference/traces.md gives reasons): heavy-tailed job sizes, daily and weekly seasons,
// slow noise per job and per task, spikes, deploys that shift usage, memory that warms up or leaks, cron
// bursts. Programs run repeatedly under one logical name, and jobs begin or end inside the period. Owners'
// limits leave 46 to 60 % above the p95 of the job's usage, and a few owners requested too little memory.
// Usage is never cut at a limit.
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
  int64_t start_s = 0;  // a multiple of 300; treated as midnight before a Wednesday
  int max_tasks = 40;   // most tasks of a job
};

struct GeneratedJob {
  struct Row {
    int64_t start_s = 0, end_s = 0;  // inside one window
    uint32_t task = 0;
    float cpu_mean = 0, cpu_peak = 0;        // cores
    float memory_mean = 0, memory_peak = 0;  // bytes
  };
  struct LimitChange {
    int64_t from_s = 0;
    float cpu_cores = 0, memory_bytes = 0;
  };
  JobId id;
  JobInfo info;
  uint32_t tasks = 1;
  float burst = 0;        // variation of CPU within a window: sigma of the logarithm of the 1 s samples
  bool in_alloc = false;  // true if the job's tasks run inside the instances of an alloc set
  std::vector<LimitChange> limits;  // ascending; the first limit is in force from the first row on
  std::vector<Row> rows;            // rows ordered by time, then task
};

// Returns InvalidArgument for counts below 1, and for a start that is not a multiple of 300.
absl::Status Check(const GenerateOptions& options);

// Calls `take` for each job, ascending; the same options produce the same bytes. Memory: one job at a time.
// Stops at the first error and returns it. About 5 million rows/s.
absl::Status GenerateJobs(const GenerateOptions& options,
                          const std::function<absl::Status(const GeneratedJob&)>& take);

// Generates the cell as rows with mean, peak and limit, job after job.
absl::Status GenerateCell(const GenerateOptions& options, TraceSink& sink);

// Fractions at which the percentiles of a row's 1 s CPU samples are generated.
inline constexpr float kGeneratedFractions[20] = {0,    .1F,  .2F,  .3F,  .4F,  .5F,  .6F,  .7F,  .8F,  .9F,
                                                  .91F, .92F, .93F, .94F, .95F, .96F, .97F, .98F, .99F, 1};
// Computes the percentiles at kGeneratedFractions.
void GeneratedPercentiles(double mean, double burst, std::span<float, 20> out);

// Writes time,job,task,cpu_cores,memory_bytes,cpu_limit,memory_limit (seconds; memory is the window's peak),
// job after job; with gzip if `path` ends in .gz.
absl::Status WriteGeneratedCsv(const GenerateOptions& options, const std::string& path);

// Writes the tables of a Google v3 cell, except machine_attributes, as .json.gz shards. Creates `directory`
// and writes the shards into it. Figures are normalised by the units of `units` and rounded to 10 binary
// digits, as in Google's trace. Tasks inside alloc sets appear twice: as a task, and in the alloc instance. A
// shard has `rows_per_shard` usage rows.
absl::Status WriteGeneratedGoogle2019(const GenerateOptions& options, const TraceOptions& units,
                                      const std::string& directory, int rows_per_shard = 1'000'000);

// Appends one instance_usage line of `row`, with the newline, to `out`.
void AppendGoogle2019Usage(const GeneratedJob& job, const GeneratedJob::Row& row, const TraceOptions& units,
                           bool as_alloc, std::string& out);

}  // namespace taut::tools
