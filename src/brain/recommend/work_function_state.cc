// Saves and loads the state of a work function.
#include <algorithm>
#include <array>
#include <span>

#include "brain/recommend/stored_values.h"
#include "brain/recommend/work_function.h"

namespace taut::brain {
namespace {

// First value of a checkpoint with packed levels. With kPackedWithCuts, the unjudged windows at the limit are at
// the end of the checkpoint.
constexpr float kPacked = -1, kPackedWithCuts = -2;
// First value of a checkpoint with two weeks of hours and the hour's raise; the formats above have 48 hours.
constexpr float kHours = -3, kHoursWithCuts = -4;

bool HasHours(float first) { return first == kHours || first == kHoursWithCuts; }

}  // namespace

void WorkFunctionRecommender::Save(ByteWriter& out) const {
  const bool cuts = cuts_.windows > 0;
  out.Put(cuts ? kHoursWithCuts : kHours);
  cost_.Save(out);
  weights_.Save(out);
  hours_.Save(out);
  for (const int32_t v : {ahead_.hour, ahead_.level}) out.Put(v);
  for (const float v : {spared_, start_over_}) out.Put(v);
  for (const int64_t v : known_tasks_) out.Put(v);
  for (const float v :
       {weight_, over_, used_, day_over_, day_used_, day_peak_, owner_limit_, move_usage_, move_from_})
    out.Put(v);
  for (const int32_t v : {level_, first_window_, last_window_}) out.Put(v);
  out.Put(static_cast<uint8_t>(move_));
  if (!cuts) return;
  for (const float v : {cuts_.windows, cuts_.limits, cuts_.over}) out.Put(v);
}

// Loads the costs and weights of the levels, which older checkpoints store as floats that are never negative.
absl::Status WorkFunctionRecommender::LoadLevels(float first, ByteReader& in) {
  if (first < 0 && first >= kHoursWithCuts) {
    if (absl::Status s = cost_.Load(in); !s.ok()) return s;
    weights_.Clear();
    return weights_.Load(in, kLevels);
  }
  LevelValues::All costs, weights;
  costs[0] = first;
  for (float& v : std::span(costs).subspan(1)) v = in.Get<float>();
  for (float& v : weights) v = in.Get<float>();
  if (absl::Status s = in.status("work function"); !s.ok()) return s;
  const auto possible = [](const LevelValues::All& values) {
    return std::all_of(values.begin(), values.end(), [](float v) { return IsStoredAmount(v); });
  };
  if (!possible(costs) || !possible(weights))
    return absl::DataLossError("work function: an impossible cost or weight");
  cost_.Set(costs);
  weights_.Clear();
  for (size_t k = 0; k < weights.size(); ++k) {
    if (weights[k] > 0) *weights_.FindOrInsert(static_cast<Bucket>(k)) = weights[k];
  }
  return absl::OkStatus();
}

absl::Status WorkFunctionRecommender::LoadHours(ByteReader& in) {
  if (absl::Status s = hours_.Load(kLevels, in); !s.ok()) return s;
  for (int32_t* v : {&ahead_.hour, &ahead_.level}) *v = in.Get<int32_t>();
  for (float* v : {&spared_, &start_over_}) *v = in.Get<float>();
  for (int64_t& v : known_tasks_) v = in.Get<int64_t>();
  const bool possible = ahead_.level >= -1 && ahead_.level < kLevels && IsStoredAmount(spared_) &&
                        IsStoredAmount(start_over_) && known_tasks_[0] >= -1 && known_tasks_[1] >= -1;
  return possible ? in.status("work function") : absl::DataLossError("work function: an impossible burst");
}

void WorkFunctionRecommender::TakeHours(std::span<const float> peaks) {
  hours_ = {};
  ahead_ = {};
  spared_ = start_over_ = 0;
  known_tasks_ = {-1, -1};
  if (last_window_ == INT32_MIN) return;
  const int32_t last = HourOf(last_window_);
  for (int32_t hour = last - kHoursOfVersion2 + 1; hour <= last; ++hour) {
    const float peak = peaks[static_cast<size_t>(hour - FloorDiv(hour, kHoursOfVersion2) * kHoursOfVersion2)];
    if (peak > 0) hours_.Add(hour, LevelOf(fleet_->resource(), peak));
  }
}

absl::Status WorkFunctionRecommender::Load(ByteReader& in) {
  bool possible = true;
  const auto amounts = [&](std::span<float> values) {
    for (float& v : values) {
      v = in.Get<float>();
      possible = possible && IsStoredAmount(v);
    }
  };
  const auto first = in.Get<float>();
  if (absl::Status s = LoadLevels(first, in); !s.ok()) return s;
  std::array<float, kHoursOfVersion2> old_hours{};
  if (HasHours(first)) {
    if (absl::Status s = LoadHours(in); !s.ok()) return s;
  } else {
    amounts(old_hours);
  }
  float* const rest[] = {&weight_, &over_, &used_, &day_over_, &day_used_, &day_peak_};
  for (float* v : rest) amounts({v, 1});
  owner_limit_ = in.Get<float>();
  possible = possible && (owner_limit_ == -1 || IsStoredAmount(owner_limit_)) && weight_ > 0;
  amounts({&move_usage_, 1});
  amounts({&move_from_, 1});
  for (int32_t* v : {&level_, &first_window_, &last_window_}) *v = in.Get<int32_t>();
  const auto move = in.Get<uint8_t>();
  cuts_ = {};
  if (first == kPackedWithCuts || first == kHoursWithCuts) {
    for (float* v : {&cuts_.windows, &cuts_.limits, &cuts_.over}) amounts({v, 1});
  }
  if (absl::Status s = in.status("work function"); !s.ok()) return s;
  possible = possible && level_ >= -1 && level_ < kLevels && IsStoredWindow(first_window_) &&
             (last_window_ == INT32_MIN || IsStoredWindow(last_window_)) &&
             move <= static_cast<uint8_t>(Move::kFall);
  if (!possible) return absl::DataLossError("work function: an impossible state");
  move_ = static_cast<Move>(move);
  if (!HasHours(first)) TakeHours(old_hours);
  return absl::OkStatus();
}

}  // namespace taut::brain
