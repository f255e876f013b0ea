// Detects StatefulSets whose replicas use different amounts, for a tautd that watches no cluster. The names of
// jobs and tasks show which tasks are replicas of one workload.
#pragma once

#include <string>

#include "common/model/closed_window.h"
#include "server/control/control_plane.h"
#include "server/kubernetes/watch/replica_spread.h"

namespace taut::server {

// Observes the windows of a control plane. Thread-safe.
class ReplicaWatch {
 public:
  // Observes the windows that `control` closes, except windows in the past. `control` must outlive this object,
  // and this object must outlive every tick of `control`.
  explicit ReplicaWatch(ControlPlane& control);
  // Returns a sentence for users about differences between the job's replicas; "" if they do not differ.
  std::string NoticeOf(const std::string& job) const { return spread_.HintOf(job); }

 private:
  void OnWindow(const ClosedWindow& window);

  ControlPlane& control_;
  ReplicaSpread spread_{ReplicaSpread::Splits::kNever};
};

}  // namespace taut::server
