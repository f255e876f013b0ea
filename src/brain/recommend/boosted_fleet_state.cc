// Saves and loads the boosted fleet model.
#include <array>
#include <cmath>
#include <utility>

#include "brain/recommend/boosted_fleet.h"
#include "brain/recommend/stored_sample.h"
#include "brain/recommend/stored_values.h"

namespace taut::brain {
namespace {

constexpr uint8_t kBoostedVersion = 1;

}  // namespace

// A forest that is due is trained again from the sample after Load, with an equal result.
void BoostedFleet::Save(ByteWriter& out) const {
  out.Put(kBoostedVersion);
  out.Put(static_cast<uint8_t>(resource_));
  SaveEntries(sample_, out);
  out.PutVarint(lessons_seen_);
  out.PutVarint(lessons_at_training_);
  out.Put(first_day_);
  out.Put(trained_day_);
  out.Put<uint8_t>(due_ ? 1 : 0);
  out.PutVarint(static_cast<uint64_t>(times_priced_));
  for (const double v : {price_, mean_limit_, panel_harm_, promised_, planned_, realised_, weight_, debt_})
    out.Put(v);
  out.PutVarint(priced_jobs_.size());
  for (const BoostedCase& job : priced_jobs_) job.Save(out);
  forest_.Save(out);
}

absl::Status BoostedFleet::Load(ByteReader& in) {
  const absl::Status damaged = absl::DataLossError("a damaged boosted fleet model");
  if (in.Get<uint8_t>() != kBoostedVersion)
    return absl::InvalidArgumentError("a boosted fleet model of another version of the program");
  if (in.Get<uint8_t>() != static_cast<uint8_t>(resource_))
    return absl::InvalidArgumentError("a boosted fleet model of the other resource");
  BoostedFleet read(resource_, settings_, target_);
  if (!LoadEntries(in, read.sample_)) return damaged;
  read.lessons_seen_ = in.GetVarint();
  read.lessons_at_training_ = in.GetVarint();
  read.first_day_ = in.Get<int32_t>();
  read.trained_day_ = in.Get<int32_t>();
  read.due_ = in.Get<uint8_t>() != 0;
  read.times_priced_ = static_cast<int>(in.GetVarint() & 0x7FFFFFFF);
  for (double* v : {&read.price_, &read.mean_limit_, &read.panel_harm_, &read.promised_, &read.planned_,
                    &read.realised_, &read.weight_}) {
    *v = in.Get<double>();
    if (!IsStoredAmount(*v)) return damaged;
  }
  read.debt_ = in.Get<double>();
  const uint64_t priced = in.GetVarint();
  if (in.failed() || !std::isfinite(read.debt_) || priced > in.remaining() / sizeof(BoostedFeatures))
    return damaged;
  read.priced_jobs_.resize(priced);
  for (BoostedCase& job : read.priced_jobs_) {
    if (!job.Load(in)) return damaged;
  }
  if (absl::Status s = read.forest_.Load(in); !s.ok()) return s;
  const BoostedForest& forest = read.forest_;
  if (!forest.empty() && (forest.features() != kBoostedFeatures || forest.grid().size() != kBoostedPoints))
    return damaged;
  *this = std::move(read);
  return absl::OkStatus();
}

}  // namespace taut::brain
