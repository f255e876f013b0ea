// Finds StatefulSets whose replicas use different amounts for hours, such as a primary and its standbys. One
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

// The amounts that a replica used in one window: the mean of its CPU and the peak of its memory; absent if
// not measured.
struct ReplicaUse {
  std::string pod;
  Amounts used;
};

// Exponentially weighted averages of the CPU and memory usage of each replica. Thread-safe. Uses about 100
// bytes for each replica. State is not persisted.
class ReplicaSpread {
 public:
  // A window is five minutes: averages have a half-life of six hours, and are used after twelve hours.
  static constexpr int kFewestWindows = 144;
  static constexpr double kHalfLifeWindows = 72;
  // Replicas begin to differ if the largest average is more than kBegin times the smallest, and larger by the
  // material amount. They stop to differ if it is at most kEnd times the smallest, or no longer larger by
  // this amount.
  static constexpr double kBegin = 2, kEnd = 1.5;
  static constexpr double kMaterialCores = 0.1, kMaterialBytes = 100.0 * 1024 * 1024;

  // States whether the annotation that splits a StatefulSet has an effect. kNever if tautd watches no
  // cluster.
  enum class Splits : uint8_t { kByAnnotation, kNever };
  explicit ReplicaSpread(Splits splits = Splits::kByAnnotation) : splits_(splits) {}

  // Adds a window of the job. A window in which fewer than two replicas were measured is ignored. Replicas
  // that are not in `window` are forgotten.
  void Observe(const std::string& job, const std::vector<ReplicaUse>& window);
  // Forgets jobs that were not observed since the last call. Call once after each window.
  void EndWindow();
  // Returns a sentence for people, such as "Its replicas differ: on average of the last hours db-0 uses ...";
  // "" if the job's replicas do not differ.
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
    bool is_seen = false;  // seen in the last window
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
