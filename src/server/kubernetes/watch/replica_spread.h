// Finds StatefulSets whose replicas use different amounts for hours, as a primary and its standbys do. One
// limit for all replicas is then more than most of them need, and people may split the workload
// (workload_split.h). No I/O.
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

// The amounts that a replica used in one window: the mean of CPU, the peak of memory; absent if not measured.
struct ReplicaUse {
  std::string pod;
  Amounts used;
};

// Exponentially weighted averages of each replica. Thread-safe. About 100 bytes a replica, which a restart
// loses.
class ReplicaSpread {
 public:
  // Windows last five minutes: averages have a half-life of six hours, and count from twelve hours on.
  static constexpr int kFewestWindows = 144;
  static constexpr double kHalfLifeWindows = 72;
  // Replicas begin to differ if the largest average is above kBegin times the smallest and above it by the
  // material amount. They differ until it is at most kEnd times the smallest, or no longer material.
  static constexpr double kBegin = 2, kEnd = 1.5;
  static constexpr double kMaterialCores = 0.1, kMaterialBytes = 100.0 * 1024 * 1024;

  // Whether the annotation that splits a StatefulSet has an effect; kNever if tautd watches no cluster.
  enum class Splits : uint8_t { kByAnnotation, kNever };
  explicit ReplicaSpread(Splits splits = Splits::kByAnnotation) : splits_(splits) {}

  // Adds a window of the job; ignored if fewer than two replicas were measured. Replicas that are not in it
  // are forgotten.
  void Observe(const std::string& job, const std::vector<ReplicaUse>& window);
  // Forgets jobs that were not observed since the last call. Call it once after each window.
  void EndWindow();
  // Returns a sentence for people, such as "Its replicas differ: on average of the last hours db-0 uses ...";
  // "" if they do not differ.
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
    bool is_seen = false;  // in the last window
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
