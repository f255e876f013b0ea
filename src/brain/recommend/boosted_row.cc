// Saves, loads and merges the reports of jobs to the boosted fleet model.
#include "brain/recommend/boosted_row.h"

#include <cmath>

#include "brain/recommend/fleet_share.h"
#include "brain/recommend/stored_sample.h"
#include "brain/recommend/stored_values.h"

namespace taut::brain {
namespace {

constexpr std::array kBoostedCounts = {&BoostedShare::jobs, &BoostedShare::lessons, &BoostedShare::verdicts};
constexpr std::array kBoostedSums = {&BoostedShare::sizes, &BoostedShare::promised, &BoostedShare::harm,
                                     &BoostedShare::weight};

}  // namespace

void BoostedLesson::Save(ByteWriter& out) const {
  for (const float f : features) out.Put(f);
  out.Put(size);
  for (size_t i = 0; i < size; ++i) out.Put(outcomes[i]);
}

bool BoostedLesson::Load(ByteReader& in) {
  for (float& f : features) f = in.Get<float>();
  size = in.Get<uint8_t>();
  if (size < 1 || size > kMost) return false;
  for (size_t i = 0; i < size; ++i) {
    outcomes[i] = in.Get<float>();
    if (!std::isfinite(outcomes[i])) return false;
  }
  return !in.failed();
}

void BoostedCase::Save(ByteWriter& out) const {
  for (const float f : features) out.Put(f);
  for (const double v : {week_peak, floor, ceiling, tasks, price_factor, use}) out.Put(v);
}

bool BoostedCase::Load(ByteReader& in) {
  for (float& f : features) f = in.Get<float>();
  bool possible = true;
  for (double* v : {&week_peak, &floor, &ceiling, &tasks, &price_factor, &use}) {
    *v = in.Get<double>();
    possible = possible && IsStoredAmount(*v);
  }
  return possible && tasks >= 1 && price_factor > 0 && !in.failed();
}

uint64_t BoostedLessonKey(uint64_t job, int32_t period) {
  return MixBits(job ^ MixBits(~static_cast<uint64_t>(static_cast<int64_t>(period))));
}

void BoostedShare::Add(uint64_t job, const BoostedRow& row) {
  ++jobs;
  sizes.Add(row.size);
  lessons += row.finished;
  for (size_t i = 0; i < row.lessons.size(); ++i)
    sample.Add(BoostedLessonKey(job, row.periods[i]), row.lessons[i]);
  if (row.own_order) return;
  if (row.verdict.has_value()) {
    ++verdicts;
    promised.Add(row.verdict->promised);
    harm.Add(row.verdict->harm);
    weight.Add(row.verdict->weight);
  }
  // The panel has the same jobs on each day, so that the price does not change with the sample.
  if (row.latest.has_value()) panel.Add(MixBits(job), *row.latest);
}

void BoostedShare::Merge(const BoostedShare& other) {
  for (const auto count : kBoostedCounts) this->*count += other.*count;
  for (const auto sum : kBoostedSums) (this->*sum).Merge(other.*sum);
  sample.Merge(other.sample);
  panel.Merge(other.panel);
}

void BoostedShare::Save(ByteWriter& out) const {
  out.Put(day);
  for (const auto count : kBoostedCounts) out.PutVarint(this->*count);
  for (const auto sum : kBoostedSums) (this->*sum).Save(out);
  SaveEntries(sample, out);
  SaveEntries(panel, out);
}

bool BoostedShare::Load(ByteReader& in) {
  if (in.Get<int32_t>() != day) return false;
  for (const auto count : kBoostedCounts) this->*count = in.GetVarint();
  for (const auto sum : kBoostedSums) {
    if (!(this->*sum).Load(in)) return false;
  }
  return LoadEntries(in, sample) && LoadEntries(in, panel) && !in.failed();
}

}  // namespace taut::brain
