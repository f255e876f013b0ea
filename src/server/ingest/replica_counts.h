// Numbers of tasks that a controller's series report (kube-state-metrics). These series are not usage.
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

// Stores the last sample of each series in each open window, so that the order of samples and their
// distribution over requests do not matter. A series of counts creates no job. Not thread-safe.
class ReplicaCounts {
 public:
  // Adds a series with kind kReplicas or kReplicasReady for the job of this name. "NAME/*": for every job
  // whose name is NAME/ and one more part (the containers of a workload). Returns the series' number.
  uint32_t Add(std::string_view about, SeriesKind kind, double scale);
  // Processes a sample. A stale marker ends the series until the series' next sample.
  void See(uint32_t series, const RemoteSample& sample);
  // Returns the job's counts, from the last samples in the window. If several series report one count, the largest
  // value is used. A count is unknown if no series has a sample in the window, or if the last series of the count
  // ended in the window.
  SaidReplicas Of(std::string_view job, WindowId window) const;
  // Forgets samples of windows outside [first, last]. O(series).
  void Keep(WindowId first, WindowId last);
  // Forgets the series with alive[number] == 0. REQUIRES: alive.size() == num_series().
  void KeepAlive(std::span<const uint8_t> alive);

  // Returns the upper bound of the series' numbers, exclusive.
  size_t num_series() const { return series_.size(); }
  bool empty() const { return workloads_.empty(); }
  size_t state_bytes() const;

 private:
  struct Last {
    WindowId window;
    RemoteSample sample;
  };
  struct Series {
    std::string about;  // name of a job, or prefix of job names; "": the series number is unused
    bool ready = false;
    double scale = 1;
    std::vector<Last> last;  // last samples in one or two windows, in any order
  };
  void TakeLargest(std::string_view about, WindowId window, SaidReplicas& said) const;

  std::vector<Series> series_;
  std::vector<uint32_t> free_;
  // Numbers of the series, by job name or by "NAME/", the prefix of job names.
  absl::flat_hash_map<std::string, std::vector<uint32_t>, StringHash, std::equal_to<>> workloads_;
};

}  // namespace taut::server
