// Counters of the ingest.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/control/ingest_state.h"

namespace taut::server {

// Thread-safe; each call locks the ingest for a copy.
class IngestCounters {
 public:
  explicit IngestCounters(const IngestState& state) : s_(state) {}

  IngestCounts samples() const;
  MapperCounts mapper() const;
  FoldCounts folds() const;
  uint64_t deferred_writes() const;  // requests refused for lack of room, which the sender retries
  uint64_t waiting_samples() const;  // samples in open windows
  size_t state_bytes() const;

 private:
  const IngestState& s_;
};

}  // namespace taut::server
