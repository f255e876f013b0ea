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
  // Returns the newest sample's time with time by samples, else the wall clock time passed in last.
  Timestamp now() const;
  // Continues at `now`, earlier or later, after the believed clock was found wrong.
  void Shift(Timestamp now);
  // While `doubt`, accepted samples are not logged: the clock of the start is not confirmed, and a restart
  // must not trust times stored by it.
  void Doubt(bool doubt);
  // Continues at `now` after the clock of the start was wrong, and forgets samples of the future.
  void GoBack(Timestamp now);
  // Returns the latest time known from before the restore, if any.
  std::optional<Timestamp> before() const { return s_.time_before; }
  // Returns the windows without any sample of a series between two that had some, since the last call.
  // History (When::kPast) makes no gaps.
  std::vector<SilentSpan> TakeGaps();
  // Returns the present lags of the received data.
  IngestLag lag() const;
  // Returns the seconds between a window's end and its close.
  int64_t grace_s() const { return s_.options.ingest.windows.grace_seconds; }
  // Returns when the first window with samples closes, by the cell's clock; nullopt before the first sample
  // of this start.
  std::optional<Timestamp> first_close() const;
  // Returns the cell's time for a wall clock time; nullopt with time by samples before the first sample.
  std::optional<Timestamp> Of(Timestamp now) const;

 private:
  IngestState& s_;
};

}  // namespace taut::server
