// What the ingest of ingest counts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/control/ingest_state.h"

namespace taut::server {

// Thread-safe.
class IngestCounters {
 public:
  explicit IngestCounters(const IngestState& state) : s_(state) {}

  IngestCounts samples() const;
  MapperCounts mapper() const;
  FoldCounts folds() const;
  uint64_t deferred_writes() const;  // requests to be sent again later: there was no room
  uint64_t waiting_samples() const;  // until their windows close
  size_t state_bytes() const;

 private:
  const IngestState& s_;
};

}  // namespace taut::server
