#include "server/control/window_closer.h"

#include <algorithm>
#include <utility>

namespace taut::server {
namespace {

// Greatest difference between the clocks of machines, and greatest lead of an OOM kill's time over the cell's
// clock. Without this bound, a wrong clock would date kills into the future.
constexpr int64_t kClocksApartUs = kWindowSeconds * kMicrosPerSecond;

}  // namespace

std::vector<ClosedWindow> WindowCloser::Close(Timestamp now, brain::When when) {
  const std::lock_guard lock(s_.mutex);
  s_.clock.Advance(now);
  std::vector<ClosedWindow> closed;
  if (!s_.clock.has_samples()) return closed;  // nothing to close
  if (when == brain::When::kNow) s_.EndGap(now);
  // Silences in the history are not gaps of the live samples.
  if (when == brain::When::kPast) (void)s_.clock.TakeGaps();
  if (s_.hold_windows || (when == brain::When::kNow && s_.clock.catching_up(now))) return closed;
  // With kPast, all samples of the past have arrived, so the newest sample does not bound the watermark.
  const Timestamp watermark = s_.clock.Close(now, when == brain::When::kPast);
  s_.ingest->CloseUntil(watermark, [&](ClosedWindow&& window) { closed.push_back(std::move(window)); });
  if (!closed.empty()) s_.first_not_closed = closed.back().window.next();
  // Called only after a close, because series of open windows must keep their names.
  if (!closed.empty()) s_.ingest->ForgetIdle(watermark);
  return closed;
}

void WindowCloser::SetStartups(const absl::flat_hash_map<uint32_t, int32_t>& seconds) {
  s_.asks_for_starts = !seconds.empty();
  const std::lock_guard lock(s_.mutex);
  s_.ingest->SetStartups(seconds);
}

void WindowCloser::SetWaiting(int waiting) {
  const std::lock_guard lock(s_.mutex);
  s_.waiting_windows = waiting;
}

void WindowCloser::Hold(bool hold) {
  const std::lock_guard lock(s_.mutex);
  s_.hold_windows = hold;
}

bool WindowCloser::holds() const {
  const std::lock_guard lock(s_.mutex);
  return s_.hold_windows;
}

std::vector<OomSighting> WindowCloser::TakeOoms(Timestamp now) {
  const std::lock_guard lock(s_.mutex);
  // During a backfill, Write may have received a later time than `now`.
  const Timestamp time = s_.clock.by_samples() ? s_.clock.newest_sample() : std::max(now, s_.clock.now());
  if (time.us == INT64_MIN) return {};  // the time is unknown before the first sample, so the kills wait
  std::vector<OomSighting> seen = std::exchange(s_.replayed_ooms, {});
  for (const OomSighting& o : s_.ingest->TakeOoms()) {
    if (!o.is_first || !s_.kills_before.Meet(o)) seen.push_back(o);
  }
  for (OomSighting& o : seen) {
    o.time = std::min(o.time, Timestamp{time.us + kClocksApartUs});
    o.since = std::min(o.since, o.time);
  }
  return seen;
}

std::vector<GrowthSighting> WindowCloser::FindGrowth(const std::function<std::vector<JobLimit>()>& limits) {
  constexpr int64_t kGrowthMicros = 15 * kMicrosPerSecond;
  // `limits` locks the fleet. The ingest is unlocked before the call, so that the two locks are never held
  // together.
  const Timestamp time = [this] {
    const std::lock_guard lock(s_.mutex);
    return s_.clock.now();
  }();
  const bool is_due = s_.growth_looked.us == INT64_MIN || time.us - s_.growth_looked.us >= kGrowthMicros ||
                      time < s_.growth_looked;  // the clock was set back
  if (time.us == INT64_MIN || !is_due) return {};
  s_.growth_looked = time;
  const std::vector<JobLimit> wanted = limits();
  if (wanted.empty()) return {};
  const std::lock_guard lock(s_.mutex);
  return s_.ingest->windows().FindGrowth(wanted, time, s_.ingest->mapper());
}

std::vector<KernelPeak> WindowCloser::TakeKernelPeaks() {
  const std::lock_guard lock(s_.mutex);
  return s_.ingest->windows().TakeKernelPeaks(s_.ingest->mapper());
}

std::vector<LiveWindows::TaskLimitsOfJob> WindowCloser::MemoryLimits(std::span<const JobId> jobs) const {
  const std::lock_guard lock(s_.mutex);
  return s_.ingest->windows().MemoryLimits(jobs, s_.ingest->mapper());
}

}  // namespace taut::server
