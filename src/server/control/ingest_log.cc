#include "server/control/ingest_log.h"

#include <algorithm>
#include <utility>

#include "common/base/probe.h"

namespace taut::server {
namespace {

// A counter's first rate in an open window needs a sample from before the window. This sample is at most this
// number of seconds older than the window's start.
constexpr int64_t kBaselineSeconds = 600;
constexpr size_t kManySamples = 1'000'000;

}  // namespace

void IngestLog::Keep(bool all_stored) {
  if (s_.samples == nullptr) return;
  constexpr int kTicksPerSync = 25;
  Timestamp before{INT64_MIN};
  const std::optional<WindowId> stored = s_.status.stored_through();
  if (all_stored || stored.has_value()) {
    const std::lock_guard lock(s_.mutex);
    // Samples of stored windows are needed only as the base of counters' rates in open windows.
    const WindowId open = all_stored ? s_.ingest->windows().first_open() : stored->next();
    before = Timestamp::FromSeconds(open.start_s() - kBaselineSeconds);
  }
  // A sync is slow. Without a sync, a kill loses nothing, and a loss of power at most the writes of 25 ticks.
  const bool sync = ++s_.ticks_since_sync >= kTicksPerSync;
  if (sync) s_.ticks_since_sync = 0;
  absl::Status flushed = s_.samples->Flush(sync);
  if (flushed.ok() && before.us != INT64_MIN) s_.samples->Forget(before);
  const std::lock_guard lock(s_.mutex);
  s_.sample_log_status = std::move(flushed);
}

absl::Status IngestLog::status() const {
  const std::lock_guard lock(s_.mutex);
  return s_.sample_log_status;
}

void IngestLog::Restore(std::optional<WindowId> last_window, absl::FunctionRef<void(SeriesMapper&)> fill) {
  const std::lock_guard lock(s_.mutex);
  Ingest::Options ingest = s_.options.ingest;
  // With a log, Replay closes the stored windows after it has read the log (StartAt), because counters need
  // the samples before the first open window.
  if (last_window.has_value() && s_.samples == nullptr) ingest.windows.first_open = last_window->next();
  s_.ingest = std::make_unique<Ingest>(s_.mapping, ingest);
  fill(s_.ingest->mapper());
  if (last_window.has_value()) {
    s_.first_not_closed = last_window->next();
    s_.clock.Restore(Timestamp::FromSeconds(last_window->next().start_s()));
    s_.time_before = s_.clock.newest_sample();
  }
}

absl::Status IngestLog::Replay(std::optional<WindowId> last_window, History& history,
                               absl::FunctionRef<void(std::string_view)> on_damage) {
  const std::lock_guard lock(s_.mutex);
  s_.clock.ExpectGap();
  if (s_.samples == nullptr) return absl::OkStatus();
  Timestamp logged{INT64_MIN}, needed{INT64_MIN};
  if (last_window.has_value())
    needed = Timestamp::FromSeconds(last_window->next().start_s() - kBaselineSeconds);
  const absl::Status read = s_.samples->Read(
      [&](const LoggedWrite& write) {
        logged = std::max(logged, write.now);
        // The write is older than all open windows and the bases of their rates.
        if (write.newest < needed) return;
        // The write was accepted before the stop. A newer version may refuse it now.
        (void)s_.ingest->WriteLogged(write.body, write.now);
      },
      on_damage);
  if (!read.ok()) return read;
  // Stored windows are closed now, so that their samples are not stored twice. If nothing is stored, all
  // windows are open.
  s_.ingest->StartAt(last_window.has_value() ? last_window->next() : WindowId{INT32_MIN / 2});
  s_.clock.RestoreSamples(s_.ingest->windows().newest_sample(), s_.ingest->windows().newest_of_series());
  if (logged.us != INT64_MIN) s_.time_before = std::max(s_.time_before.value_or(logged), logged);
  s_.replayed_samples = s_.ingest->windows().waiting_samples();
  return KeepNewOoms(s_.ingest->TakeOoms(), history);
}

// Kills that were acted on before the stop are stored, and must not raise a limit a second time.
absl::Status IngestLog::KeepNewOoms(std::vector<OomSighting> sightings, History& history) {
  if (sightings.empty()) return absl::OkStatus();
  StoredKills stored;
  int64_t first_s = sightings.front().time.seconds();
  for (const OomSighting& o : sightings) first_s = std::min(first_s, o.time.seconds());
  // A kill whose time was ahead of the samples was stored with the time of an earlier sample.
  const absl::StatusOr<std::vector<OomRecord>> ooms =
      history.Ooms(std::nullopt, first_s - kDaySeconds, kManySamples);
  if (!ooms.ok()) return ooms.status();
  for (const OomRecord& o : *ooms) stored.Add(o);
  for (const OomSighting& o : sightings) {
    if (stored.Meet(o)) {
      TAUT_PROBE("a kill of the log of samples that is stored");
      (void)s_.kills_before.Meet(o);
    } else {
      s_.replayed_ooms.push_back(o);
    }
  }
  return absl::OkStatus();
}

}  // namespace taut::server
