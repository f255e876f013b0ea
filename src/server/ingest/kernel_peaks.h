// Memory peaks that the kernel stores for a cgroup since its start: memory.peak, memory.max_usage_in_bytes,
// container_memory_max_usage_bytes. Unlike samples of usage, the kernel's peak includes usage between two
// samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/ingest/series_mapper.h"

namespace taut::server {

// Peaks of a job in which the peak of a task rose or a task was first seen.
struct KernelPeak {
  JobId job;
  double bytes = 0;             // highest peak of the tasks whose peak rose; 0 if none rose
  std::vector<float> met;       // peaks of the tasks first seen
  std::vector<float> standing;  // peaks of all tasks of the job
};

// Not thread-safe. Uses about 16 bytes per series.
class KernelPeaks {
 public:
  // Stores the peak of a series, bytes. A peak below the series' last peak belongs to a new start of the
  // container.
  void See(uint32_t slot, double bytes);
  // Returns the jobs in which a task's peak rose or a task was first seen since the last call. A peak that an
  // agent reports for a task replaces the sum over the series of the task's parts. O(series), or O(1) if no
  // peak has changed.
  std::vector<KernelPeak> TakeRisen(const SeriesMapper& mapper);
  // Forgets these slots.
  void Drop(std::span<const uint32_t> slots);
  size_t state_bytes() const { return peaks_.capacity() * (sizeof(uint32_t) + sizeof(float) + 1); }

 private:
  absl::flat_hash_map<uint32_t, float> peaks_;  // highest peak of each slot, bytes
  std::vector<uint32_t> risen_;                 // slots, possibly repeated
  std::vector<uint32_t> met_;                   // slots that had no peak before
};

}  // namespace taut::server
