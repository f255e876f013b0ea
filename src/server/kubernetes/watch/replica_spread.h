// Detects StatefulSets whose replicas use different amounts for hours, such as a primary and its standbys. A limit
// for all replicas then exceeds the need of most replicas, and users may split the workload (workload_split.h). No
// I/O.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/resource.h"
#include "server/kubernetes/client/objects.h"

namespace taut::server {

// Usage of a replica in one window: mean of CPU and peak of memory; absent if not measured.
struct ReplicaUse {
  std::string pod;
  Amounts used;
};

// Exponentially weighted averages of each replica's CPU and memory usage. Thread-safe. Memory: about 100 bytes per
// replica. State is not persistent.
class ReplicaSpread {
 public:
  // Averages have a half-life of six hours, and are used after twelve hours. A window is five minutes.
  static constexpr int kFewestWindows = 144;
  static constexpr double kHalfLifeWindows = 72;
  // Replicas start to differ once the largest average exceeds kBegin times the smallest, and their difference
  // exceeds the material amount. Replicas no longer differ once the largest average is at most kEnd times the
  // smallest, or their difference is at most the material amount.
  static constexpr double kBegin = 2, kEnd = 1.5;
  static constexpr double kMaterialCores = 0.1, kMaterialBytes = 100.0 * 1024 * 1024;

  // kByAnnotation: an annotation splits a StatefulSet. kNever: the annotation has no effect, because tautd watches
  // no cluster.
  enum class Splits : uint8_t { kByAnnotation, kNever };
  explicit ReplicaSpread(Splits splits = Splits::kByAnnotation) : splits_(splits) {}

  // Adds a window of the job. Ignores a window with fewer than two measured replicas. Forgets replicas that are
  // not in `window`.
  void Observe(const std::string& job, const std::vector<ReplicaUse>& window);
  // Forgets jobs without Observe() since the last call. Call once after each window.
  void EndWindow();
  // Returns a sentence for users, such as "Its replicas differ: on average of the last hours db-0 uses ..."; "" if
  // the replicas do not differ.
  std::string HintOf(const std::string& job) const;
  // Returns the jobs whose replicas began to differ since the last call.
  std::vector<std::string> TakeNew();

 private:
  struct Average {
    double sum = 0, weight = 0;
    int windows = 0;
  };
  struct Replica {
    Average cpu, memory;
    bool is_seen = false;  // true if the replica was in the last window
  };
  struct Spread {
    std::map<std::string, Replica> replicas;
    bool is_seen = false;
    PerResource<bool> differs = {};
    std::string hint;
  };
  // Sets `hint` and `differs` from the averages.
  void Judge(Spread& spread) const;

  const Splits splits_;
  mutable std::mutex mutex_;
  std::map<std::string, Spread> jobs_;
  std::vector<std::string> new_;
};

}  // namespace taut::server
