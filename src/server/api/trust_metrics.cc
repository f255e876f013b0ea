#include "server/api/trust_metrics.h"

namespace taut::server {

void PutTrustMetrics(const ControlPlane& control, MetricsText& out) {
  const ClockView clock = control.status().clock();
  out.Gauge("tautd_clock_wrong", "1 while tautd does not follow this machine's clock.",
            clock.sentence.empty() ? 0 : 1);
  out.Gauge("tautd_clock_ahead_seconds", "This machine's clock minus the time that tautd uses.",
            clock.sentence.empty() ? 0 : clock.wall_ahead_s);
  out.Gauge("tautd_clock_unconfirmed",
            "1 while windows and ends wait for the clock of the start to be confirmed.", clock.waits ? 1 : 0);
  out.Counter("tautd_clock_jumps_total", "Jumps of this machine's clock.", clock.jumps);
  const auto seconds = [&out](std::string_view name, std::string_view help, std::optional<double> lag) {
    if (lag.has_value()) out.Gauge(name, help, *lag);
  };
  const IngestLag lag = control.ingest().lag();
  seconds("tautd_ingest_lag_seconds", "From the newest sample's own time to its arrival by remote write.",
          lag.arrival_s);
  seconds("tautd_newest_sample_age_seconds", "Since the newest sample's own time, agents' windows too.",
          lag.newest_sample_s);
  seconds("tautd_last_window_age_seconds", "Since the end of the window closed last.", lag.window_s);
  out.Gauge("tautd_waiting_samples", "Samples that wait for their windows to close.",
            static_cast<double>(control.ingest().waiting_samples()));
  out.Counter("tautd_writes_deferred_total",
              "Requests answered 503: too many waiting samples, or the store fails.",
              control.ingest().deferred_writes());
  out.Gauge("tautd_samples_kept", "1 if samples of open windows are on disk, or the store is in memory.",
            control.ingest().sample_log_status().ok() ? 1 : 0);
  out.Gauge("tautd_unwritten_sample_bytes", "Bytes acknowledged since the last tick and not on disk yet.",
            static_cast<double>(control.ingest().unwritten_sample_bytes()));
  out.Counter("tautd_partial_windows_total",
              "Windows ignored by recommenders because samples of them were lost.",
              control.ingest().fold_counts().partial_windows);
}

}  // namespace taut::server
