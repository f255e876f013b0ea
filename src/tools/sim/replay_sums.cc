#include "tools/sim/replay_sums.h"

#include <algorithm>
#include <utility>

namespace taut::tools {
namespace {

constexpr uint8_t kVersion = 2;
constexpr std::array kRecordedCounts = {&RecordedKills::kills, &RecordedKills::killed_windows,
                                        &RecordedKills::job_days, &RecordedKills::told_windows,
                                        &RecordedKills::task_windows};
constexpr std::array kDayCounts = {&LaneSums::Day::job_days, &LaneSums::Day::oom_days,
                                   &LaneSums::Day::changes};
constexpr std::array kDayAmounts = {&FleetDay::limit_seconds, &FleetDay::owner_limit_seconds,
                                    &FleetDay::usage_seconds};

template <typename Sums>
void MergeSums(Sums& sums, const Sums& others) {
  for (size_t i = 0; i < sums.size(); ++i) sums[i].Merge(others[i]);
}

template <typename Sums>
void SaveSums(const Sums& sums, ByteWriter& out) {
  for (const OrderFreeSum& sum : sums) sum.Save(out);
}

template <typename Sums>
bool LoadSums(ByteReader& in, Sums& sums) {
  return std::ranges::all_of(sums, [&](OrderFreeSum& sum) { return sum.Load(in); });
}

void Save(const LaneSums::Day& day, ByteWriter& out) {
  SaveSums(day.amounts, out);
  for (const auto count : kDayCounts) out.PutVarint(day.*count);
  out.PutVarint(day.risks.size());
  for (const auto& [key, sums] : day.risks) {
    brain::SaveRiskKey(key, out);
    SaveSums(sums, out);
  }
}

bool Load(ByteReader& in, LaneSums::Day& day) {
  if (!LoadSums(in, day.amounts)) return false;
  for (const auto count : kDayCounts) day.*count = in.GetVarint();
  const uint64_t risks = in.GetVarint();
  for (uint64_t i = 0; i < risks; ++i) {
    brain::RiskKey key;
    if (in.failed() || !brain::LoadRiskKey(in, key) || !LoadSums(in, day.risks[key])) return false;
  }
  return true;
}

void Save(const ScoresByJob& jobs, ByteWriter& out) {
  out.PutVarint(jobs.jobs);
  out.Put(jobs.worst_share);
  out.PutVarint(jobs.used);
  for (const auto* numbers : {&jobs.with, &jobs.over}) {
    out.PutVarint(numbers->size());
    for (const auto& [value, count] : *numbers) {
      out.PutVarint(value);
      out.PutVarint(count);
    }
  }
}

bool Load(ByteReader& in, ScoresByJob& jobs) {
  jobs.jobs = in.GetVarint();
  jobs.worst_share = in.Get<double>();
  jobs.used = in.GetVarint();
  for (auto* numbers : {&jobs.with, &jobs.over}) {
    const uint64_t size = in.GetVarint();
    for (uint64_t i = 0; i < size && !in.failed(); ++i) {
      const uint64_t value = in.GetVarint();
      (*numbers)[value] = in.GetVarint();
    }
  }
  return !in.failed() && jobs.worst_share >= 0 && jobs.worst_share <= 1;
}

}  // namespace

void LaneSums::Add(const DayScore& score, const std::optional<brain::RiskDay>& risk, bool scored) {
  Day& day = days.back();
  const std::array amounts_of_job = {score.limit_seconds, score.owner_limit_seconds, score.usage_seconds};
  for (size_t i = 0; i < amounts_of_job.size(); ++i) day.amounts[i].Add(amounts_of_job[i]);
  day.job_days += score.windows > 0 ? 1 : 0;
  day.oom_days += score.ooms > 0 ? 1 : 0;
  day.changes += score.changes;
  if (!scored) return;
  summary.Add(score);
  Totals of_job;
  of_job.Add(score);
  for (size_t i = 0; i < sums.size(); ++i) sums[i].Add(of_job.*Totals::kSums[i]);
  if (!risk.has_value()) return;
  brain::RiskSums of_day;
  of_day.Add(*risk);
  auto& of_key = day.risks[risk->key];
  for (size_t i = 0; i < of_key.size(); ++i) of_key[i].Add(of_day.*brain::RiskSums::kFields[i]);
}

void LaneSums::Merge(const LaneSums& other) {
  MergeSums(sums, other.sums);
  for (const auto count : Totals::kCounts) summary.totals.*count += other.summary.totals.*count;
  summary.slack.Merge(other.summary.slack);
  std::vector<uint64_t>& changes = summary.changes_histogram;
  const std::vector<uint64_t>& more_changes = other.summary.changes_histogram;
  changes.resize(std::max(changes.size(), more_changes.size()));
  for (size_t i = 0; i < more_changes.size(); ++i) changes[i] += more_changes[i];
  for (size_t d = 0; d < days.size(); ++d) {
    MergeSums(days[d].amounts, other.days[d].amounts);
    for (const auto count : kDayCounts) days[d].*count += other.days[d].*count;
    for (const auto& [key, more] : other.days[d].risks) MergeSums(days[d].risks[key], more);
  }
}

void LaneSums::Save(ByteWriter& out) const {
  SaveSums(sums, out);
  for (const auto count : Totals::kCounts) out.PutVarint(summary.totals.*count);
  summary.slack.Save(out);
  out.PutVarint(summary.changes_histogram.size());
  for (const uint64_t count : summary.changes_histogram) out.PutVarint(count);
  for (const Day& day : days) tools::Save(day, out);
}

bool LaneSums::Load(ByteReader& in) {
  if (!LoadSums(in, sums)) return false;
  for (const auto count : Totals::kCounts) summary.totals.*count = in.GetVarint();
  if (!summary.slack.Load(in)) return false;
  const uint64_t bins = in.GetVarint();
  if (bins > in.remaining()) return false;
  summary.changes_histogram.resize(bins);
  for (uint64_t& count : summary.changes_histogram) count = in.GetVarint();
  return std::ranges::all_of(days, [&](Day& day) { return tools::Load(in, day); });
}

void LaneSums::WriteTo(std::span<const int32_t> day_numbers, LaneResult& lane) const {
  lane.summary = summary;
  for (size_t i = 0; i < sums.size(); ++i) lane.summary.totals.*Totals::kSums[i] = sums[i].value();
  for (size_t d = 0; d < days.size(); ++d) {
    FleetDay& out = lane.fleet.emplace_back();
    out.day = day_numbers[d];
    for (size_t i = 0; i < kDayAmounts.size(); ++i) out.*kDayAmounts[i] = days[d].amounts[i].value();
    out.job_days = days[d].job_days;
    out.oom_days = days[d].oom_days;
    out.changes = days[d].changes;
    lane.risks.BeginDay(day_numbers[d]);
    for (const auto& [key, of_key] : days[d].risks) {
      brain::RiskSums of_day;
      for (size_t i = 0; i < of_key.size(); ++i) of_day.*brain::RiskSums::kFields[i] = of_key[i].value();
      lane.risks.Add(key, of_day);
    }
  }
}

void ReplaySums::BeginDay(int32_t day) {
  days_.push_back(day);
  for (LaneSums& lane : lanes_) lane.days.emplace_back();
}

void ReplaySums::Add(const JobDayOutcome& out, bool scored) {
  job_windows_ += out.steps;
  for (size_t l = 0; l < out.scores.size(); ++l) lanes_[l].Add(out.scores[l], out.risks[l], scored);
  if (!scored) return;
  for (const auto count : kRecordedCounts) recorded_.*count += out.recorded.*count;
}

absl::Status ReplaySums::Merge(const ReplaySums& other) {
  const bool same_replay = other.days_ == days_ && other.lanes_.size() == lanes_.size() &&
                           loaded_.has_value() && other.loaded_.has_value() &&
                           other.loaded_->first_scored_s == loaded_->first_scored_s &&
                           other.loaded_->first_scored_day == loaded_->first_scored_day;
  if (!same_replay)
    return absl::InvalidArgumentError(
        "the parts are not parts of one replay: they have other days, recommenders or warm-ups");
  for (size_t l = 0; l < lanes_.size(); ++l) {
    lanes_[l].Merge(other.lanes_[l]);
    loaded_->scores[l].Merge(other.loaded_->scores[l]);
  }
  for (const auto count : kRecordedCounts) recorded_.*count += other.recorded_.*count;
  loaded_->jobs += other.loaded_->jobs;
  job_windows_ += other.job_windows_;
  state_bytes_ += other.state_bytes_;
  ended_ += other.ended_;
  return absl::OkStatus();
}

void ReplaySums::Save(const ReplayResult& result, ByteWriter& out) const {
  out.Put(kVersion);
  out.Put(result.first_scored_s);
  out.Put(result.first_scored_day);
  out.PutVarint(days_.size());
  for (const int32_t day : days_) out.Put(day);
  out.PutVarint(lanes_.size());
  for (size_t l = 0; l < lanes_.size(); ++l) {
    lanes_[l].Save(out);
    ScoresByJob jobs;
    for (const Totals& job : result.lanes[l].per_job) jobs.Add(job);
    tools::Save(jobs, out);
  }
  for (const auto count : kRecordedCounts) out.PutVarint(recorded_.*count);
  for (const uint64_t count : {result.jobs, job_windows_, state_bytes_, ended_}) out.PutVarint(count);
}

absl::Status ReplaySums::Load(ByteReader& in, size_t lanes) {
  const absl::Status damaged = absl::DataLossError("damaged sums of a part of a replay");
  if (in.Get<uint8_t>() != kVersion)
    return absl::InvalidArgumentError("sums of a part of a replay by another version of the program");
  LoadedFigures& loaded = loaded_.emplace();
  loaded.first_scored_s = in.Get<int64_t>();
  loaded.first_scored_day = in.Get<int32_t>();
  const uint64_t days = in.GetVarint();
  if (days == 0 || days > in.remaining()) return damaged;
  days_.resize(days);
  for (int32_t& day : days_) day = in.Get<int32_t>();
  if (in.GetVarint() != lanes)
    return absl::InvalidArgumentError("sums of a part of a replay with other recommenders or resources");
  lanes_.resize(lanes);
  loaded.scores.resize(lanes);
  for (size_t l = 0; l < lanes; ++l) {
    lanes_[l].days.resize(days);
    if (!lanes_[l].Load(in) || !tools::Load(in, loaded.scores[l])) return damaged;
  }
  for (const auto count : kRecordedCounts) recorded_.*count = in.GetVarint();
  for (uint64_t* count : {&loaded.jobs, &job_windows_, &state_bytes_, &ended_}) *count = in.GetVarint();
  return in.status("sums of a part of a replay");
}

void ReplaySums::WriteTo(ReplayResult& result) const {
  for (size_t l = 0; l < lanes_.size(); ++l) lanes_[l].WriteTo(days_, result.lanes[l]);
  result.recorded = recorded_;
  result.job_windows = job_windows_;
  if (ended_ > 0)
    result.state_bytes_per_job = static_cast<double>(state_bytes_) / static_cast<double>(ended_);
  if (!loaded_.has_value()) return;
  result.jobs = loaded_->jobs;
  result.first_day = days_.front();
  result.last_day = days_.back();
  result.first_scored_s = loaded_->first_scored_s;
  result.first_scored_day = loaded_->first_scored_day;
  result.days_done = result.days_total = days_.size();
  for (size_t l = 0; l < lanes_.size(); ++l) result.lanes[l].scores_by_job = loaded_->scores[l];
}

}  // namespace taut::tools
