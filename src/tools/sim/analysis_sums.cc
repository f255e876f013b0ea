#include "tools/sim/analysis_sums.h"

#include <algorithm>
#include <vector>

#include "common/base/time.h"

namespace taut::tools {
namespace {

constexpr uint8_t kAnalysisVersion = 1;
constexpr uint64_t kTailPoints = 200;
constexpr int64_t kLatestHour = INT32_MAX / kWindowsPerHour + 1;  // of a WindowId
constexpr std::array kHourAmounts = {&TierHour::usage, &TierHour::limit, &TierHour::limited_usage};
constexpr std::array kTierMeans = {&TierSummary::usage, &TierSummary::limit, &TierSummary::limited_usage};

void SaveTiers(const TierByBands& tiers, ByteWriter& out) {
  for (const TraceTier tier : tiers) out.Put(static_cast<uint8_t>(tier));
}

bool LoadTiers(ByteReader& in, TierByBands& tiers) {
  for (TraceTier& tier : tiers) {
    const auto number = in.Get<uint8_t>();
    if (number >= kNumTraceTiers) return false;
    tier = static_cast<TraceTier>(number);
  }
  return !in.failed();
}

}  // namespace

void AnalysisSums::AddKnown(std::optional<int> priority, brain::ScalingMode mode) {
  has_priorities_ |= priority.has_value();
  wide_priorities_ |= BandsOf({&priority, 1}) == PriorityBands::k2019;
  has_modes_ |= mode != brain::ScalingMode::kUnknown;
}

void AnalysisSums::AddHour(const AnalysedJob& job, int64_t hour, const PerResource<TierHour>& usage) {
  for (Sums* sums : {&hours_[hour].of[job.tiers], &modes_[static_cast<size_t>(job.mode)].sums}) {
    for (size_t r = 0; r < usage.size(); ++r) {
      for (size_t i = 0; i < kHourAmounts.size(); ++i) (*sums)[r][i].Add(usage[r].*kHourAmounts[i]);
    }
  }
}

void AnalysisSums::AddJob(const AnalysedJob& job) {
  ++hours_[job.first_hour].new_jobs;
  ++jobs_[job.tiers];
  ++modes_[static_cast<size_t>(job.mode)].jobs;
  sizes_.Add(job.key, job.sizes);
}

void AnalysisSums::MergeSums(const Sums& from, Sums& to) {
  for (size_t r = 0; r < from.size(); ++r) {
    for (size_t i = 0; i < from[r].size(); ++i) to[r][i].Merge(from[r][i]);
  }
}

void AnalysisSums::Merge(const AnalysisSums& other) {
  has_priorities_ |= other.has_priorities_;
  wide_priorities_ |= other.wide_priorities_;
  has_modes_ |= other.has_modes_;
  for (const auto& [hour, of] : other.hours_) {
    Hour& mine = hours_[hour];
    for (const auto& [tiers, sums] : of.of) MergeSums(sums, mine.of[tiers]);
    mine.new_jobs += of.new_jobs;
  }
  for (const auto& [tiers, jobs] : other.jobs_) jobs_[tiers] += jobs;
  for (size_t m = 0; m < modes_.size(); ++m) {
    MergeSums(other.modes_[m].sums, modes_[m].sums);
    modes_[m].jobs += other.modes_[m].jobs;
  }
  sizes_.Merge(other.sizes_);
}

void AnalysisSums::SaveSums(const Sums& sums, ByteWriter& out) {
  for (const auto& of : sums) {
    for (const OrderFreeSum& sum : of) sum.Save(out);
  }
}

bool AnalysisSums::LoadSums(ByteReader& in, Sums& sums) {
  return std::ranges::all_of(sums, [&](auto& of) {
    return std::ranges::all_of(of, [&](OrderFreeSum& sum) { return sum.Load(in); });
  });
}

void AnalysisSums::Save(ByteWriter& out) const {
  out.Put(kAnalysisVersion);
  for (const bool flag : {has_priorities_, wide_priorities_, has_modes_}) out.Put(uint8_t{flag});
  out.PutVarint(hours_.size());
  for (const auto& [hour, of] : hours_) {
    out.Put(hour);
    out.PutVarint(of.new_jobs);
    out.PutVarint(of.of.size());
    for (const auto& [tiers, sums] : of.of) {
      SaveTiers(tiers, out);
      SaveSums(sums, out);
    }
  }
  out.PutVarint(jobs_.size());
  for (const auto& [tiers, jobs] : jobs_) {
    SaveTiers(tiers, out);
    out.PutVarint(jobs);
  }
  for (const Mode& mode : modes_) {
    out.PutVarint(mode.jobs);
    SaveSums(mode.sums, out);
  }
  sizes_.Save(out);
}

bool AnalysisSums::LoadHours(ByteReader& in) {
  const uint64_t hours = in.GetVarint();
  for (uint64_t i = 0; i < hours; ++i) {
    const auto number = in.Get<int64_t>();
    if (in.failed() || number < -kLatestHour || number > kLatestHour) return false;
    Hour& hour = hours_[number];
    hour.new_jobs = in.GetVarint();
    const uint64_t tiers = in.GetVarint();
    for (uint64_t t = 0; t < tiers; ++t) {
      TierByBands of{};
      if (!LoadTiers(in, of) || !LoadSums(in, hour.of[of])) return false;
    }
  }
  return !in.failed();
}

absl::Status AnalysisSums::Load(ByteReader& in) {
  const absl::Status damaged = absl::DataLossError("damaged sums of a part of an analysis");
  if (in.Get<uint8_t>() != kAnalysisVersion)
    return absl::InvalidArgumentError("sums of a part of an analysis by another version of the program");
  for (bool* flag : {&has_priorities_, &wide_priorities_, &has_modes_}) *flag = in.Get<uint8_t>() != 0;
  if (!LoadHours(in)) return damaged;
  const uint64_t tiers = in.GetVarint();
  for (uint64_t t = 0; t < tiers; ++t) {
    TierByBands of{};
    if (!LoadTiers(in, of)) return damaged;
    jobs_[of] = in.GetVarint();
  }
  for (Mode& mode : modes_) {
    mode.jobs = in.GetVarint();
    if (!LoadSums(in, mode.sums)) return damaged;
  }
  return sizes_.Load(in) ? in.status("sums of a part of an analysis") : damaged;
}

void AnalysisSums::WriteHours(TraceAnalysis& out) const {
  const auto hours = static_cast<double>(hours_.size());
  for (const auto& [number, hour] : hours_) {
    PerResource<std::array<std::array<OrderFreeSum, 3>, kNumTraceTiers>> sums;
    for (const auto& [tiers, of] : hour.of) {
      for (size_t r = 0; r < of.size(); ++r) {
        for (size_t i = 0; i < of[r].size(); ++i)
          sums[r][static_cast<size_t>(TierIn(tiers))][i].Merge(of[r][i]);
      }
    }
    AnalysisHour& at = out.hours.emplace_back();
    at.start_s = number * 3600;
    for (size_t r = 0; r < sums.size(); ++r) {
      for (size_t t = 0; t < kNumTraceTiers; ++t) {
        for (size_t i = 0; i < kHourAmounts.size(); ++i) {
          const double amount = sums[r][t][i].value();
          at.of[r][t].*kHourAmounts[i] = amount;
          out.tiers[r][t].*kTierMeans[i] += amount / hours;
        }
      }
    }
  }
}

// Counts jobs by the hour of their first usage. Excludes jobs of the first day, which may have started before the
// trace.
void AnalysisSums::WriteArrivals(TraceAnalysis& out) const {
  const int64_t from = hours_.begin()->first + 24, to = hours_.rbegin()->first;
  if (to < from) return;
  std::vector<uint64_t> counts;  // of the hours with new jobs
  uint64_t jobs = 0;
  auto at = out.hours.begin();
  for (const auto& [number, hour] : hours_) {
    AnalysisHour& of = *at++;
    if (number < from || hour.new_jobs == 0) continue;
    of.new_jobs = hour.new_jobs;
    counts.push_back(hour.new_jobs);
    jobs += hour.new_jobs;
  }
  out.arrivals.hours = static_cast<uint64_t>(to - from + 1);
  out.arrivals.mean = static_cast<double>(jobs) / static_cast<double>(out.arrivals.hours);
  const uint64_t without = out.arrivals.hours - counts.size(), middle = out.arrivals.hours / 2;
  if (middle < without) return;
  const auto median = counts.begin() + static_cast<std::ptrdiff_t>(middle - without);
  std::ranges::nth_element(counts, median);
  out.arrivals.median = static_cast<double>(*median);
}

void AnalysisSums::WriteModes(TraceAnalysis& out) const {
  out.has_modes = has_modes_;
  const auto hours = static_cast<double>(hours_.size());
  for (size_t m = 0; m < modes_.size(); ++m) {
    for (size_t r = 0; r < out.modes.size(); ++r) {
      TierSummary& mode = out.modes[r][m];
      mode.jobs = modes_[m].jobs;
      for (size_t i = 0; i < kTierMeans.size(); ++i)
        mode.*kTierMeans[i] = modes_[m].sums[r][i].value() / hours;
    }
  }
}

absl::StatusOr<TraceAnalysis> AnalysisSums::Result() const {
  if (hours_.empty()) return absl::FailedPreconditionError("the trace has no usage to analyse");
  TraceAnalysis out;
  out.has_priorities = has_priorities_;
  WriteHours(out);
  WriteArrivals(out);
  WriteModes(out);
  for (const auto& [tiers, jobs] : jobs_) {
    for (auto& of : out.tiers) of[static_cast<size_t>(TierIn(tiers))].jobs += jobs;
  }
  out.jobs = sizes_.jobs();
  out.correlation = sizes_.Correlation();
  for (const Resource r : kResources) {
    const SortedValues sorted = sizes_.SortedOf(r);
    out.sizes[IndexOf(r)] = sizes_.DistributionOf(r, sorted);
    out.tails[IndexOf(r)] = TailOf(sorted, kTailPoints);
  }
  return out;
}

}  // namespace taut::tools
