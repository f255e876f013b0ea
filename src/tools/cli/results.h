// A replay's result as a text table and as JSON.
#pragma once

#include <string>
#include <vector>

#include "common/model/usage.h"
#include "tools/sim/replay.h"

namespace taut::tools {

// "recorded OOM kills: 12 in 10 task-windows on 4 job-days; ..." with the line's end; "" if the trace does not
// say.
std::string RecordedText(const RecordedKills& recorded);

// One table a resource, a row a recommender, and below that of memory RecordedText; fits 100 columns. With
// `details` also which jobs have the OOM-days, what was promised and delivered, and what the columns mean.
std::string ResultTables(const ReplayResult& result, bool details);

// The same figures and more, for machines: an object with "lanes", each with its totals, and "jobs" for each
// lane if `with_jobs`. docs/reference/formats.md describes it. Deterministic.
std::string ResultJson(const ReplayResult& result, const std::vector<JobInfo>& jobs, bool with_jobs);

}  // namespace taut::tools
