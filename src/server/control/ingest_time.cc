#include "server/control/ingest_time.h"

#include <algorithm>

namespace taut::server {

Timestamp IngestTime::now() const {
  const std::lock_guard lock(s_.mutex);
  return s_.clock.now();
}

void IngestTime::Shift(Timestamp now) {
  const std::lock_guard lock(s_.mutex);
  s_.clock.Shift(now);
}

void IngestTime::Doubt(bool doubt) {
  const std::lock_guard lock(s_.mutex);
  s_.in_doubt = doubt;
}

void IngestTime::GoBack(Timestamp now) {
  const std::lock_guard lock(s_.mutex);
  s_.ingest->GoBack(now, s_.first_not_closed);
  s_.clock.GoBack(now);
}

std::vector<SilentSpan> IngestTime::TakeGaps() {
  const std::lock_guard lock(s_.mutex);
  return s_.clock.TakeGaps();
}

IngestLag IngestTime::lag() const {
  const std::optional<WindowId> stored = s_.status.stored_through();
  const std::lock_guard lock(s_.mutex);
  return s_.clock.Lag(stored);
}

std::optional<Timestamp> IngestTime::first_close() const {
  const std::lock_guard lock(s_.mutex);
  if (!s_.first_heard.has_value()) return std::nullopt;
  // Windows before this time are closed.
  const Timestamp open = Timestamp::FromSeconds(s_.clock.now().seconds() - grace_s());
  return Timestamp::FromSeconds(WindowId::Of(std::max(*s_.first_heard, open)).next().start_s() + grace_s());
}

std::optional<Timestamp> IngestTime::Of(Timestamp now) const {
  const std::lock_guard lock(s_.mutex);
  if (!s_.clock.by_samples()) return now;
  return s_.clock.has_samples() ? std::optional(s_.clock.newest_sample()) : std::nullopt;
}

}  // namespace taut::server
