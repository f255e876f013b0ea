// Functions that the commands about money share: they assign jobs to groups, and compute a recommender's limits.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/config/price_file.h"
#include "tools/cli/input.h"
#include "tools/sim/bill_replay.h"

namespace taut::tools {

// Path and content of the file of --prices.
struct PriceFileText {
  std::string path, text;
  brain::Pricing pricing;
};
// Reads a price file. Returns InvalidArgument with the option and the path if the file cannot be read.
absl::StatusOr<PriceFileText> ReadPrices(const std::string& path);
// Returns InvalidArgument if the price file uses durations as start times and the times of the trace are Unix
// times.
absl::Status CheckPriceTimes(const PriceFileText& prices, const LoadedTrace& trace);

struct BilledGroups {
  std::vector<std::string> groups;  // name of each group, by number
  std::vector<BilledJob> jobs;      // group and tier of each job, by JobId
};
// Assigns jobs to groups and tiers by the rules of the price file. Numbers the groups in the order of their first
// job.
BilledGroups AssignGroups(const brain::Pricing& pricing, const std::vector<JobInfo>& jobs);

struct RecommendArgs {
  std::string recommender, warmup;  // texts of the command line
  bool quiet = false;
};
struct RecommendedLimits {
  LimitsInForce limits;
  int64_t scored_from_s = 0;          // end of the warm-up
  PerResource<double> exceeded = {};  // share of job-days with usage above the limit
};
// Replays the recommender and shows a progress line. Returns Cancelled after an interrupt, and errors of
// ToReplayOptions() and Replay().
absl::StatusOr<RecommendedLimits> RecommendLimits(const RecommendArgs& args, LoadedTrace& trace);

}  // namespace taut::tools
