// OOM kills stored before the start which sources may still report again.
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
  // Returns true if this is a stored kill, and removes it: each is matched once. O(stored kills of the job).
  bool Meet(const OomSighting& oom);

 private:
  // Key: job, and the latest second that its source may report for it. Value: the earliest. Both are equal
  // for a kill with a known time.
  std::multimap<std::pair<uint32_t, int64_t>, int64_t> kills_;
};

}  // namespace taut::server
