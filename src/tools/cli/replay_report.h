// Collects what the report of a replay shows, for `taut replay --report` and for the Python module.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cli/decisions.h"
#include "tools/cli/input.h"
#include "tools/cli/stories.h"
#include "tools/report/html_report.h"
#include "tools/sim/replay.h"

namespace taut::tools {

// Maximum number of jobs for which a replay stores reasons for the report.
inline constexpr size_t kMaxJobsWithReasons = 5000;

// A finished replay. The referenced objects must outlive the report's input.
struct FinishedReplay {
  LoadedTrace& trace;
  const ReplayOptions& options;
  const ReplayResult& result;
};

// Returns the line of conditions: scored time, warm-up, feedback, mode. A partial replay has a second line that
// states this.
std::string ReplayConditions(const ReplayOptions& options, const ReplayResult& result);

// Returns the input of the report without a title and a command. `shown` is the recommender that the report shows
// first; the jobs of `named` have a story in any case. Reads `log`. Returns errors of TellStories().
absl::StatusOr<ReportInput> ReportInputOf(const FinishedReplay& replay, brain::PolicyPair shown,
                                          const std::vector<JobId>& named, DecisionLog& log,
                                          const LastReasons& reasons);

}  // namespace taut::tools
