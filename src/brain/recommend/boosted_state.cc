// Saves and loads the state of one job.
#include <cmath>

#include "brain/recommend/boosted.h"
#include "brain/recommend/stored_values.h"

namespace taut::brain {
namespace {

constexpr uint8_t kBoostedJobVersion = 2;
constexpr size_t kMostLessons = 24;  // of a day

}  // namespace

void BoostedRecommender::Save(ByteWriter& out) const {
  out.Put(kBoostedJobVersion);
  history_.Save(out);
  out.Put(decision_.period);
  out.Put(decision_.hour);
  decision_.input.Save(out);
  for (const double v :
       {decision_.best.limit, decision_.best.harm, decision_.best.cost, decision_.harm, decision_.regret,
        limit_, move_from_, regret_, open_peak_, day_.calm, day_.promised, day_.over, day_.used}) {
    out.Put(v);
  }
  out.Put(static_cast<uint8_t>(move_));
  for (const bool b : {day_.counts, day_.overrun, open_.has_value(), fallback_ != nullptr})
    out.Put<uint8_t>(b ? 1 : 0);
  for (const float v : {tasks_, last_usage_, seen_usage_, after_overrun_, promised_, realised_, weight_,
                        cuts_.windows, cuts_.limits, cuts_.over}) {
    out.Put(v);
  }
  out.Put(period_);
  out.PutVarint(finished_);
  out.PutVarint(lessons_.size());
  for (size_t i = 0; i < lessons_.size(); ++i) {
    lessons_[i].Save(out);
    out.Put(periods_[i]);
  }
  if (open_.has_value()) {
    BoostedLesson lesson = *open_;
    const uint8_t size = lesson.size;
    out.Put(size);
    if (size == 0) lesson.size = 1;  // a lesson without an outcome is stored with a meaningless one
    lesson.Save(out);
  }
  if (fallback_ != nullptr) fallback_->Save(out);
}

absl::Status BoostedRecommender::Load(ByteReader& in) {
  const absl::Status damaged = absl::DataLossError("boosted: an impossible state");
  if (in.Get<uint8_t>() != kBoostedJobVersion)
    return absl::InvalidArgumentError("boosted: a state of another version of the program");
  if (absl::Status s = history_.Load(in); !s.ok()) return s;
  decision_.period = in.Get<int32_t>();
  decision_.hour = in.Get<int32_t>();
  bool possible =
      decision_.input.Load(in) && (decision_.period == kNever || IsStoredWindow(decision_.period));
  for (double* v :
       {&decision_.best.limit, &decision_.best.harm, &decision_.best.cost, &decision_.harm, &decision_.regret,
        &limit_, &move_from_, &regret_, &open_peak_, &day_.calm, &day_.promised, &day_.over, &day_.used}) {
    *v = in.Get<double>();
    possible = possible && (IsStoredAmount(*v) || ((v == &limit_ || v == &move_from_) && *v == -1));
  }
  const auto move = in.Get<uint8_t>();
  possible = possible && move <= static_cast<uint8_t>(Move::kOverrun);
  move_ = static_cast<Move>(move);
  bool has_open = false, has_fallback = false;
  for (bool* b : {&day_.counts, &day_.overrun, &has_open, &has_fallback}) *b = in.Get<uint8_t>() != 0;
  for (float* v : {&tasks_, &last_usage_, &seen_usage_, &after_overrun_, &promised_, &realised_, &weight_,
                   &cuts_.windows, &cuts_.limits, &cuts_.over}) {
    *v = in.Get<float>();
    const bool may_be_none = v == &last_usage_ || v == &seen_usage_ || v == &after_overrun_;
    possible = possible && (IsStoredAmount(*v) || (may_be_none && *v == -1));
  }
  possible = possible && tasks_ >= 1;
  period_ = in.Get<int32_t>();
  possible = possible && (period_ == kNever || IsStoredWindow(period_));
  finished_ = static_cast<uint32_t>(in.GetVarint());
  const uint64_t lessons = in.GetVarint();
  if (in.failed() || !possible || lessons > kMostLessons) return damaged;
  lessons_.assign(lessons, {});
  periods_.assign(lessons, 0);
  for (size_t i = 0; i < lessons; ++i) {
    if (!lessons_[i].Load(in)) return damaged;
    periods_[i] = in.Get<int32_t>();
  }
  open_.reset();
  if (has_open) {
    const auto size = in.Get<uint8_t>();
    open_.emplace();
    if (!open_->Load(in) || size > open_->size) return damaged;
    open_->size = size;
  }
  if (absl::Status s = in.status("boosted"); !s.ok()) return s;
  if (!has_fallback) {
    fallback_ = nullptr;
    return absl::OkStatus();
  }
  if (fallback_ == nullptr)
    return absl::InvalidArgumentError("boosted: the checkpoint has a fallback that this recommender has not");
  return fallback_->Load(in);
}

}  // namespace taut::brain
