// Formats a replay's result as a text table and as JSON.
#pragma once

#include <string>
#include <vector>

#include "common/model/usage.h"
#include "tools/sim/replay.h"

namespace taut::tools {

// Returns a line such as "recorded OOM kills: 12 in 10 task-windows on 4 job-days; ..."; "" if the trace does not
// count OOM kills.
std::string RecordedText(const RecordedKills& recorded);

// Returns one table per resource with a row per recommender, and RecordedText() below the table of memory. With
// `details`, adds the jobs with OOM-days, promised and observed rates, and an explanation of the columns. Lines
// have at most 100 columns.
std::string ResultTables(const ReplayResult& result, bool details);

// Returns the result as JSON: an object with "lanes", each with its totals, and with "jobs" if `with_jobs`.
// docs/reference/formats.md describes the format. Equal results have equal JSON.
std::string ResultJson(const ReplayResult& result, const std::vector<JobInfo>& jobs, bool with_jobs);

}  // namespace taut::tools
