// Samples whose windows were open when the daemon ended: kept in a log, taken in again at the start.
#include <algorithm>
#include <utility>

#include "server/control/ingest_front.h"

namespace taut::server {
namespace {

// A counter's next rate counts from a sample at most this long before an open window.
constexpr int64_t kBaselineSeconds = 600;
constexpr size_t kManySamples = 1'000'000;

}  // namespace

absl::Status IngestFront::ReplaySamples(std::optional<WindowId> last_window, History& history,
                                        absl::FunctionRef<void(std::string_view)> on_damage) {
  const std::lock_guard lock(mutex_);
  clock_.ExpectGap();
  if (samples_ == nullptr) return absl::OkStatus();
  Timestamp logged{INT64_MIN}, needed{INT64_MIN};
  if (last_window.has_value())
    needed = Timestamp::FromSeconds(last_window->next().start_s() - kBaselineSeconds);
  const absl::Status read = samples_->Read(
      [&](const LoggedWrite& write) {
        logged = std::max(logged, write.now);
        if (write.newest < needed) return;  // all of it is stored, and no counter begins there
        // It was taken in once; what a newer version does not take is refused again.
        (void)ingest_->WriteLogged(write.body, write.now);
      },
      on_damage);
  if (!read.ok()) return read;
  // Windows that were stored are closed. Nothing stored: all are open.
  ingest_->StartAt(last_window.has_value() ? last_window->next() : WindowId{INT32_MIN / 2});
  clock_.RestoreSamples(ingest_->windows().newest_sample(), ingest_->windows().newest_of_series());
  if (logged.us != INT64_MIN) time_before_ = std::max(time_before_.value_or(logged), logged);
  replayed_samples_ = ingest_->windows().waiting_samples();
  return KeepNewOoms(ingest_->TakeOoms(), history);
}

// Those that were acted on before the end are stored.
absl::Status IngestFront::KeepNewOoms(std::vector<OomSighting> sightings, History& history) {
  if (sightings.empty()) return absl::OkStatus();
  StoredKills stored;
  int64_t first_s = sightings.front().time.seconds();
  for (const OomSighting& o : sightings) first_s = std::min(first_s, o.time.seconds());
  // An end that is shown ahead of the samples was stored with an earlier sample's time.
  const absl::StatusOr<std::vector<OomRecord>> ooms =
      history.Ooms(std::nullopt, first_s - kDaySeconds, kManySamples);
  if (!ooms.ok()) return ooms.status();
  for (const OomRecord& o : *ooms) stored.Add(o);
  for (const OomSighting& o : sightings) {
    if (stored.Meet(o)) {
      (void)kills_before_.Meet(o);
    } else {
      replayed_ooms_.push_back(o);
    }
  }
  return absl::OkStatus();
}

void IngestFront::LogWrite(std::string_view body, Timestamp now, uint64_t kept_before) {
  if (samples_ == nullptr || in_doubt_) return;
  if (ingest_->counts().kept() == kept_before) return;  // nothing in it that a window waits for
  samples_->Append({now, std::max(clock_.newest_sample(), ingest_->windows().newest_sample()), body});
}

void IngestFront::KeepSamples(bool all_stored) {
  if (samples_ == nullptr) return;
  constexpr int kTicksPerSync = 25;
  Timestamp before{INT64_MIN};
  const std::optional<WindowId> stored = board_.stored_through();
  if (all_stored || stored.has_value()) {
    const std::lock_guard lock(mutex_);
    const WindowId open = all_stored ? ingest_->windows().first_open() : stored->next();
    before = Timestamp::FromSeconds(open.start_s() - kBaselineSeconds);
  }
  const bool sync = ++ticks_since_sync_ >= kTicksPerSync;
  if (sync) ticks_since_sync_ = 0;
  absl::Status flushed = samples_->Flush(sync);
  if (flushed.ok() && before.us != INT64_MIN) samples_->Forget(before);
  const std::lock_guard lock(mutex_);
  sample_log_status_ = std::move(flushed);
}

}  // namespace taut::server
