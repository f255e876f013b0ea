// Windows of the samples that came in, as they close, and what open ones tell before that.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "brain/fleet/live_fleet.h"
#include "server/control/ingest_state.h"

namespace taut::server {

// One thread calls it, that of the passes; Hold, holds and asks_for_starts any.
class WindowCloser {
 public:
  explicit WindowCloser(IngestState& state) : s_(state) {}

  // Closes what is due by `now`.
  std::vector<ClosedWindow> Close(Timestamp now, brain::When when);
  // That closed windows wait for the store.
  void SetWaiting(int waiting);
  // As Ingest. After a restore.
  void SetStartups(const absl::flat_hash_map<uint32_t, int32_t>& seconds);
  // Whether any job does.
  bool asks_for_starts() const { return s_.asks_for_starts; }
  // A source is about to send data for open windows: none closes while they are held.
  void Hold(bool hold);
  bool holds() const;
  // OOM kills since the last call, none far ahead of the cell's clock. Before Close, which forgets the
  // names of series not heard of for long.
  std::vector<OomSighting> TakeOoms(Timestamp now);
  // As LiveWindows, by the cell's clock; `limits` are asked for at most every 15 s, for they cost.
  std::vector<GrowthSighting> FindGrowth(const std::function<std::vector<JobLimit>()>& limits);
  // Since the last call (KernelPeaks).
  std::vector<KernelPeak> TakeKernelPeaks();
  // As LiveWindows.
  std::vector<LiveWindows::TaskLimitsOfJob> MemoryLimits(std::span<const JobId> jobs) const;

 private:
  IngestState& s_;
};

}  // namespace taut::server
