// Chooses jobs whose history is informative, and collects their usage and limits for the report.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cli/decisions.h"
#include "tools/cli/input.h"
#include "tools/report/html_report.h"
#include "tools/sim/replay.h"

namespace taut::tools {

struct StoryChoice {
  JobId job;
  Resource resource;
  std::string why;
};

// Returns at most `count` pairs of job and resource without repeating a job. Chooses the largest savings, the most
// OOM-days, the most changes, the largest footprints and the largest increases under `shown`. The jobs in `named`
// are first, with every replayed resource, even if these pairs are more than `count`.
std::vector<StoryChoice> ChooseStories(const ReplayResult& result, brain::PolicyPair shown,
                                       const std::vector<JobId>& named, size_t count);

// Last reason of each recommender, by job and resource.
using LastReasons = std::map<std::pair<uint32_t, Resource>, std::vector<Reason>>;

// Reads the usage of the chosen jobs again, day by day, and their limits from `log`. Returns errors of the trace
// and of the log.
absl::StatusOr<std::vector<JobStory>> TellStories(LoadedTrace& trace, const ReplayResult& result,
                                                  DecisionLog& log, const std::vector<StoryChoice>& choices,
                                                  const LastReasons& reasons);

}  // namespace taut::tools
