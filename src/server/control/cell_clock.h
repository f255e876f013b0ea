// The time of the cell, from the machine's clock or from the samples, and the time up to which windows may
// close.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/clock_source.h"
#include "common/base/time.h"
#include "common/model/usage.h"
#include "server/control/sample_clock.h"

namespace taut::server {

// Windows during which no sample of a series arrived.
struct SilentSpan {
  WindowId from, to;  // the windows are in [from, to)
};

// Seconds by which the received data lag behind the cell's time; absent before the first sample or window.
// Negative if a sender's clock is ahead.
struct IngestLag {
  std::optional<double> arrival_s;        // age of the newest sample of a series on its arrival
  std::optional<double> newest_sample_s;  // present age of the newest sample of any source
  std::optional<double> window_s;         // time since the end of the window closed last
};

// Time of the cell. Does no I/O: every time is an argument. Not thread-safe.
class CellClock {
 public:
  // Windows stay open for `grace_seconds` after their end.
  CellClock(ClockSource source, int64_t grace_seconds) : source_(source), grace_seconds_(grace_seconds) {}

  bool by_samples() const { return source_ == ClockSource::kSamples; }
  bool has_samples() const { return newest_sample_.us != INT64_MIN; }
  // Returns the time of the newest sample of any source; INT64_MIN before the first sample.
  Timestamp newest_sample() const { return newest_sample_; }
  // Returns the time of the cell. With `clock: samples`: the newest sample's time, 0 before the first sample.
  // Else: the latest wall clock time that this object received.
  Timestamp now() const { return by_samples() ? std::max(newest_sample_, Timestamp{0}) : now_; }

  // Advances now() to the cell's time, and returns this time: `wall`, or with `clock: samples` the time of the
  // newest sample.
  Timestamp At(Timestamp wall);
  // Advances now() to `wall`, unless `wall` is earlier. Has no effect on now() with `clock: samples`.
  void Advance(Timestamp wall) { now_ = std::max(now_, wall); }
  // Sets now() to `now` after a correction of the clock. `now` may be earlier or later than now().
  void Shift(Timestamp now);
  // Sets now() to `now`, and forgets sample times later than `now`, because these samples were accepted under a
  // wrong time.
  void GoBack(Timestamp now);

  // Notes the times of the newest sample of any source and of the newest sample of series, received at `now`.
  // Time without samples of series becomes a gap if it exceeds a window plus the grace period and one minute.
  void Hear(Timestamp newest, Timestamp newest_of_series, Timestamp now);
  // Calls Hear with the current now(). The first call with a sample also sets the first watermark.
  void Note(Timestamp newest, Timestamp newest_of_series);
  // With `clock: samples`: handles a request whose newest sample has this `time`. `kept` is true if a sample of
  // the request was accepted. The time does not move back to a window before `first`, because earlier windows are
  // closed permanently. Returns the new time of the cell if it moved back, else nullopt.
  std::optional<Timestamp> Offer(Timestamp time, bool kept, WindowId first);

  // Returns the time up to which windows close now: at most the newest sample's time plus the time since its
  // arrival. `is_past`: all samples until `now` were received, so windows close up to `now`.
  Timestamp Close(Timestamp now, bool is_past = false);
  // Returns the result of the last Close; INT64_MIN before the first sample.
  Timestamp last_watermark() const { return last_watermark_; }
  // Returns the gaps in the samples of series since the last call.
  std::vector<SilentSpan> TakeGaps() { return std::exchange(gaps_, {}); }

  // ---- after a restart ----
  // Sets the cell's time to `end`, the end of the last stored window.
  void Restore(Timestamp end) { newest_sample_ = now_ = end; }
  // Notes the newest samples of windows that were open when the daemon stopped.
  void RestoreSamples(Timestamp newest, Timestamp newest_of_series);
  // Requests that the next EndGap returns the time during which the daemon was down.
  void ExpectGap() { gap_open_ = true; }
  struct Span {
    Timestamp begin, end;
  };
  // Returns the time without samples that ends at `now`, in the first call after ExpectGap. Returns nullopt in
  // other calls, or if this time is a minute or less. With `senders_resend`, no window closes for the next 20 s,
  // so that senders can resend queued samples.
  std::optional<Span> EndGap(Timestamp now, bool senders_resend);
  // Returns true while windows stay open for senders that resend samples, after EndGap.
  bool catching_up(Timestamp now) const { return now < catch_up_until_; }

  // Returns the lags at now(). `closed`: last stored window.
  IngestLag Lag(std::optional<WindowId> closed) const;

 private:
  Timestamp Watermark(Timestamp now) const;

  const ClockSource source_;
  const int64_t grace_seconds_;
  Timestamp newest_sample_{INT64_MIN};
  Timestamp now_{0};
  Timestamp last_watermark_{INT64_MIN};
  // Time of the newest sample of a series, and time of the arrival of this sample.
  Timestamp newest_of_series_{INT64_MIN}, heard_{INT64_MIN};
  Timestamp catch_up_until_{INT64_MIN};
  bool gap_open_ = false;
  std::vector<SilentSpan> gaps_;
  SampleClock sample_clock_;
};

}  // namespace taut::server
