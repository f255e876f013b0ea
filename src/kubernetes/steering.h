// Settings of jobs that people write with kubectl: annotations of namespaces and workloads, of which each
// becomes a label of its jobs and thereby a setting (PolicyRules).
//
//   tautline.dev/KEY            for the workload, or every workload of the namespace
//   CONTAINER.tautline.dev/KEY  for one container of the workload
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kubernetes/cluster.h"
#include "model/labels.h"

namespace taut {

// Thread-safe.
class Steering {
 public:
  // `kind`: "Deployment", "Namespace", ...; objects without such annotations cost nothing.
  void Replace(const std::string& kind, const std::vector<OwnedObject>& objects);
  void Put(const std::string& kind, const OwnedObject& object);
  void Remove(const std::string& kind, const OwnedObject& object);

  // Whether objects of this kind, as Replace takes it, were listed: what is missing of another is not known to be
  // gone.
  bool Knows(const std::string& kind) const;
  // Grows with every change.
  uint64_t version() const;
  // The labels of the workload's job, ascending: those of a container before those of the workload, and these
  // before those of its namespace.
  std::vector<Label> Of(const WorkloadName& workload) const;

 private:
  void PutLocked(const std::string& kind, const OwnedObject& object);  // REQUIRES: mutex_
  static std::string KeyOf(const std::string& kind, const OwnedObject& object);

  mutable std::mutex mutex_;
  uint64_t version_ = 0;
  std::set<std::string> kinds_;
  std::map<std::string, std::vector<Label>> annotations_;  // by Cluster::WorkloadKey
};

}  // namespace taut
