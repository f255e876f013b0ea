#include "server/ingest/oom_watch.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace taut::server {
namespace {

// Greatest difference between samples of one scrape of a container.
constexpr int64_t kSameScrapeMs = 2'000;
// Longest silence after which a repeated end is regarded as the same end.
constexpr int64_t kSameEndMs = 600'000;
// Greatest delay between a kill and the restart that shows it: Kubernetes waits up to 5 minutes.
constexpr int64_t kBackOffMs = 330'000;
constexpr double kLatestSeconds = 253'402'300'800;  // the year 10000

bool IsSameScrape(int64_t a_ms, int64_t b_ms) {
  return a_ms != INT64_MIN && b_ms != INT64_MIN && std::abs(a_ms - b_ms) <= kSameScrapeMs;
}

}  // namespace

// Returns the kill that a restart shows, once the reason of the end is known; nullopt if there is none.
std::optional<OomWatch::Kill> OomWatch::Judge(Container& c) {
  if (c.restarted == 0) return std::nullopt;
  if (c.reason_ms == INT64_MIN || c.reason_ms < c.restarted_ms - kSameScrapeMs) return std::nullopt;
  const bool killed = c.reason_ms - c.restarted_ms <= kSameScrapeMs;
  const uint64_t told = std::min(c.restarted, c.ended_kills);
  Kill kill{.slot = c.slot, .time_ms = c.restarted_ms, .kills = c.restarted - told};
  kill.since_ms = std::max(c.restarted_ms - kBackOffMs, c.restart_before_ms);
  c.restarted = 0;
  c.ended_kills -= told;
  if (!killed || kill.kills == 0) return std::nullopt;
  if (IsSameScrape(c.end_shown_ms, kill.time_ms) && !c.end_waits) {
    // The last kill was reported with its date; earlier kills of the same restart have no date.
    kill.slot = c.end_slot;
    kill.time_ms = c.last_end_ms + 1;
    return kill;
  }
  c.undated_ms = kill.time_ms;
  c.undated_slot = c.slot;
  c.undated_is_end = false;
  return kill;
}

// Returns the kill that an end shows, once the reason of the end is known; nullopt if there is none. The kill is
// dated by this end.
std::optional<OomWatch::Kill> OomWatch::JudgeEnd(Container& c) {
  if (!c.end_waits || !IsSameScrape(c.reason_ms, c.end_shown_ms)) return std::nullopt;
  c.end_waits = false;
  Kill kill{.slot = c.end_slot, .time_ms = c.last_end_ms, .since_ms = c.last_end_ms};
  kill.shown_ms = c.end_as_shown_ms;
  kill.is_first = c.end_is_first;
  if (c.undated_is_end && c.last_end_ms <= c.undated_ms) return std::nullopt;  // already reported as an end
  if (!c.undated_is_end && IsSameScrape(c.undated_ms, c.end_shown_ms)) {
    kill.slot = c.undated_slot;
    kill.instead_of_ms = std::exchange(c.undated_ms, INT64_MIN);
    return kill;
  }
  if (!IsSameScrape(c.restarted_ms, c.end_shown_ms)) c.restarted = 0;  // the restart belongs to another end
  // Restarts in this scrape belong first to kills that were reported before, then to the present kill. A
  // restart that arrives later belongs to the present kill.
  const bool knows_waiting = std::max(c.waiting_ms, c.runs_ms) != INT64_MIN;
  const uint64_t told = knows_waiting ? std::min(c.restarted, c.ended_kills) : 0;
  const uint64_t restarted = c.restarted - told;
  kill.kills = std::max<uint64_t>(1, restarted);
  c.ended_kills += kill.kills - restarted - told;
  c.restarted = 0;
  return kill;
}

std::optional<OomWatch::Kill> OomWatch::See(Container& c, uint32_t slot, const RemoteSample& sample) {
  const int64_t at = sample.timestamp_ms;
  // If two samples have the same time, the sample with more restarts is newer.
  const bool is_newer = at > c.restarts_ms || (at == c.restarts_ms && sample.value > c.restarts);
  if (!is_newer || IsStaleMarker(sample.value)) return std::nullopt;
  if (c.restarts >= 0 && sample.value > c.restarts) {
    c.restart_before_ms = c.restarted_ms;
    c.restarted_ms = at;
    c.restarted = static_cast<uint64_t>(std::min(sample.value - c.restarts, double{kMostKillsAtOnce}));
    c.scrape_restarts = c.restarted;
  }
  c.restarts = sample.value;
  c.restarts_ms = at;
  c.slot = slot;
  return Judge(c);
}

std::optional<OomWatch::Kill> OomWatch::SeeEnd(Container& c, uint32_t slot, const RemoteSample& sample) {
  const int64_t at = sample.timestamp_ms;
  if (at < c.end_sample_ms || !(sample.value > 0 && sample.value < kLatestSeconds)) return std::nullopt;
  c.end_sample_ms = at;
  // If the machine's clock is ahead, the end stays in the future until samples reach its time. The time as
  // shown does not change, so it identifies the end.
  const auto shown_ms = static_cast<int64_t>(sample.value * 1000);
  if (shown_ms == std::exchange(c.end_as_shown_ms, shown_ms)) return std::nullopt;
  const int64_t end_ms = std::min(shown_ms, at);
  if (end_ms <= c.last_end_ms) return std::nullopt;
  c.end_is_first = c.last_end_ms == INT64_MIN;
  c.end_waits = c.last_end_ms != INT64_MIN || at - end_ms <= kNewsMs;
  c.last_end_ms = end_ms;
  c.end_shown_ms = at;
  c.end_slot = slot;
  return JudgeEnd(c);
}

