// OOM kills that were stored before the start and that their sources may report again.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "common/model/rollout.h"
#include "server/ingest/live_windows.h"

namespace taut::server {

// Not thread-safe.
class StoredKills {
 public:
  // Adds a stored kill.
  void Add(const OomRecord& oom);
  // Returns true if `oom` is a stored kill, and removes the stored kill, so that it matches only one report.
  // O(stored kills of the job).
  bool Meet(const OomSighting& oom);

 private:
  // Key: job, and the latest second that the source may report as the time of the kill. Value: the earliest such
  // second. Both seconds are equal for a kill with a known time.
  std::multimap<std::pair<uint32_t, int64_t>, int64_t> kills_;
};

}  // namespace taut::server
