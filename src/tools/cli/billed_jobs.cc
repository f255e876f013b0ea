#include "tools/cli/billed_jobs.h"

#include <map>

#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/commands.h"
#include "tools/cli/terminal.h"

namespace taut::tools {

absl::StatusOr<PriceFileText> ReadPrices(const std::string& path) {
  PriceFileText out;
  out.path = path;
  absl::StatusOr<std::string> text = server::ReadPriceText(path);
  absl::StatusOr<brain::Pricing> pricing =
      text.ok() ? server::ParsePriceFile(*text, path) : absl::StatusOr<brain::Pricing>(text.status());
  if (!pricing.ok()) return absl::InvalidArgumentError(StrCat("--prices: ", Message(pricing.status())));
  out.text = *std::move(text);
  out.pricing = *std::move(pricing);
  return out;
}

absl::Status CheckPriceTimes(const PriceFileText& prices, const LoadedTrace& trace) {
  if (trace.days().empty() || !LooksLikeUnixTime(int64_t{trace.days().front()} * kDaySeconds))
    return absl::OkStatus();
  const absl::Status dates =
      server::ParsePriceFile(prices.text, prices.path, server::PriceClock::kDates).status();
  return dates.ok() ? dates : absl::InvalidArgumentError(StrCat("--prices: ", Message(dates)));
}

BilledGroups AssignGroups(const brain::Pricing& pricing, const std::vector<JobInfo>& jobs) {
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

}  // namespace taut::tools
