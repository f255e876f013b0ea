#include "tools/sim/economy_replay.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "brain/economy/reclaim_window.h"
#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "common/base/worker_pool.h"
#include "common/model/units.h"

namespace taut::tools {
namespace {

// Returns the number of the month (UTC) of a day: year * 12 + month - 1.
int32_t MonthOf(int32_t day) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
  return static_cast<int32_t>(date.year()) * 12 + static_cast<int32_t>(static_cast<unsigned>(date.month())) -
         1;
}

PoolAmounts CapacityOf(const PerResource<double>& capacity) {
  PerResource<double> units = capacity;
  for (const Resource r : kResources) units[IndexOf(r)] *= UnitOf(r).accounted;
  PoolAmounts out;
  for (size_t i = 0; i < kNumResources; ++i)
    out[i] = std::max<int64_t>(1, std::llround(std::min(units[i], 1e12) * kWindowSeconds));
  return out;
}

PoolJobStep StepOf(const brain::UsageEntry& entry) {
  PoolJobStep out;
  out.job = entry.job;
  for (size_t i = 0; i < kNumResources; ++i) {
    out.ask[i] = static_cast<int64_t>(entry.of[i].reservation);
    out.use[i] = static_cast<int64_t>(entry.of[i].usage);
  }
  return out;
}

// State of the pool under one policy.
struct Track {
  // Absent during the reserved tiers, which all policies share.
  std::optional<SellerPolicy> policy;
  std::vector<PoolLines> lines;            // sums of the simulated tiers by step
  std::vector<std::vector<SoldJob>> sold;  // sold jobs by tier
  std::vector<EconomyTier> tiers;

  // State of the tier that is being simulated:
  PoolFuture future;
  std::unique_ptr<TierSimulation> run;
  std::vector<SaleDecision> decisions;
  absl::Status status;
};

class EconomyRun {
 public:
  EconomyRun(DaySource& source, const brain::PriceSheet& sheet, std::span<const BilledJob> jobs,
             const EconomyOptions& options, const EconomyHooks& hooks)
      : source_(source),
        sheet_(sheet),
        jobs_(jobs),
        options_(options),
        hooks_(hooks),
        workers_(options.threads) {}

  absl::StatusOr<EconomyResult> Run() {
    if (absl::Status s = Check(); !s.ok()) return s;
    if (absl::Status s = Survey(); !s.ok()) return s;
    if (absl::Status s = CheckQuota(); !s.ok()) return s;
    tracks_.emplace_back();
    tracks_[0].lines.resize(steps());
    tracks_[0].tiers.resize(sheet_.tiers.size());
    tracks_[0].sold.resize(sheet_.tiers.size());
    for (size_t tier = 0; tier < sheet_.tiers.size(); ++tier) {
      if (options_.tiers[tier] != brain::TierSale::kReserved && !tracks_[0].policy.has_value()) Split();
      if (absl::Status s = RunTier(tier); !s.ok()) return s;
    }
    if (!tracks_[0].policy.has_value()) Split();
    for (Track& track : tracks_) {
      if (absl::Status s = BillTrack(track); !s.ok()) return s;
    }
    return std::move(out_);
  }

 private:
  size_t steps() const { return period_.size(); }
  int32_t first_day() const { return source_.days().front(); }
  int32_t last_day() const { return source_.days().back(); }

