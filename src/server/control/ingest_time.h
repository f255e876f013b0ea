// The time of the cell, as samples and the daemon's clock tell it.
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
  // Newest sample or the wall clock's time last told.
  Timestamp now() const;
  // Time goes on at `now`, before or after what it was: a clock that was believed was wrong.
  void Shift(Timestamp now);
  // The clock of a start is not confirmed: what is taken in is not logged, so that a restart does not take it for
  // right.
  void Doubt(bool doubt);
  // The clock of the start was wrong, and it is `now`: forgets the samples of the future.
  void GoBack(Timestamp now);
  // The latest time that is known from before the restore, if any.
  std::optional<Timestamp> before() const { return s_.time_before; }
  // Times in which no sample of a series came, though before and after some did, since the last call. What is
  // read from history (When::kPast) is none.
  std::vector<SilentSpan> TakeGaps();
  IngestLag lag() const;
  // Seconds after its end at which a window closes.
  int64_t grace_s() const { return s_.options.ingest.windows.grace_seconds; }
  // When the first window that has samples closes, by the cell's clock; nullopt: no sample has come in this life.
  std::optional<Timestamp> first_close() const;
  // The cell's time, given the machine's; nullopt: where it is the samples' and there is none.
  std::optional<Timestamp> Of(Timestamp now) const;

 private:
  IngestState& s_;
};

}  // namespace taut::server
