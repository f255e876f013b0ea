#include "ingest/oom_watch.h"

#include <algorithm>
#include <cstdlib>

namespace taut {
namespace {

// Both series come of one scrape.
constexpr int64_t kSameScrapeMs = 2'000;
// After a longer silence, an end that is reported again is another one.
constexpr int64_t kSameEndMs = 600'000;

}  // namespace

std::optional<OomWatch::Kill> OomWatch::Judge(Container& c) {
  if (c.restarted == 0) return std::nullopt;
  if (c.reason_ms == INT64_MIN || c.reason_ms < c.restarted_ms - kSameScrapeMs) return std::nullopt;
  const bool killed = c.reason_ms - c.restarted_ms <= kSameScrapeMs;
  const uint64_t told = std::min(c.restarted, c.ended_kills);
  const Kill kill{c.slot, c.restarted_ms, c.restarted - told};
  c.restarted = c.ended_kills = 0;
  return killed && kill.kills > 0 ? std::optional(kill) : std::nullopt;
}

std::optional<OomWatch::Kill> OomWatch::See(uint64_t key, uint32_t slot, SeriesKind kind,
                                            const RemoteSample& sample) {
  Container& c = containers_[key];
  const int64_t at = sample.timestamp_ms;
  const bool yes = !IsStaleMarker(sample.value) && sample.value >= 1;
  switch (kind) {
    case SeriesKind::kRestartsTotal:
      if (at <= c.restarts_ms || IsStaleMarker(sample.value)) return std::nullopt;
      if (c.restarts >= 0 && sample.value > c.restarts) {
        c.restarted_ms = at;
        c.restarted = static_cast<uint64_t>(std::min(sample.value - c.restarts, 1000.0));
      }
      c.restarts = sample.value;
      c.restarts_ms = at;
      c.slot = slot;
      return Judge(c);
    case SeriesKind::kOomReason:
      if (!yes || at <= c.reason_ms) return std::nullopt;
      c.reason_ms = at;
      return Judge(c);
    default: {
      if (at <= c.ended_ms) return std::nullopt;
      const bool again = c.ended && at - c.ended_ms <= kSameEndMs;
      // Without an earlier sample of this container the time of its end is unknown.
      const bool watched = c.restarts_ms != INT64_MIN && c.restarts_ms < at;
      c.ended = yes;
      c.ended_ms = at;
      if (!yes || again || !watched) return std::nullopt;
      ++c.ended_kills;
      return Kill{slot, at, 1};
    }
  }
}

void OomWatch::ForgetBefore(int64_t time_ms) {
  absl::erase_if(containers_, [time_ms](const auto& entry) {
    const Container& c = entry.second;
    return std::max({c.restarts_ms, c.reason_ms, c.ended_ms}) < time_ms;
  });
}

}  // namespace taut