  absl::Status Check() const {
    if (source_.days().empty())
      return absl::InvalidArgumentError("the trace has no usage: there is nothing to sell");
    if (options_.policies.empty()) return absl::InvalidArgumentError("no policy is asked for");
    if (options_.tiers.size() != sheet_.tiers.size())
      return absl::InvalidArgumentError("the tiers that are sold are not those of the price sheet");
    for (size_t tier = 1; tier < options_.tiers.size(); ++tier) {
      if (options_.tiers[tier] != brain::TierSale::kReserved ||
          options_.tiers[tier - 1] == brain::TierSale::kReserved)
        continue;
      return absl::InvalidArgumentError(
          StrCat("tier \"", sheet_.tiers[tier].name, "\" is reserved and \"", sheet_.tiers[tier - 1].name,
                 "\" above it is ", Name(options_.tiers[tier - 1]), "; expected the reserved tiers first"));
    }
    for (size_t tier = 0; tier < options_.tiers.size(); ++tier) {
      if (options_.tiers[tier] == brain::TierSale::kSlack && sheet_.tiers[tier].availability_ppm == 0)
        return absl::InvalidArgumentError(StrCat("tier \"", sheet_.tiers[tier].name,
                                                 "\" is slack and promises no availability; expected spare"));
    }
    const int64_t days = int64_t{last_day()} - first_day() + 1;
    if (options_.warmup_s < 0 || options_.warmup_s >= days * kDaySeconds) {
      return absl::InvalidArgumentError(StrCat("invalid warm-up ", FormatDuration(options_.warmup_s),
                                               ": expected less than the trace's ", days, " days"));
    }
    if (days > 36'500)
      return absl::InvalidArgumentError(StrCat("the trace has ", days, " days; allowed: 36500"));
    return absl::OkStatus();
  }

  // Reads the days once: lifetimes of the jobs, months of the steps, and capacity. Must run first, because a
  // capacity given as a share depends on the highest sum of limits in the whole trace.
  absl::Status Survey() {
    out_.start_s = int64_t{first_day()} * kDaySeconds;
    out_.count_from = static_cast<int32_t>(options_.warmup_s / kWindowSeconds);
    out_.tiers = options_.tiers;
    for (int32_t day = first_day(); day <= last_day(); ++day)
      period_.insert(period_.end(), kWindowsPerDay, MonthOf(day));
    out_.measured.resize(steps());
    lives_.resize(jobs_.size());
    asks_.resize(jobs_.size());
    for (size_t j = 0; j < jobs_.size(); ++j) lives_[j].group = jobs_[j].group;
    std::vector<PoolAmounts> asked(steps());
    const absl::Status s = ForEachDay([&](int32_t, const std::vector<JobDay>& days) {
      for (const JobDay& day : days) {
        for (const JobWindow& window : day.windows) {
          const auto entry = EntryOf(day, window, jobs_[day.job.value], nullptr);
          if (!entry.has_value()) continue;
          const int32_t step = StepAt(*entry);
          PoolJob& life = lives_[entry->job];
          if (NeedsAsks(entry->tier)) AddAsk(day, window, life, step);
          if (life.first_step < 0) life.first_step = step;
          life.last_step = std::max(life.last_step, step);
          out_.measured[static_cast<size_t>(step)] = true;
          Plus(asked[static_cast<size_t>(step)], StepOf(*entry).ask);
        }
      }
      return absl::OkStatus();
    });
    if (!s.ok()) return s;
    if (options_.capacity.has_value()) {
      out_.capacity = CapacityOf(*options_.capacity);
      return absl::OkStatus();
    }
    for (size_t i = 0; i < kNumResources; ++i) {
      int64_t most = 0;
      for (const PoolAmounts& a : asked) most = std::max(most, a[i]);
      out_.capacity[i] =
          std::max<int64_t>(1, std::llround(static_cast<double>(most) * options_.capacity_share));
    }
    return absl::OkStatus();
  }

  bool NeedsAsks(size_t tier) const {
    return options_.tiers[tier] == brain::TierSale::kSlack &&
           std::ranges::find(options_.policies, SellerPolicy::kClairvoyant) != options_.policies.end();
  }
  // Records the job's request in this step for the clairvoyant policy. `life` must not include the step yet, so
  // that a gap before the step is detected.
  void AddAsk(const JobDay& day, const JobWindow& window, const PoolJob& life, int32_t step) {
    const auto entry = EntryOf(day, window, jobs_[day.job.value], options_.limits);
    std::vector<AskChange>& asks = asks_[day.job.value];
    const bool after_gap = life.first_step >= 0 && life.last_step + 1 < step;
    if (after_gap) asks.push_back({life.last_step + 1, {-1, -1}});
    const PoolAmounts ask = StepOf(*entry).ask;
    if (asks.empty() || asks.back().ask != ask) asks.push_back({step, ask});
  }

  bool HasQuota(size_t tier) const {
    return options_.quota != nullptr && options_.quota->TierNamed(sheet_.tiers[tier].name).has_value();
  }
  absl::Status CheckQuota() const {
    for (size_t j = 0; j < jobs_.size(); ++j) {
      if (lives_[j].first_step < 0 || !HasQuota(jobs_[j].tier)) continue;
      const absl::Status s = options_.quota->GroupNamed(options_.groups[jobs_[j].group]).status();
      if (s.ok()) continue;
      return absl::InvalidArgumentError(
          StrCat("the quota of job \"", source_.jobs()[j].name, "\": ", Message(s)));
    }
    return absl::OkStatus();
  }

  // Calls `take` for each day from the first to the last. Includes days without usage, because sellers and reclaim
  // delays depend on every step.
  absl::Status ForEachDay(const std::function<absl::Status(int32_t, const std::vector<JobDay>&)>& take) {
    const double passes = 1 + static_cast<double>(sheet_.tiers.size() + options_.policies.size());
    size_t next = 0;
    for (int32_t day = first_day(); day <= last_day(); ++day) {
      if (hooks_.should_stop && hooks_.should_stop())
        return absl::CancelledError("interrupted: there is no result");
      std::vector<JobDay> days;
      if (next < source_.days().size() && source_.days()[next] == day) {
        absl::StatusOr<std::vector<JobDay>> loaded = source_.LoadDay(day);
        if (!loaded.ok()) return loaded.status();
        days = *std::move(loaded);
        ++next;
      }
      if (absl::Status s = take(day, days); !s.ok()) return s;
      const double done = static_cast<double>(day - first_day() + 1) / (last_day() - first_day() + 1);
      if (hooks_.on_progress) hooks_.on_progress((passes_done_ + done) / passes);
    }
    ++passes_done_;
    return absl::OkStatus();
  }

  // Copies the state after the reserved tiers for each policy. From then on each policy has its own pool.
  void Split() {
    out_.reserved.reserve(steps());
    for (const PoolLines& lines : tracks_[0].lines) out_.reserved.push_back(lines.reservation);
    const Track reserved = std::move(tracks_[0]);
    tracks_.clear();
    for (const SellerPolicy policy : options_.policies) {
      Track& track = tracks_.emplace_back();
      track.policy = policy;
      track.lines = reserved.lines;
      track.sold = reserved.sold;
      track.tiers = reserved.tiers;
    }
  }

  absl::Status RunTier(size_t tier) {
    for (Track& track : tracks_) {
      if (absl::Status s = Begin(tier, track); !s.ok()) return s;
    }
    const absl::Status s =
        ForEachDay([&](int32_t day, const std::vector<JobDay>& days) { return RunDay(tier, day, days); });
    if (!s.ok()) return s;
    for (Track& track : tracks_) {
      track.run->Finish();
      track.tiers[tier].totals = track.run->Totals();
      track.sold[tier].assign(track.run->jobs().begin(), track.run->jobs().end());
      track.run.reset();
    }
    return absl::OkStatus();
  }

  absl::Status Begin(size_t tier, Track& track) {
    const brain::TierSale sale = options_.tiers[tier];
    TierSimulationOptions run;
    run.capacity = out_.capacity;
    run.availability_ppm = sheet_.tiers[tier].availability_ppm;
    run.reclaim_steps = options_.reclaim_s / kWindowSeconds;
    run.count_from = out_.count_from;
    run.patience_steps = static_cast<int32_t>(options_.patience_s / kWindowSeconds);
    run.reclaimable = sale != brain::TierSale::kReserved;
    run.sale_from = run.reclaimable ? out_.count_from : 0;
    run.period = period_;
    TierSellerOptions seller;
    seller.capacity = out_.capacity;
    seller.availability_ppm = sale == brain::TierSale::kSlack ? run.availability_ppm : brain::kWholePpm;
    seller.horizon_steps = options_.horizon_s / kWindowSeconds;
    seller.reclaim_steps = run.reclaim_steps;
    SellerPolicy policy = SellerPolicy::kUnreserved;
    if (run.reclaimable) policy = *track.policy;
    if (sale == brain::TierSale::kSpare && policy != SellerPolicy::kNone) policy = SellerPolicy::kAll;
    if (policy == SellerPolicy::kClairvoyant) SeeFuture(track, run.reclaim_steps);
    absl::StatusOr<std::unique_ptr<TierSeller>> made = NewTierSeller(policy, seller, &track.future);
    if (!made.ok()) return made.status();
    auto quota = HasQuota(tier)
                     ? std::make_unique<TierQuota>(*options_.quota, sheet_.tiers[tier].name, options_.groups)
                     : nullptr;
    track.run = std::make_unique<TierSimulation>(run, lives_, *std::move(made), std::move(quota));
    return absl::OkStatus();
  }

  void SeeFuture(Track& track, int64_t reclaim_steps) const {
    track.future.period = period_;
    track.future.asks = asks_;
    for (size_t i = 0; i < kNumResources; ++i) {
      brain::ReclaimWindow window(reclaim_steps, brain::ReclaimReading::kKept);
      track.future.available[i].clear();
      for (size_t step = 0; step < steps(); ++step) {
        const double left = static_cast<double>(out_.capacity[i]) - HigherUse(track, step)[i];
        track.future.available[i].push_back(window.Add(left < 0 ? 0 : left));
      }
    }
  }

  PerResource<double> HigherUse(const Track& track, size_t step) const {
    if (!out_.measured[step]) return {std::nan(""), std::nan("")};
    const PoolAmounts& use = track.lines[step].usage;
    return {static_cast<double>(use[0]), static_cast<double>(use[1])};
  }

  absl::Status RunDay(size_t tier, int32_t day, const std::vector<JobDay>& days) {
    std::vector<std::vector<PoolJobStep>> of_window(kWindowsPerDay);
    for (const JobDay& job : days) {
      if (jobs_[job.job.value].tier != tier) continue;
      for (const JobWindow& window : job.windows) {
        const auto entry = EntryOf(job, window, jobs_[job.job.value], options_.limits);
        if (!entry.has_value()) continue;
        const int64_t at = (entry->start_s - int64_t{day} * kDaySeconds) / kWindowSeconds;
        of_window[static_cast<size_t>(at)].push_back(StepOf(*entry));
      }
    }
    // Tracks share no mutable state. Their decisions are reported after the loop, so that the order does not
    // depend on threads.
    workers_.ForEach(tracks_.size(), [&](size_t i) {
      Track& track = tracks_[i];
      size_t step = static_cast<size_t>(day - first_day()) * kWindowsPerDay;
      for (const std::vector<PoolJobStep>& jobs : of_window) {
        PoolLines& all = track.lines[step];
        PoolLines lines;
        track.status.Update(track.run->Step({HigherUse(track, step), all.reservation, jobs}, lines,
                                            hooks_.on_decision ? &track.decisions : nullptr));
        if (!track.status.ok()) return;
        Plus(all.usage, lines.usage);
        Plus(all.allocation, lines.allocation);
        Plus(all.reservation, lines.reservation);
        ++step;
      }
    });
    for (Track& track : tracks_) {
      if (!track.status.ok()) return track.status;
      for (SaleDecision& sale : track.decisions)
        hooks_.on_decision({track.policy, static_cast<uint16_t>(tier), std::move(sale)});
      track.decisions.clear();
    }
    return absl::OkStatus();
  }

  absl::Status BillTrack(Track& track) {
    std::vector<const SoldJob*> of_job(jobs_.size());
    for (const std::vector<SoldJob>& sold : track.sold) {
      for (const SoldJob& job : sold) of_job[job.job] = &job;
    }
    // The availability of a month applies only from the grant of the job on; no promise covered earlier usage.
    const auto month_of = [&](const brain::UsageEntry& entry) -> const PeriodAvailability* {
      const SoldJob* job = of_job[entry.job];
      return job != nullptr && job->granted_step <= StepAt(entry)
                 ? job->In(period_[static_cast<size_t>(StepAt(entry))])
                 : nullptr;
    };
    const auto missed = [&](const brain::UsageEntry& entry) {
      const PeriodAvailability* month = month_of(entry);
      return month != nullptr && !month->Kept(sheet_.tiers[entry.tier].availability_ppm);
    };
    absl::StatusOr<brain::Bill> made = BillOf([&](brain::UsageEntry& entry) {
      const SoldJob* job = of_job[entry.job];
      entry.slo_missed = missed(entry);
      return job != nullptr && job->RunsAt(StepAt(entry));
    });
    if (!made.ok()) return made.status();
    EconomyPolicy& out = out_.policies.emplace_back();
    out.policy = *track.policy;
    out.bill = *std::move(made);
    out.tiers = std::move(track.tiers);
    out.lines = std::move(track.lines);
    ForEachLine(out.bill, [&](const brain::BillLine& line) {
      EconomyTier& tier = out.tiers[line.key.tier];
      tier.charges.micros += line.amount.micros;
      tier.credits.micros += line.credit.micros;
      tier.missed.micros += line.key.slo_missed ? line.amount.micros : 0;
    });
    ++passes_done_;
    return AddPenalties(missed, out);
  }

  // Adds the charges for months with missed availability, as if the jobs had run.
  absl::Status AddPenalties(const std::function<bool(const brain::UsageEntry&)>& missed, EconomyPolicy& out) {
    const auto all_kept = [](const EconomyTier& t) {
      return t.totals.job_periods == t.totals.job_periods_kept;
    };
    if (std::ranges::all_of(out.tiers, all_kept)) return absl::OkStatus();
    const absl::StatusOr<brain::Bill> bill = BillOf([&](brain::UsageEntry& entry) { return missed(entry); });
    if (!bill.ok()) return bill.status();
    ForEachLine(*bill, [&](const brain::BillLine& line) {
      out.tiers[line.key.tier].penalty.micros += line.amount.micros;
    });
    return absl::OkStatus();
  }

  int32_t StepAt(const brain::UsageEntry& entry) const {
    return static_cast<int32_t>((entry.start_s - out_.start_s) / kWindowSeconds);
  }
  absl::StatusOr<brain::Bill> BillOf(std::function<bool(brain::UsageEntry&)> choose) {
    BillTraceOptions bill;
    bill.period = {out_.start_s + int64_t{out_.count_from} * kWindowSeconds,
                   out_.start_s + static_cast<int64_t>(steps()) * kWindowSeconds};
    bill.limits = options_.limits;
    const brain::CapacityWindow pool = PoolWindow(bill.period);
    bill.pool = {&pool, 1};
    bill.choose = std::move(choose);
    return BillTrace(source_, sheet_, jobs_, bill);
  }
  static void ForEachLine(const brain::Bill& bill, const std::function<void(const brain::BillLine&)>& take) {
    for (const brain::GroupBill& group : bill.groups) {
      for (const brain::BillLine& line : group.lines) take(line);
    }
  }

  // Returns the pool's capacity for the slack tax. The machine cost is zero, because the bills do not share the
  // cost of the pool.
  brain::CapacityWindow PoolWindow(const BillPeriod& period) const {
    brain::CapacityWindow out;
    out.start_s = period.start_s;
    out.end_s = period.end_s;
    const auto windows = static_cast<double>((period.end_s - period.start_s) / kWindowSeconds);
    for (size_t i = 0; i < kNumResources; ++i)
      out.capacity[i] =
          static_cast<uint64_t>(std::min(static_cast<double>(out_.capacity[i]) * windows, 9e18));
    out.machine_cost = brain::Money{};
    return out;
  }

  DaySource& source_;
  const brain::PriceSheet& sheet_;
  const std::span<const BilledJob> jobs_;
  const EconomyOptions& options_;
  const EconomyHooks& hooks_;
  WorkerPool workers_;
  std::vector<int32_t> period_;  // number of the month by step
  std::vector<PoolJob> lives_;   // first and last step of each job, by JobId
  // Requests of slack tiers' jobs by JobId, for the clairvoyant policy.
  std::vector<std::vector<AskChange>> asks_;
  std::vector<Track> tracks_;
  double passes_done_ = 0;
  EconomyResult out_;
};

}  // namespace

absl::StatusOr<EconomyResult> ReplayEconomy(DaySource& source, const brain::PriceSheet& sheet,
                                            std::span<const BilledJob> jobs, const EconomyOptions& options,
                                            const EconomyHooks& hooks) {
  return EconomyRun(source, sheet, jobs, options, hooks).Run();
}

}  // namespace taut::tools
