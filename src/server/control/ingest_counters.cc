#include "server/control/ingest_counters.h"

namespace taut::server {

IngestCounts IngestCounters::samples() const {
  const std::lock_guard lock(s_.mutex);
  return s_.ingest->counts();
}

MapperCounts IngestCounters::mapper() const {
  const std::lock_guard lock(s_.mutex);
  return s_.ingest->mapper().counts();
}

FoldCounts IngestCounters::folds() const {
  const std::lock_guard lock(s_.mutex);
  return s_.ingest->windows().fold_counts();
}

uint64_t IngestCounters::deferred_writes() const {
  const std::lock_guard lock(s_.mutex);
  return s_.deferred_writes;
}

uint64_t IngestCounters::waiting_samples() const {
  const std::lock_guard lock(s_.mutex);
  return s_.ingest->windows().waiting_samples();
}

size_t IngestCounters::state_bytes() const {
  const std::lock_guard lock(s_.mutex);
  return s_.ingest->mapper().state_bytes() + s_.ingest->windows().state_bytes();
}

}  // namespace taut::server
