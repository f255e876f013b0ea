// Whether replicas of a StatefulSet use different amounts for long, as a primary and its standbys do: then one
// limit for all of them is more than most need, and people may split the workload (workload_split.h). No I/O.
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

// What a replica used in one window: the mean of CPU, the peak of memory; absent: not measured.
struct ReplicaUse {
  std::string pod;
  Amounts used;
};

// Thread-safe. About 100 bytes a replica. Nothing of it is kept over a restart.
class ReplicaSpread {
 public:
  // Of windows of five minutes: averages have a half-life of six hours, and say nothing before twelve hours.
  static constexpr int kFewestWindows = 144;
  static constexpr double kHalfLifeWindows = 72;
  // The largest is more than this times the smallest and this much more; a hint stands until it is less than kEnd
  // times.
  static constexpr double kBegin = 2, kEnd = 1.5;
  static constexpr double kMaterialCores = 0.1, kMaterialBytes = 100.0 * 1024 * 1024;

  // Whether the annotation that gives each replica its own limit has an effect. kNever: no cluster is watched.
  enum class Splits : uint8_t { kByAnnotation, kNever };
  explicit ReplicaSpread(Splits splits = Splits::kByAnnotation) : splits_(splits) {}

  // A window in which at least two of the job's replicas were measured.
  void Observe(const std::string& job, const std::vector<ReplicaUse>& window);
  // Jobs that were not observed since the last call are forgotten: once after each window.
  void EndWindow();
  // "db-0 uses 4.2 times as much memory as db-2 (...)", for people; "": they do not differ.
  std::string HintOf(const std::string& job) const;
  // Jobs whose replicas began to differ since the last call.
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
  void Judge(Spread& spread) const;

  const Splits splits_;
  mutable std::mutex mutex_;
  std::map<std::string, Spread> jobs_;
  std::vector<std::string> new_;
};

}  // namespace taut::server
