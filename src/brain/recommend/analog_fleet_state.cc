// Saves and loads the fleet model.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "brain/recommend/analog_fleet.h"
#include "common/base/random.h"

namespace taut::brain {
namespace {

// Versions 1 and 2 lack fields of AnalogCase. In versions 1 to 3, the sample of history has no keys, and the state
// of a random number generator precedes the sample.
constexpr uint8_t kVersion = AnalogCase::kVersion;

// Sets the keys of a sample without keys. The keys are distributed like the lowest of `seen` uniform keys.
void DrawKeys(uint64_t seen, std::vector<std::pair<uint64_t, DistributionForest::Row>>& sample) {
  const double share =
      std::min(1.0, static_cast<double>(sample.size()) / static_cast<double>(std::max<uint64_t>(seen, 1)));
  for (size_t i = 0; i < sample.size(); ++i)
    sample[i].first = static_cast<uint64_t>(share * static_cast<double>(MixBits(i) >> 1U)) * 2;
}

}  // namespace

void AnalogFleet::Save(ByteWriter& out) const {
  out.Put(kVersion);
  out.Put(static_cast<uint8_t>(resource_));
  SaveSample(history_, out);
  out.PutVarint(rows_seen_);
  out.PutVarint(rows_at_training_);
  out.Put(first_day_);
  out.Put(trained_day_);
  out.PutVarint(static_cast<uint64_t>(times_priced_));
  for (const double v : {price_, mean_limit_, promised_, realised_, debt_, warnings_, warnings_true_})
    out.Put(v);
  out.PutVarint(priced_jobs_.size());
  for (const AnalogCase& job : priced_jobs_) job.Save(out);
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
  if (Rng unused(0); version < 4 && !unused.Load(in)) return damaged;
  const uint64_t rows = in.GetVarint();
  if (rows > in.remaining() / sizeof(DistributionForest::Row)) return damaged;
  std::vector<std::pair<uint64_t, DistributionForest::Row>> history(rows);
  for (auto& [key, row] : history) {
    if (version >= 4) key = in.Get<uint64_t>();
    for (float& f : row.features) f = in.Get<float>();
    row.outcome = in.Get<float>();
    if (!std::isfinite(row.outcome)) return damaged;
  }
  read.rows_seen_ = in.GetVarint();
  if (version < 4) DrawKeys(read.rows_seen_, history);
  for (const auto& [key, row] : history) read.history_.Add(key, row);
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
    if (!job.Load(in, version)) return damaged;
  }
  if (absl::Status s = read.forest_.Load(in); !s.ok()) return s;
  if (rows > read.rows_seen_) return damaged;
  *this = std::move(read);
  return absl::OkStatus();
}

}  // namespace taut::brain
