// Time of the cell, from samples and the daemon's clock.
#pragma once

#include <optional>
#include <vector>

#include "server/control/ingest_state.h"

namespace taut::server {

// Thread-safe.
class IngestTime {
 public:
  explicit IngestTime(IngestState& state) : s_(state) {}

  ClockSource source() const { return s_.options.clock; }
  // Returns the newest sample's time with `clock: samples`, else the last wall clock time that the ingest
  // received.
  Timestamp now() const;
  // Sets the time to `now`, earlier or later, after the believed clock was found wrong.
  void Shift(Timestamp now);
  // With `doubt`, accepted samples are not logged: the clock of the start is not confirmed, and a restart
  // must not trust stored times from this clock.
  void Doubt(bool doubt);
  // Sets the time to `now` after the clock of the start was found wrong, and forgets samples later than
  // `now`.
  void GoBack(Timestamp now);
  // Returns the latest time known from before the restore; nullopt if none is known.
  std::optional<Timestamp> before() const { return s_.time_before; }
  // Returns the gaps since the last call: windows without any sample of a series, between two windows with
  // samples. History (When::kPast) makes no gaps.
  std::vector<SilentSpan> TakeGaps();
  // Returns the lags of the received data at the present time.
  IngestLag lag() const;
  // Returns the seconds between a window's end and its close.
  int64_t grace_s() const { return s_.options.ingest.windows.grace_seconds; }
  // Returns the time at which the first window with samples closes, by the cell's clock; nullopt before the first
  // sample since the start of tautd.
  std::optional<Timestamp> first_close() const;
  // Returns the cell's time for a wall clock time; nullopt with `clock: samples` before the first sample.
  std::optional<Timestamp> Of(Timestamp now) const;

 private:
  IngestState& s_;
};

}  // namespace taut::server
