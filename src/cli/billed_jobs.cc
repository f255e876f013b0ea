#include "cli/billed_jobs.h"

#include <map>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "fmt/format.h"

namespace taut {

BilledGroups AssignGroups(const Pricing& pricing, const std::vector<JobInfo>& jobs) {
  BilledGroups out;
  std::map<std::string, uint32_t> numbers;
  for (const JobInfo& job : jobs) {
    const auto [it, is_new] =
        numbers.try_emplace(pricing.GroupOf(job.name), static_cast<uint32_t>(out.groups.size()));
    if (is_new) out.groups.push_back(it->first);
    out.jobs.push_back({it->second, pricing.TierOf(job.name, job.priority)});
  }
  return out;
}

absl::StatusOr<RecommendedLimits> RecommendLimits(const RecommendArgs& args, LoadedTrace& trace) {
  EngineArgs engine;
  engine.recommenders = {args.recommender};
  engine.warmup = args.warmup;
  const absl::StatusOr<ReplayOptions> options = ToReplayOptions(engine);
  if (!options.ok()) return options.status();
  RecommendedLimits out;
  ProgressLine progress(args.quiet);
  ReplayHooks hooks;
  hooks.on_change = [&](const LimitChange& change) { return out.limits.Add(change), absl::OkStatus(); };
  hooks.on_progress = [&](uint64_t done, uint64_t total, uint64_t) {
    progress.Update(fmt::format("replaying day {} of {}", done, total),
                    static_cast<double>(done) / static_cast<double>(total));
  };
  hooks.should_stop = Interrupted;
  const absl::StatusOr<ReplayResult> result = Replay(trace, *options, hooks);
  if (!result.ok()) return result.status();
  if (result->partial) return absl::CancelledError("interrupted: there is no result");
  if (absl::Status s = CheckScored(*options, *result); !s.ok()) return s;
  out.scored_from_s = int64_t{result->first_scored_day} * kDaySeconds;
  for (const LaneResult& lane : result->lanes)
    out.exceeded[static_cast<size_t>(lane.resource)] = lane.summary.totals.oom_day_share();
  return out;
}

}  // namespace taut
