#include "brain/recommend/fleet_share.h"

#include <array>
#include <cmath>

#include "brain/recommend/stored_sample.h"

namespace taut::brain {
namespace {

// Minimum stored size of a lesson: its key, features and outcome. A stored case is larger.
constexpr size_t kLessonBytes = sizeof(uint64_t) + sizeof(DistributionForest::Row);

constexpr std::array kCounts = {&AnalogShare::jobs,     &AnalogShare::lessons,  &AnalogShare::verdicts,
                                &AnalogShare::overruns, &AnalogShare::warnings, &AnalogShare::warnings_true};

}  // namespace

void SaveSample(BottomK<DistributionForest::Row> sample, ByteWriter& out) {
  out.PutVarint(sample.Sort().size());
  for (const auto& [key, row] : sample.Sort()) {
    out.Put(key);
    for (const float f : row.features) out.Put(f);
    out.Put(row.outcome);
  }
}

void AnalogShare::Add(const FleetRow& row) {
  ++jobs;
  limits.Add(row.tomorrow.owner_limit >= 0 ? row.tomorrow.owner_limit : row.tomorrow.week_peak);
  if (row.lesson.has_value()) {
    ++lessons;
    const uint64_t key = MixBits(row.job ^ MixBits(static_cast<uint64_t>(static_cast<int64_t>(day))));
    sample.Add(key, {row.lesson->features, row.lesson->outcome});
  }
  if (row.verdict.has_value()) {
    ++verdicts;
    promised.Add(row.verdict->promised);
    overruns += row.verdict->overrun ? 1 : 0;
  }
  if (row.warning_came_true.has_value()) {
    ++warnings;
    warnings_true += *row.warning_came_true ? 1 : 0;
  }
  // The panel has the same jobs on each day, so that the price does not change with the sample.
  if (!row.own_order) panel.Add(MixBits(row.job), row.tomorrow);
}

void AnalogShare::Merge(const AnalogShare& other) {
  for (const auto count : kCounts) this->*count += other.*count;
  limits.Merge(other.limits);
  promised.Merge(other.promised);
  sample.Merge(other.sample);
  panel.Merge(other.panel);
}

void AnalogShare::Save(ByteWriter& out) const {
  out.Put(day);
  for (const auto count : kCounts) out.PutVarint(this->*count);
  limits.Save(out);
  promised.Save(out);
  SaveSample(sample, out);
  SaveEntries(panel, out);
}

bool AnalogShare::Load(ByteReader& in) {
  if (in.Get<int32_t>() != day) return false;
  for (const auto count : kCounts) this->*count = in.GetVarint();
  if (!limits.Load(in) || !promised.Load(in)) return false;
  const uint64_t num_lessons = in.GetVarint();
  if (num_lessons > in.remaining() / kLessonBytes) return false;
  for (uint64_t i = 0; i < num_lessons; ++i) {
    const auto key = in.Get<uint64_t>();
    DistributionForest::Row row;
    for (float& f : row.features) f = in.Get<float>();
    row.outcome = in.Get<float>();
    if (!std::isfinite(row.outcome)) return false;
    sample.Add(key, row);
  }
  const uint64_t num_cases = in.GetVarint();
  if (num_cases > in.remaining() / kLessonBytes) return false;
  for (uint64_t i = 0; i < num_cases; ++i) {
    const auto key = in.Get<uint64_t>();
    AnalogCase job;
    if (!job.Load(in, AnalogCase::kVersion)) return false;
    panel.Add(key, job);
  }
  return !in.failed();
}

void WorkShare::Add(const FleetWork& work) {
  ++jobs;
  size.Add(work.size);
  if (!work.seasoned) return;
  over.Add(work.over);
  used.Add(work.used);
}

void WorkShare::Merge(const WorkShare& other) {
  jobs += other.jobs;
  size.Merge(other.size);
  over.Merge(other.over);
  used.Merge(other.used);
}

void WorkShare::Save(ByteWriter& out) const {
  out.PutVarint(jobs);
  for (const OrderFreeSum* sum : {&size, &over, &used}) sum->Save(out);
}

bool WorkShare::Load(ByteReader& in) {
  jobs = in.GetVarint();
  return size.Load(in) && over.Load(in) && used.Load(in);
}

void FleetShare::Add(std::span<const FleetRow> rows) {
  for (const FleetRow& row : rows) {
    if (row.boosted.has_value()) {
      boosted.Add(row.job, *row.boosted);
    } else if (row.work.has_value()) {
      works.Add(*row.work);
    } else {
      analogs.Add(row);
    }
  }
}

void FleetShare::Merge(const FleetShare& other) {
  analogs.Merge(other.analogs);
  works.Merge(other.works);
  boosted.Merge(other.boosted);
}

void FleetShare::Save(ByteWriter& out) const {
  analogs.Save(out);
  works.Save(out);
  boosted.Save(out);
}

bool FleetShare::Load(ByteReader& in) { return analogs.Load(in) && works.Load(in) && boosted.Load(in); }

}  // namespace taut::brain
