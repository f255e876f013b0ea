// The time of the cell: the machine's clock, or the samples'; and up to where windows may close by it.
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

// A time without samples of series.
struct SilentSpan {
  WindowId from, to;  // [from, to)
};

// How far what is known is behind the time that tautd takes; absent before the first sample or window.
// Negative: a sender's clock is ahead.
struct IngestLag {
  std::optional<double> arrival_s;        // the newest sample of a series, when it came
  std::optional<double> newest_sample_s;  // the newest sample of any source, now
  std::optional<double> window_s;         // the end of the window closed last, now
};

// Plain arithmetic: every time is an argument. Not thread-safe.
class CellClock {
 public:
  // Windows stay open for `grace_seconds` after their end.
  CellClock(ClockSource source, int64_t grace_seconds) : source_(source), grace_seconds_(grace_seconds) {}

  bool by_samples() const { return source_ == ClockSource::kSamples; }
  bool has_samples() const { return newest_sample_.us != INT64_MIN; }
  // Of any source; INT64_MIN before the first.
  Timestamp newest_sample() const { return newest_sample_; }
  // The newest sample or the wall clock's time last given, or the newest of a restore.
  Timestamp now() const { return by_samples() ? std::max(newest_sample_, Timestamp{0}) : now_; }

  // The cell's time, given the wall clock's.
  Timestamp At(Timestamp wall);
  void Advance(Timestamp wall) { now_ = std::max(now_, wall); }
  // Time goes on at `now`, before or after what it was.
  void Shift(Timestamp now);
  // The same, where samples were taken by the time before: all of later than `now` are forgotten.
  void GoBack(Timestamp now);

  // The newest sample of any source and of series, at a time of this clock. A silence of series that is longer
  // than windows stay open is a gap.
  void Hear(Timestamp newest, Timestamp newest_of_series, Timestamp now);
  // The same at the time last given. The first sample is where windows begin.
  void Note(Timestamp newest, Timestamp newest_of_series);
  // Where time is the samples', a request says that it is `time`; `kept`: something of it was taken in.
  // The time that the samples go back to, if it is earlier than what they had reached and later than `stored`,
  // the newest stored window.
  std::optional<Timestamp> Offer(Timestamp time, bool kept, std::optional<WindowId> stored);

  // Windows are closed now. Returns up to where: by samples, and by the clock where they have fallen silent.
  // `is_past`: all samples until `now` were taken.
  Timestamp Close(Timestamp now, bool is_past = false);
  // The last one; INT64_MIN: none, and no sample was seen.
  Timestamp last_watermark() const { return last_watermark_; }
  // Silences since the last call.
  std::vector<SilentSpan> TakeGaps() { return std::exchange(gaps_, {}); }

  // ---- after a restart ----
  // What is stored ends here.
  void Restore(Timestamp end) { newest_sample_ = now_ = end; }
  // The same of samples whose windows are open.
  void RestoreSamples(Timestamp newest, Timestamp newest_of_series);
  // From now on the first time given says how long the daemon was down.
  void ExpectGap() { gap_open_ = true; }
  struct Span {
    Timestamp begin, end;
  };
  // The time that nothing was heard before `now`, once. `senders_resend`: they bring what they kept, and no
  // window closes for some seconds.
  std::optional<Span> EndGap(Timestamp now, bool senders_resend);
  bool catching_up(Timestamp now) const { return now < catch_up_until_; }

  IngestLag Lag(std::optional<WindowId> closed) const;

 private:
  Timestamp Watermark(Timestamp now) const;

  const ClockSource source_;
  const int64_t grace_seconds_;
  Timestamp newest_sample_{INT64_MIN};
  Timestamp now_{0};
  Timestamp last_watermark_{INT64_MIN};
  Timestamp newest_of_series_{INT64_MIN}, heard_{INT64_MIN};  // and when that came
  Timestamp catch_up_until_{INT64_MIN};
  bool gap_open_ = false;
  std::vector<SilentSpan> gaps_;
  SampleClock sample_clock_;
};

}  // namespace taut::server