std::optional<OomWatch::Kill> OomWatch::SeeEnded(Container& c, uint32_t slot, const RemoteSample& sample) {
  const int64_t at = sample.timestamp_ms;
  if (at <= c.ended_ms) return std::nullopt;
  const bool yes = !IsStaleMarker(sample.value) && sample.value >= 1;
  const bool again = c.ended && at - c.ended_ms <= kSameEndMs;
  // Without an earlier sample of this container, the time of the end is unknown and may be long ago.
  const bool watched = c.restarts_ms != INT64_MIN && c.restarts_ms < at;
  const int64_t since_ms = std::max({c.ended_ms, at - kSameEndMs, c.last_end_ms + 1});
  c.ended = yes;
  c.ended_ms = at;
  if (!yes || again || !watched) return std::nullopt;
  ++c.ended_kills;
  c.undated_ms = at;
  c.undated_slot = slot;
  c.undated_is_end = true;
  return Kill{.slot = slot, .time_ms = at, .since_ms = since_ms};
}

void OomWatch::BeginScrape(Container& c, int64_t time_ms) {
  if (time_ms <= c.scrape_ms) return;
  // In a running container, every end was followed by a restart.
  const bool runs = c.runs_ms == c.scrape_ms && c.restarts_ms == c.scrape_ms && c.ended_ms != c.scrape_ms;
  if (runs && c.scrape_ms != INT64_MIN) c.ended_kills = 0;
  c.scrape_ms = time_ms;
  c.was_known = c.restarts >= 0;
  c.ended_before = c.ended_kills;
  c.scrape_restarts = c.scrape_kills = 0;
}

// The shown end is the last end, so there was one end more than there were restarts in this scrape. All four
// series must be of one time, because a second later the container may no longer wait.
uint64_t OomWatch::Missed(Container& c) {
  for (const int64_t shown_ms : {c.end_shown_ms, c.reason_ms, c.restarts_ms, c.waiting_ms}) {
    if (shown_ms != c.scrape_ms) return 0;
  }
  const uint64_t ends = c.scrape_restarts + 1 - std::min(c.ended_before, c.scrape_restarts + 1);
  if (!c.was_known || c.scrape_kills == 0 || c.scrape_kills >= ends) return 0;
  const uint64_t missed = ends - c.scrape_kills;
  c.scrape_kills = ends;
  c.ended_kills += missed;
  return missed;
}

void OomWatch::SeeWaiting(Container& c, const RemoteSample& sample) {
  if (IsStaleMarker(sample.value)) return;
  const bool waits = sample.value >= 1;
  int64_t& newest_ms = waits ? c.waiting_ms : c.runs_ms;
  int64_t& other_ms = waits ? c.runs_ms : c.waiting_ms;
  newest_ms = std::max(newest_ms, sample.timestamp_ms);
  // If two samples have the same time, the later arrival is newer.
  if (other_ms == sample.timestamp_ms) other_ms = sample.timestamp_ms - 1;
}

std::optional<OomWatch::Kill> OomWatch::See(uint64_t key, uint32_t slot, SeriesKind kind,
                                            const RemoteSample& sample) {
  Container& c = containers_[key];
  BeginScrape(c, sample.timestamp_ms);
  std::optional<Kill> kill = Take(c, slot, kind, sample);
  if (kill.has_value() && !kill->instead_of_ms.has_value()) c.scrape_kills += kill->kills;
  const uint64_t missed = Missed(c);
  if (missed == 0) return kill;
  if (!kill.has_value()) {
    // The last kill was reported with its date; the kill before has no date.
    const int64_t since_ms = std::max(c.last_end_ms - kBackOffMs, c.restart_before_ms);
    return Kill{.slot = c.end_slot, .time_ms = c.last_end_ms + 1, .kills = missed, .since_ms = since_ms};
  }
  (kill->instead_of_ms.has_value() ? kill->more : kill->kills) += missed;
  return kill;
}

std::optional<OomWatch::Kill> OomWatch::Take(Container& c, uint32_t slot, SeriesKind kind,
                                             const RemoteSample& sample) {
  switch (kind) {
    case SeriesKind::kRestartsTotal:
      return See(c, slot, sample);
    case SeriesKind::kLastEnded:
      return SeeEnd(c, slot, sample);
    case SeriesKind::kOomReason: {
      const bool yes = !IsStaleMarker(sample.value) && sample.value >= 1;
      if (sample.timestamp_ms <= c.reason_ms) return std::nullopt;
      // The reason belonged to an earlier end, which is no longer the last end.
      c.reason_ms = yes ? sample.timestamp_ms : INT64_MIN;
      if (!yes) return std::nullopt;
      const std::optional<Kill> dated = JudgeEnd(c);
      return dated.has_value() ? dated : Judge(c);
    }
    case SeriesKind::kWaiting:
      SeeWaiting(c, sample);
      return std::nullopt;
    default:
      return SeeEnded(c, slot, sample);
  }
}

void OomWatch::ForgetBefore(int64_t time_ms) {
  absl::erase_if(containers_, [time_ms](const auto& entry) {
    const Container& c = entry.second;
    return std::max({c.restarts_ms, c.reason_ms, c.ended_ms, c.end_sample_ms}) < time_ms;
  });
}

}  // namespace taut::server
