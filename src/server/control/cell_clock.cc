#include "server/control/cell_clock.h"

namespace taut::server {
namespace {

// Tolerance for silences, in addition to the time that a window stays open. A longer silence is a gap, which is
// read from the history.
constexpr int64_t kShortSilenceSeconds = 60;
// Time that windows stay open after a gap, so that senders can resend queued samples.
constexpr int64_t kCatchUpSeconds = 20;
constexpr int64_t kGapSeconds = 60;

}  // namespace

Timestamp CellClock::At(Timestamp wall) {
  if (by_samples()) wall = std::max(newest_sample_, Timestamp{0});
  Advance(wall);
  return wall;
}

void CellClock::Shift(Timestamp now) {
  now_ = now;
  heard_ = now;  // the length of the silence is unknown, so it starts anew
  catch_up_until_ = std::min(catch_up_until_, Timestamp{now.us + kCatchUpSeconds * kMicrosPerSecond});
}

void CellClock::GoBack(Timestamp now) {
  Shift(now);
  if (has_samples()) newest_sample_ = std::min(newest_sample_, now);
  newest_of_series_ = std::min(newest_of_series_, now);
  last_watermark_ = std::min(last_watermark_, now);
}

void CellClock::Hear(Timestamp newest, Timestamp newest_of_series, Timestamp now) {
  newest_sample_ = std::max(newest_sample_, newest);
  if (newest_of_series <= newest_of_series_) return;
  const int64_t open_s = kWindowSeconds + grace_seconds_ + kShortSilenceSeconds;
  const bool heard_before = newest_of_series_.us != INT64_MIN && !by_samples();
  if (heard_before && newest_of_series.us - newest_of_series_.us > open_s * kMicrosPerSecond)
    gaps_.push_back({WindowId::Of(newest_of_series_), WindowId::Of(newest_of_series)});
  newest_of_series_ = newest_of_series;
  heard_ = now;
}

void CellClock::Note(Timestamp newest, Timestamp newest_of_series) {
  Hear(newest, newest_of_series, now_);
  if (last_watermark_.us == INT64_MIN) last_watermark_ = newest_sample_;
}

std::optional<Timestamp> CellClock::Offer(Timestamp time, bool kept, WindowId first) {
  if (!has_samples()) return std::nullopt;
  const std::optional<Timestamp> step = sample_clock_.Offer(time, kept, newest_sample_);
  if (!step.has_value()) return std::nullopt;
  const bool back = *step < newest_sample_;
  if (back) {
    if (WindowId::Of(*step) < first) return std::nullopt;
    last_watermark_ = *step;
  }
  newest_sample_ = *step;
  return back ? step : std::nullopt;
}

Timestamp CellClock::Close(Timestamp now, bool is_past) {
  last_watermark_ = is_past && !by_samples() ? now : Watermark(now);
  return last_watermark_;
}

Timestamp CellClock::Watermark(Timestamp now) const {
  if (by_samples() || !has_samples()) return newest_sample_;
  // Windows close only up to the newest sample's time plus the time since its arrival. Therefore neither a wrong
  // clock nor a sender that resends its queue closes a window too early. Agents announce that more data follow
  // (HoldWindows).
  if (newest_of_series_.us == INT64_MIN) return now;
  return {std::min(now.us, newest_of_series_.us + std::max<int64_t>(0, now.us - heard_.us))};
}

void CellClock::RestoreSamples(Timestamp newest, Timestamp newest_of_series) {
  newest_of_series_ = newest_of_series;
  newest_sample_ = std::max(newest_sample_, newest);
  if (has_samples()) Advance(newest_sample_);
}

std::optional<CellClock::Span> CellClock::EndGap(Timestamp now, bool senders_resend) {
  if (!gap_open_) return std::nullopt;
  gap_open_ = false;
  heard_ = now;
  if (by_samples() || !has_samples()) return std::nullopt;
  if (now.us - newest_sample_.us <= kGapSeconds * kMicrosPerSecond) return std::nullopt;
  if (senders_resend) catch_up_until_ = Timestamp{now.us + kCatchUpSeconds * kMicrosPerSecond};
  return Span{newest_sample_, now};
}

IngestLag CellClock::Lag(std::optional<WindowId> closed) const {
  IngestLag lag;
  const auto seconds = [](Timestamp from, Timestamp to) {
    return static_cast<double>(to.us - from.us) / kMicrosPerSecond;
  };
  if (!by_samples() && heard_.us > 0 && newest_of_series_.us != INT64_MIN)
    lag.arrival_s = seconds(newest_of_series_, heard_);
  const Timestamp now = by_samples() ? newest_sample_ : now_;
  if (now.us <= 0) return lag;  // the time is unknown
  if (has_samples()) lag.newest_sample_s = seconds(newest_sample_, now);
  if (closed.has_value()) lag.window_s = seconds(Timestamp::FromSeconds(closed->next().start_s()), now);
  return lag;
}

}  // namespace taut::server
