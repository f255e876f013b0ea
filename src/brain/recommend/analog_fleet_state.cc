// Saves and loads the fleet model.
#include <cmath>

#include "brain/recommend/analog_fleet.h"
#include "brain/recommend/stored_values.h"

namespace taut::brain {
namespace {

// Version 1 has no number of tasks per job, version 2 no price factor.
constexpr uint8_t kVersion = 3;

void SaveCase(const AnalogCase& job, ByteWriter& out) {
  for (const float f : job.features) out.Put(f);
  out.Put(job.own.size);
  for (size_t i = 0; i < job.own.size; ++i) {
    out.Put(job.own.bin[i]);
    out.Put(job.own.weight[i]);
  }
  for (const double v :
       {job.week_peak, job.floor, job.kept_limit, job.owner_limit, job.tasks, job.price_factor})
    out.Put(v);
}

bool LoadCase(ByteReader& in, uint8_t version, AnalogCase& job) {
  for (float& f : job.features) f = in.Get<float>();
  job.own.size = in.Get<uint8_t>();
  if (job.own.size > OwnHistory::kMax) return false;
  for (size_t i = 0; i < job.own.size; ++i) {
    job.own.bin[i] = in.Get<uint8_t>();
    job.own.weight[i] = in.Get<float>();
    if (job.own.bin[i] >= AnalogGrid::kBins || !IsStoredAmount(job.own.weight[i])) return false;
  }
  for (double* v : {&job.week_peak, &job.floor, &job.kept_limit, &job.owner_limit}) {
    *v = in.Get<double>();
    if (!std::isfinite(*v)) return false;
  }
  if (version >= 2) job.tasks = in.Get<double>();
  if (version >= 3) job.price_factor = in.Get<double>();
  return IsStoredAmount(job.week_peak) && IsStoredAmount(job.floor) && IsStoredAmount(job.tasks) &&
         job.tasks >= 1 && IsStoredAmount(job.price_factor) && job.price_factor > 0;
}

}  // namespace

void AnalogFleet::Save(ByteWriter& out) const {
  out.Put(kVersion);
  out.Put(static_cast<uint8_t>(resource_));
  rng_.Save(out);
  out.PutVarint(history_.size());
  for (const DistributionForest::Row& row : history_) {
    for (const float f : row.features) out.Put(f);
    out.Put(row.outcome);
  }
  out.PutVarint(rows_seen_);
  out.PutVarint(rows_at_training_);
  out.Put(first_day_);
  out.Put(trained_day_);
  out.PutVarint(static_cast<uint64_t>(times_priced_));
  for (const double v : {price_, mean_limit_, promised_, realised_, debt_, warnings_, warnings_true_})
    out.Put(v);
  out.PutVarint(priced_jobs_.size());
  for (const AnalogCase& job : priced_jobs_) SaveCase(job, out);
  forest_.Save(out);
}

absl::Status AnalogFleet::Load(ByteReader& in) {
  const absl::Status damaged = absl::DataLossError("a damaged fleet model");
  const auto version = in.Get<uint8_t>();
  if (version < 1 || version > kVersion) {
    return absl::InvalidArgumentError("a fleet model of another version of the program");
  }
  if (in.Get<uint8_t>() != static_cast<uint8_t>(resource_)) {
    return absl::InvalidArgumentError("a fleet model of the other resource");
  }
  AnalogFleet read(resource_, settings_);
  if (!read.rng_.Load(in)) return damaged;
  const uint64_t rows = in.GetVarint();
  if (rows > in.remaining() / sizeof(DistributionForest::Row)) return damaged;
  read.history_.resize(rows);
  for (DistributionForest::Row& row : read.history_) {
    for (float& f : row.features) f = in.Get<float>();
    row.outcome = in.Get<float>();
    if (!std::isfinite(row.outcome)) return damaged;
  }
  read.rows_seen_ = in.GetVarint();
  read.rows_at_training_ = in.GetVarint();
  read.first_day_ = in.Get<int32_t>();
  read.trained_day_ = in.Get<int32_t>();
  read.times_priced_ = static_cast<int>(in.GetVarint() & 0x7FFFFFFF);
  for (double* v : {&read.price_, &read.mean_limit_, &read.promised_, &read.realised_, &read.debt_,
                    &read.warnings_, &read.warnings_true_}) {
    *v = in.Get<double>();
    if (!std::isfinite(*v)) return damaged;
  }
  const uint64_t priced = in.GetVarint();
  if (priced > in.remaining()) return damaged;
  read.priced_jobs_.resize(priced);
  for (AnalogCase& job : read.priced_jobs_) {
    if (!LoadCase(in, version, job)) return damaged;
  }
  if (absl::Status s = read.forest_.Load(in); !s.ok()) return s;
  if (rows > read.rows_seen_) return damaged;
  // The configured size of the sample may have become smaller: drop the rows beyond this size.
  if (read.history_.size() > static_cast<size_t>(settings_.max_rows)) {
    read.history_.resize(static_cast<size_t>(settings_.max_rows));
  }
  *this = std::move(read);
  return absl::OkStatus();
}

}  // namespace taut::brain
