// Collects the OOM kills in live series, and recognises repeated reports of one kill.
#include "server/ingest/oom_sightings.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "common/base/probe.h"

namespace taut::server {
namespace {

// Greatest difference between the dates that two sources report for one kill. A restart of a container takes
// longer.
constexpr int64_t kSameDateMs = 1'500;
// Greatest delay between a kill and the restart that shows it. Kubernetes waits up to 5 minutes before a
// restart.
constexpr int64_t kSameRestartMs = 330'000;

}  // namespace

// Compares the sample only with the newest sample: an older sample that arrives late shows no new kill.
void OomSightings::See(uint32_t slot, std::span<const RemoteSample> samples, const RemoteSample& sample) {
  if (samples.empty() || IsStaleMarker(sample.value)) return;
  const RemoteSample& before = samples.back();
  if (sample.timestamp_ms <= before.timestamp_ms || IsStaleMarker(before.value)) return;
  if (sample.value == before.value) return;
  const double kills = sample.value > before.value ? sample.value - before.value : sample.value;
  if (kills < 1) return;
  ooms_.push_back({slot, sample.timestamp_ms,
                   static_cast<uint64_t>(std::min(kills, double{kMostKillsAtOnce})), std::nullopt,
                   before.timestamp_ms});
}

void OomSightings::Add(uint32_t slot, Timestamp time, uint64_t kills, std::optional<double> limit) {
  const int64_t time_ms = FloorDiv(time.us, 1000);
  ooms_.push_back({slot, time_ms, std::min(kills, kMostKillsAtOnce), limit, time_ms});
}

void OomSightings::Add(const OomWatch::Kill& kill) {
  if (!kill.instead_of_ms.has_value()) {
    ooms_.push_back(
        {kill.slot, kill.time_ms, kill.kills, std::nullopt, kill.since_ms, kill.is_first, kill.shown_ms});
    return;
  }
  // A kill that was already returned by Take keeps its first time.
  uint64_t more = kill.more;
  for (RawOom& oom : ooms_) {
    if (oom.slot != kill.slot || oom.time_ms != *kill.instead_of_ms) continue;
    oom.time_ms = kill.time_ms;
    oom.since_ms = kill.since_ms;
    oom.shown_ms = kill.shown_ms;
    oom.kills += std::exchange(more, 0);
  }
  if (more > 0) ooms_.push_back({kill.slot, kill.time_ms + 1, more, std::nullopt, kill.since_ms});
}

bool OomSightings::IsRepeat(const RawOom& oom, const LastOom& last, SeriesKind kind) {
  if (last.time_ms == INT64_MIN) return false;
  if (last.slot == oom.slot) return oom.time_ms == last.time_ms;
  const bool is_dated = oom.since_ms == oom.time_ms;
  const bool is_late = kind == SeriesKind::kRestartsTotal && !is_dated;
  const int64_t same_ms = is_dated && last.is_dated ? kSameDateMs : is_late ? kSameRestartMs : kSameOomMs;
  return std::abs(oom.time_ms - last.time_ms) <= same_ms;
}

std::vector<OomSighting> OomSightings::Take(const SeriesMapper& mapper) {
  std::vector<OomSighting> out;
  for (const RawOom& oom : ooms_) {
    const SeriesBinding& binding = mapper.binding(oom.slot);
    // A part that is left out of its task has a separate limit.
    if (binding.left_out && !OomWatch::IsFor(binding.kind)) continue;
    const uint32_t task = binding.left_out ? kAsideTask : binding.task;
    const uint64_t key = uint64_t{binding.task_entry} << 32 | binding.part;
    const bool is_watched = OomWatch::IsFor(binding.kind);
    LastOoms& last = last_oom_[key];
    if (IsRepeat(oom, last.counted, binding.kind)) {
      TAUT_PROBE("a second series tells of the same kill");
      continue;
    }
    if (!is_watched && IsRepeat(oom, last.watched, binding.kind)) continue;
    (is_watched ? last.watched : last.counted) = {oom.slot, oom.time_ms, oom.since_ms == oom.time_ms};
    OomSighting seen{binding.job, task,      Timestamp{oom.time_ms * 1000},
                     oom.kills,   oom.limit, Timestamp{oom.since_ms * 1000},
                     oom.is_first};
    if (oom.shown_ms.has_value()) seen.shown = Timestamp{*oom.shown_ms * 1000};
    out.push_back(seen);
  }
  ooms_.clear();
  return out;
}

void OomSightings::Drop(std::span<const uint32_t> slots, int64_t open_from_ms) {
  for (const uint32_t slot : slots)
    std::erase_if(ooms_, [slot](const RawOom& oom) { return oom.slot == slot; });
  if (slots.empty()) return;
  absl::erase_if(last_oom_, [&](const auto& e) { return e.second.newest_ms() < open_from_ms - kSameOomMs; });
}

}  // namespace taut::server
