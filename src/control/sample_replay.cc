// Samples whose windows were open when the daemon ended: kept in a log, taken in again at the start.
#include <algorithm>
#include <map>
#include <utility>

#include "base/strings.h"
#include "control/control_plane.h"
#include "control/unsaved.h"

namespace taut {
namespace {

// A counter's next rate counts from a sample at most this long before an open window.
constexpr int64_t kBaselineSeconds = 600;
// After a gap, senders get so long to bring what they kept before windows close.
constexpr int64_t kCatchUpSeconds = 20;
constexpr int64_t kGapSeconds = 60;
constexpr size_t kMany = 1'000'000;

}  // namespace

absl::Status ControlPlane::ReplaySamples(const StoreEnds& ends) {
  if (parts_.samples == nullptr) return absl::OkStatus();
  const std::lock_guard lock(ingest_mutex_);
  Timestamp logged{INT64_MIN}, needed{INT64_MIN};
  if (ends.last_window.has_value()) {
    needed = Timestamp::FromSeconds(ends.last_window->next().start_s() - kBaselineSeconds);
  }
  const absl::Status read = parts_.samples->Read(
      [&](const LoggedWrite& write) {
        logged = std::max(logged, write.now);
        if (write.newest < needed) return;  // all of it is stored, and no counter begins there
        // It was taken in once; what a newer version does not take is refused again.
        (void)ingest_->Write(write.body, write.now);
      },
      [&](std::string_view damage) { warnings_.push_back(std::string(damage)); });
  if (!read.ok()) return read;
  // Windows that were stored are closed. Nothing stored: all are open.
  ingest_->StartAt(ends.last_window.has_value() ? ends.last_window->next() : WindowId{INT32_MIN / 2});
  newest_of_series_ = ingest_->windows().newest_of_series();
  newest_sample_ = std::max(newest_sample_, ingest_->windows().newest_sample());
  if (newest_sample_.us != INT64_MIN) now_ = std::max(now_, newest_sample_);
  if (logged.us != INT64_MIN) time_before_ = std::max(time_before_.value_or(logged), logged);
  replayed_samples_ = ingest_->windows().waiting_samples();

  std::vector<OomSighting> sightings = ingest_->TakeOoms();
  if (sightings.empty()) return absl::OkStatus();
  // Those that were acted on before the end are stored.
  std::map<std::pair<uint32_t, int64_t>, uint64_t> stored;
  int64_t first_s = sightings.front().time.seconds();
  for (const OomSighting& o : sightings) first_s = std::min(first_s, o.time.seconds());
  const absl::StatusOr<std::vector<OomRecord>> ooms = parts_.history->Ooms(std::nullopt, first_s, kMany);
  if (!ooms.ok()) return ooms.status();
  for (const OomRecord& o : *ooms) ++stored[{o.job.value, o.time_s}];
  for (const OomSighting& o : sightings) {
    const auto known = stored.find({o.job.value, o.time.seconds()});
    if (known != stored.end() && known->second > 0) {
      --known->second;
    } else {
      replayed_ooms_.push_back(o);
    }
  }
  return absl::OkStatus();
}

// REQUIRES ingest_mutex_.
void ControlPlane::LogWrite(std::string_view body, Timestamp now, uint64_t kept_before) {
  if (parts_.samples == nullptr) return;
  const IngestCounts& counts = ingest_->counts();
  if (counts.kept() == kept_before) return;  // nothing in it that a window waits for
  parts_.samples->Append({now, std::max(newest_sample_, ingest_->windows().newest_sample()), body});
}

// REQUIRES ingest_mutex_.
void ControlPlane::EndGap(Timestamp now) {
  if (!restored_gap_) return;
  restored_gap_ = false;
  heard_ = now;
  if (options_.clock == ClockSource::kSamples || newest_sample_.us == INT64_MIN) return;
  if (now.us - newest_sample_.us <= kGapSeconds * kMicrosPerSecond) return;
  ingest_->NotHeard(newest_sample_, now);
  if (parts_.samples != nullptr) {
    catch_up_until_ = Timestamp{now.us + kCatchUpSeconds * kMicrosPerSecond};
  }
}

// REQUIRES ingest_mutex_.
void ControlPlane::Say(Timestamp time, bool kept) {
  if (time.us == INT64_MIN) return;
  if (options_.clock == ClockSource::kWall) {
    if (said_.size() < kMostSaid) said_.push_back(time);
    return;
  }
  if (newest_sample_.us == INT64_MIN) return;
  const std::optional<Timestamp> step = sample_clock_.Offer(time, kept, newest_sample_);
  if (!step.has_value()) return;
  if (*step < newest_sample_) {
    // What is stored of later windows cannot be taken back.
    const std::optional<WindowId> stored = stored_through();
    if (stored.has_value() && WindowId::Of(*step) <= *stored) return;
    ingest_->GoBack(*step, stored.has_value() ? stored->next() : WindowId{INT32_MIN / 2});
    last_watermark_ = *step;
  }
  newest_sample_ = *step;
}

// REQUIRES ingest_mutex_. Where time is the samples' and it is unknown yet, most samples of a body decide.
Timestamp ControlPlane::NowForBody(std::string_view body, Timestamp now) {
  if (options_.clock == ClockSource::kSamples && newest_sample_.us == INT64_MIN) {
    return ingest_->MedianTime(body).value_or(Timestamp{0});
  }
  return NowFor(now);
}

uint64_t ControlPlane::waiting_samples() const {
  const std::lock_guard lock(ingest_mutex_);
  return ingest_->windows().waiting_samples();
}

void ControlPlane::NoteClock(ClockView clock) {
  const std::lock_guard lock(view_mutex_);
  clock_view_ = std::move(clock);
}

ClockView ControlPlane::clock_view() const {
  const std::lock_guard lock(view_mutex_);
  return clock_view_;
}

void ControlPlane::ShiftTime(Timestamp now) {
  const std::lock_guard lock(ingest_mutex_);
  now_ = now;
  heard_ = now;  // how long no samples arrived is unknown
  catch_up_until_ = std::min(catch_up_until_, Timestamp{now.us + kCatchUpSeconds * kMicrosPerSecond});
}

std::vector<Timestamp> ControlPlane::TakeSaid() {
  const std::lock_guard lock(ingest_mutex_);
  return std::exchange(said_, {});
}

absl::Status ControlPlane::KeepSamples() {
  if (parts_.samples == nullptr) return absl::OkStatus();
  constexpr int kTicksPerSync = 25;
  Timestamp before{INT64_MIN};
  const std::optional<WindowId> stored = stored_through();
  {
    const std::lock_guard lock(ingest_mutex_);
    const bool all_stored = waiting_.empty() && !unsaved_->window.has_value();
    if (all_stored || stored.has_value()) {
      const WindowId open = all_stored ? ingest_->windows().first_open() : stored->next();
      before = Timestamp::FromSeconds(open.start_s() - kBaselineSeconds);
    }
  }
  const bool sync = ++ticks_since_sync_ >= kTicksPerSync;
  if (sync) ticks_since_sync_ = 0;
  absl::Status flushed = parts_.samples->Flush(sync);
  if (flushed.ok() && before.us != INT64_MIN) parts_.samples->Forget(before);
  const std::lock_guard lock(view_mutex_);
  sample_log_status_ = flushed;
  return flushed;
}

// Also where nothing is to be stored just now.
absl::Status ControlPlane::CheckStore() {
  absl::Status checked = parts_.store->Check();
  if (checked.ok() && !store_was_gone_) return checked;
  store_was_gone_ = !checked.ok();
  const std::lock_guard lock(view_mutex_);
  store_status_ = checked;
  return checked;
}

absl::Status ControlPlane::sample_log_status() const {
  const std::lock_guard lock(view_mutex_);
  return sample_log_status_;
}

}  // namespace taut
