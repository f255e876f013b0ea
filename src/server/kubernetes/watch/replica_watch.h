// StatefulSets whose replicas use different amounts, where no cluster is watched. Names of jobs and tasks say
// which are replicas of one workload.
#pragma once

#include <string>

#include "common/model/closed_window.h"
#include "server/control/control_plane.h"
#include "server/kubernetes/watch/replica_spread.h"

namespace taut::server {

// Thread-safe.
class ReplicaWatch {
 public:
  // Looks at each window of now that `control` closes, which outlives it.
  explicit ReplicaWatch(ControlPlane& control);
  // For people; "": they do not differ.
  std::string NoticeOf(const std::string& job) const { return spread_.HintOf(job); }

 private:
  void OnWindow(const ClosedWindow& window);

  ControlPlane& control_;
  ReplicaSpread spread_{ReplicaSpread::Splits::kNever};
};

}  // namespace taut::server
