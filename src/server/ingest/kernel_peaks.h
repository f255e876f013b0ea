// Memory peaks that the kernel keeps for a cgroup since its start: memory.peak, memory.max_usage_in_bytes,
// container_memory_max_usage_bytes. Unlike samples of usage, they miss no peak between two samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/ingest/series_mapper.h"

namespace taut::server {

// Peaks of a job with a task that exceeded its last peak or was first seen.
struct KernelPeak {
  JobId job;
  double bytes = 0;             // highest peak of the tasks that grew; 0 if none did
  std::vector<float> met;       // peaks of the tasks first seen
  std::vector<float> standing;  // peaks of all its tasks
};

// Not thread-safe. About 16 bytes a series.
class KernelPeaks {
 public:
  // Notes a peak, bytes. A peak below the last one belongs to a new start of the container.
  void See(uint32_t slot, double bytes);
  // Returns the jobs with tasks that grew or were first seen since the last call. A peak that an agent
  // reports for a task replaces the sum of its parts' series. O(series), or O(1) if there is none.
  std::vector<KernelPeak> TakeRisen(const SeriesMapper& mapper);
  // Forgets these slots.
  void Drop(std::span<const uint32_t> slots);
  size_t state_bytes() const { return peaks_.capacity() * (sizeof(uint32_t) + sizeof(float) + 1); }

 private:
  absl::flat_hash_map<uint32_t, float> peaks_;  // by slot
  std::vector<uint32_t> risen_;                 // slots, possibly repeated
  std::vector<uint32_t> met_;                   // slots without a peak before
};

}  // namespace taut::server
