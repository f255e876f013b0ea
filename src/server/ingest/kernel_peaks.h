// Peaks of memory that the kernel itself keeps of a cgroup since its start: memory.peak,
// memory.max_usage_in_bytes, container_memory_max_usage_bytes. Samples of usage miss what is between them; these
// miss nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/ingest/series_mapper.h"

namespace taut::server {

// Of a job of which a task grew above its last peak or was met first.
struct KernelPeak {
  JobId job;
  double bytes = 0;             // the highest of its tasks that grew; 0: none did
  std::vector<float> met;       // of its tasks that were met first
  std::vector<float> standing;  // of all its tasks
};

// Not thread-safe. About 16 bytes a series.
class KernelPeaks {
 public:
  // A peak lower than the last one of the slot is of another start.
  void See(uint32_t slot, double bytes);
  // Of jobs whose tasks grew above their last peak, or were met, since the last call. What an agent reports of
  // a task goes before series of its parts, which are added up. O(series) if there is any.
  std::vector<KernelPeak> TakeRisen(const SeriesMapper& mapper);
  void Drop(std::span<const uint32_t> slots);
  size_t state_bytes() const { return peaks_.capacity() * (sizeof(uint32_t) + sizeof(float) + 1); }

 private:
  absl::flat_hash_map<uint32_t, float> peaks_;  // by slot
  std::vector<uint32_t> risen_;                 // slots, some of them several times
  std::vector<uint32_t> met_;                   // slots of which no peak was known
};

}  // namespace taut::server
