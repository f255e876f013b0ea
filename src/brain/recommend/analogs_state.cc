// Saves and loads the state of one job.
#include <cmath>

#include "brain/recommend/analogs.h"
#include "brain/recommend/stored_values.h"

namespace taut::brain {
namespace {

// Flags of a checkpoint for the parts that older versions did not have.
constexpr uint8_t kHasDay = 2;
constexpr uint8_t kHasPromise = 4;
constexpr uint8_t kHasTasks = 8;

}  // namespace

void AnalogsRecommender::Save(ByteWriter& out) const {
  ring_.Save(out);
  today_.Save(out);
  out.Put<uint8_t>((decided_ ? 1 : 0) | kHasDay | kHasPromise | kHasTasks);
  out.Put<uint8_t>(overrun_today_ ? 1 : 0);
  out.Put<uint8_t>(choice_.kept ? 1 : 0);
  for (double v : {choice_.limit, choice_.overrun_chance, choice_.cost, price_, raised_}) out.Put(v);
  out.Put(decided_day_);
  out.Put(raised_until_);
  out.Put(last_usage_);
  out.Put(warned_window_);
  out.Put<uint8_t>(warning_came_true_ ? 1 : 0);
  SaveDay(out);
  out.Put<uint8_t>(fallback_ != nullptr ? 1 : 0);
  if (fallback_ != nullptr) fallback_->Save(out);
}

// Writes the fields of jobs whose day does not begin at midnight; kHasDay marks checkpoints with these fields.
void AnalogsRecommender::SaveDay(ByteWriter& out) const {
  for (const int32_t v : {job_day_, ended_.day, raised_from_}) out.Put(v);
  for (const bool v : {ended_.overrun, ended_.warned, ended_.came_true, raise_in_force_}) out.Put<uint8_t>(v);
  for (const float v :
       {ended_.promised, peak_since_raise_, warnings_, warnings_true_, promised_, realised_, debt_}) {
    out.Put(v);
  }
  out.Put(kept_limit_);
  out.Put(promised_today_);
  out.Put<uint8_t>(raised_after_overrun_ ? 1 : 0);
  out.Put<uint8_t>(last_over_ ? 1 : 0);
  out.Put(today_windows_);
  out.Put(today_tasks_);
  out.Put(tasks_);
}

bool AnalogsRecommender::LoadDay(ByteReader& in) {
  for (int32_t* v : {&job_day_, &ended_.day, &raised_from_}) *v = in.Get<int32_t>();
  for (bool* v : {&ended_.overrun, &ended_.warned, &ended_.came_true, &raise_in_force_})
    *v = in.Get<uint8_t>() != 0;
  bool possible = true;
  for (float* v :
       {&ended_.promised, &peak_since_raise_, &warnings_, &warnings_true_, &promised_, &realised_, &debt_}) {
    *v = in.Get<float>();
    possible = possible && std::isfinite(*v);
  }
  for (const int32_t day : {job_day_, ended_.day})
    possible = possible && (day == INT32_MIN || IsStoredDay(day));
  possible = possible && (raised_from_ == INT32_MIN || IsStoredWindow(raised_from_));
  return possible && (ended_.day == INT32_MIN || !ring_.empty());
}

absl::Status AnalogsRecommender::Load(ByteReader& in) {
  if (absl::Status s = ring_.Load(in); !s.ok()) return s;
  if (absl::Status s = today_.Load(in); !s.ok()) return s;
  const auto flags = in.Get<uint8_t>();
  decided_ = (flags & 1U) != 0;
  overrun_today_ = in.Get<uint8_t>() != 0;
  choice_.kept = in.Get<uint8_t>() != 0;
  for (double* v : {&choice_.limit, &choice_.overrun_chance, &choice_.cost, &price_, &raised_}) {
    *v = in.Get<double>();
  }
  decided_day_ = in.Get<int32_t>();
  raised_until_ = in.Get<int32_t>();
  last_usage_ = in.Get<float>();
  warned_window_ = in.Get<int32_t>();
  warning_came_true_ = in.Get<uint8_t>() != 0;
  bool possible = true;
  std::optional<double> kept;
  if ((flags & kHasDay) != 0) {
    possible = LoadDay(in);
    kept = in.Get<double>();
    possible = possible && (*kept == -1 || IsStoredAmount(*kept));
    if ((flags & kHasPromise) != 0) {
      promised_today_ = in.Get<float>();
      raised_after_overrun_ = in.Get<uint8_t>() != 0;
      last_over_ = in.Get<uint8_t>() != 0;
      possible = possible && std::isfinite(promised_today_);
    }
    if ((flags & kHasTasks) != 0) {
      for (uint32_t* v : {&today_windows_, &today_tasks_}) *v = in.Get<uint32_t>();
      tasks_ = in.Get<float>();
      possible = possible && std::isfinite(tasks_) && tasks_ >= 1 && today_tasks_ >= today_windows_;
    }
  } else {
    job_day_ = decided_ ? decided_day_ : INT32_MIN;
    raise_in_force_ = false;
  }
  const bool has_fallback = in.Get<uint8_t>() != 0;
  if (absl::Status s = in.status("analogs"); !s.ok()) return s;
  if (decided_ && ring_.empty()) return absl::DataLossError("analogs: a decision without a day");
  possible = possible && (!decided_ || IsStoredDay(decided_day_));
  for (const int32_t w : {raised_until_, warned_window_})
    possible = possible && (w == INT32_MIN || IsStoredWindow(w));
  possible = possible && std::isfinite(choice_.overrun_chance) && std::isfinite(choice_.cost);
  for (double v : {choice_.limit, price_, raised_}) possible = possible && IsStoredAmount(v);
  if (!possible) return absl::DataLossError("analogs: an impossible decision");
  // A checkpoint contains a fallback if it was written after the fleet became ready and before the job's first
  // decision.
  if (fallback_ == nullptr) fallback_ = std::move(spare_);
  spare_ = nullptr;
  if (!has_fallback) {
    fallback_ = nullptr;
  } else if (fallback_ == nullptr) {
    return absl::InvalidArgumentError("analogs: the checkpoint has a fallback that this recommender has not");
  } else if (absl::Status s = fallback_->Load(in); !s.ok()) {
    return s;
  }
  if (decided_) kept_limit_ = kept.value_or(choice_.limit);
  return absl::OkStatus();
}

}  // namespace taut::brain
