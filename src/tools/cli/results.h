// Formats a replay's result as a text table and as JSON.
#pragma once

#include <string>
#include <vector>

#include "common/model/usage.h"
#include "tools/sim/replay.h"

namespace taut::tools {

// Returns "recorded OOM kills: 12 in 10 task-windows on 4 job-days; ..." and a newline; "" if the trace has
// no counts of OOM kills.
std::string RecordedText(const RecordedKills& recorded);

// Returns one table per resource with a row per recommender, and RecordedText below the table of memory. Fits
// 100 columns. With `details`, also returns the jobs with OOM-days, promised and observed rates, and the
// meaning of the columns.
std::string ResultTables(const ReplayResult& result, bool details);

// Returns the result as JSON for programs: an object with "lanes", each with its totals, and with "jobs" for
// each lane if `with_jobs` is true. docs/reference/formats.md describes the format. Deterministic.
std::string ResultJson(const ReplayResult& result, const std::vector<JobInfo>& jobs, bool with_jobs);

}  // namespace taut::tools
