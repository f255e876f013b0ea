// Numbers of tasks that series of a controller report (kube-state-metrics); they are not usage.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/model/closed_window.h"
#include "server/ingest/mapping_rules.h"
#include "server/ingest/owners.h"
#include "server/ingest/remote_write.h"

namespace taut::server {

// Keeps the last sample of each series in each open window, so that the order of samples and their
// distribution over requests do not matter. Such a series creates no job. Not thread-safe.
class ReplicaCounts {
 public:
  // Adds a series with kind kReplicas or kReplicasReady for the job of this name. "NAME/*": for every job
  // named NAME/ and one more part (the containers of a workload). Returns the series' number.
  uint32_t Add(std::string_view about, SeriesKind kind, double scale);
  // Notes a sample. A stale marker ends the series until its next sample.
  void See(uint32_t series, const RemoteSample& sample);
  // Returns the counts from the last samples in the window; of two series for the same count, the larger
  // counts. Unknown if no series has a sample in the window, or the last one ended there.
  SaidReplicas Of(std::string_view job, WindowId window) const;
  // Forgets samples of windows outside [first, last]. O(series).
  void Keep(WindowId first, WindowId last);
  // Forgets the series with alive[number] == 0. REQUIRES: alive.size() == num_series().
  void KeepAlive(std::span<const uint8_t> alive);

  // All numbers are below this.
  size_t num_series() const { return series_.size(); }
  bool empty() const { return workloads_.empty(); }
  size_t state_bytes() const;

 private:
  struct Last {
    WindowId window;
    RemoteSample sample;
  };
  struct Series {
    std::string about;  // "": this number is free
    bool ready = false;
    double scale = 1;
    std::vector<Last> last;  // one or two windows, in any order
  };
  void TakeLargest(std::string_view about, WindowId window, SaidReplicas& said) const;

  std::vector<Series> series_;
  std::vector<uint32_t> free_;
  // Numbers of the series, by job name or by "NAME/".
  absl::flat_hash_map<std::string, std::vector<uint32_t>, StringHash, std::equal_to<>> workloads_;
};

}  // namespace taut::server
