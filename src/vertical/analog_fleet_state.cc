// The fleet model as bytes and back.
#include <cmath>

#include "vertical/analogs.h"
#include "vertical/stored_values.h"

namespace taut {
namespace {

constexpr uint8_t kVersion = 1;

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
  forest_.Save(out);
}

absl::Status AnalogFleet::Load(ByteReader& in) {
  const absl::Status damaged = absl::DataLossError("a damaged fleet model");
  if (in.Get<uint8_t>() != kVersion) {
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
  if (absl::Status s = read.forest_.Load(in); !s.ok()) return s;
  if (rows > read.rows_seen_) return damaged;
  // A smaller reservoir was asked for: what does not fit goes, newest last in.
  if (read.history_.size() > static_cast<size_t>(settings_.max_rows)) {
    read.history_.resize(static_cast<size_t>(settings_.max_rows));
  }
  *this = std::move(read);
  return absl::OkStatus();
}

}  // namespace taut
