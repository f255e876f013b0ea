// Closes windows of received samples, and reports OOM kills and growth of usage in open windows.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "brain/fleet/live_fleet.h"
#include "server/control/ingest_state.h"

namespace taut::server {

// The thread of the passes makes all calls except Hold, holds and asks_for_starts, which any thread may call.
class WindowCloser {
 public:
  explicit WindowCloser(IngestState& state) : s_(state) {}

  // Closes and returns the windows that are due by `now`, oldest first.
  std::vector<ClosedWindow> Close(Timestamp now, brain::When when);
  // Sets the number of closed windows that are not stored yet.
  void SetWaiting(int waiting);
  // Passes the start-up times to Ingest::SetStartups. Called after a restore.
  void SetStartups(const absl::flat_hash_map<uint32_t, int32_t>& seconds);
  // Returns true if the start-up usage of any job is stored separately.
  bool asks_for_starts() const { return s_.asks_for_starts; }
  // While `hold` is true, no window closes, because a source is about to send data for open windows.
  void Hold(bool hold);
  // Returns true while windows are held.
  bool holds() const;
  // Returns the OOM kills since the last call. A kill that is dated more than a window ahead of the cell's clock
  // is dated one window ahead of this clock. Called before Close, which forgets the names of idle series.
  std::vector<OomSighting> TakeOoms(Timestamp now);
  // Returns jobs whose usage grows towards their limit (LiveWindows::FindGrowth). Calls `limits` at most
  // every 15 s of the cell's clock, because `limits` is costly; other calls return nothing.
  std::vector<GrowthSighting> FindGrowth(const std::function<std::vector<JobLimit>()>& limits);
  // Returns the kernel's memory peaks since the last call (KernelPeaks).
  std::vector<KernelPeak> TakeKernelPeaks();
  // Returns the memory limits of the jobs' tasks (LiveWindows::MemoryLimits).
  std::vector<LiveWindows::TaskLimitsOfJob> MemoryLimits(std::span<const JobId> jobs) const;

 private:
  IngestState& s_;
};

}  // namespace taut::server
