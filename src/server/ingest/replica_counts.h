// How many tasks a workload has by the word of a series (kube-state-metrics), which is no usage of any task.
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

// Keeps the last sample of each series in each window that is open, so that neither the order of samples nor
// their split over requests matters. A series makes no job: a count without usage is of no use. Not thread-safe.
class ReplicaCounts {
 public:
  // A series of kind kReplicas or kReplicasReady about the job of this name; "NAME/*": about every job whose name
  // is NAME/ and one part more (the containers of a workload). Returns its number.
  uint32_t Add(std::string_view about, SeriesKind kind, double scale);
  // A stale marker ends the series until its next sample.
  void See(uint32_t series, const RemoteSample& sample);
  // By the last samples in the window; of two series that say the same thing the larger counts. Not known: no
  // series spoke in the window, or its end was the last that was heard.
  SaidReplicas Of(std::string_view job, WindowId window) const;
  // Forgets samples of windows outside [first, last].
  void Keep(WindowId first, WindowId last);
  // Forgets the series for which alive[number] is 0; REQUIRES: alive.size() == num_series().
  void KeepAlive(std::span<const uint8_t> alive);

  // Numbers up to this are given.
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
    std::vector<Last> last;  // windows in any order: one or two
  };
  void TakeLargest(std::string_view about, WindowId window, SaidReplicas& said) const;

  std::vector<Series> series_;
  std::vector<uint32_t> free_;
  // The numbers of its series.
  absl::flat_hash_map<std::string, std::vector<uint32_t>, StringHash, std::equal_to<>> workloads_;
};

}  // namespace taut::server
