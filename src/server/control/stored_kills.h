// OOM kills that a daemon which ran before has counted and stored, as far as sources may show them again.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "common/model/rollout.h"
#include "server/ingest/live_windows.h"

namespace taut::server {

// One object, one thread.
class StoredKills {
 public:
  void Add(const OomRecord& oom);
  // Whether it is one of them. Each is met once.
  bool Meet(const OomSighting& oom);

 private:
  // By job and the latest second that its source may show for it: the earliest. A dated kill has one second.
  std::multimap<std::pair<uint32_t, int64_t>, int64_t> kills_;
};

}  // namespace taut::server
