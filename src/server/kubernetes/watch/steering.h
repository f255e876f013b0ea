// Settings of jobs that people write with kubectl: annotations of namespaces and workloads, of which each
// becomes a label of its jobs and thereby a setting (PolicyRules).
//
//   tautline.dev/KEY            for the workload, or every workload of the namespace
//   CONTAINER.tautline.dev/KEY  for one container of the workload
//
// A label tautline.dev/mode opts out like the annotation, with the value off or observe. Where label and
// annotation differ, the safer mode counts. Other labels of such names are not used. Labels and annotations of
// pods opt out, too, and do nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/labels.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

inline constexpr std::string_view kModeLabel = "tautline.dev/mode";
// Whether this value of a mode sets nothing: "off" or "observe".
bool IsOptOut(std::string_view mode);
// Puts `key` with this mode, one that opts out, unless `labels` has a safer one: off is safer than observe.
void TakeSaferMode(std::string_view key, std::string_view mode, std::vector<Label>& labels);

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
  struct Refused {
    std::string kind, namespace_name, name;  // of the object; "Deployment"
    std::string sentence;
  };
  // What of objects is not used, each once until it changes, since the last call; at most kMostRefused.
  static constexpr size_t kMostRefused = 1000;
  std::vector<Refused> TakeRefused();
  // What of the pods of an object is not used. Each sentence counts once, whichever pods are there.
  void NoteOfPods(const Refused& refused);
  // The labels of the workload's job, ascending: those of a container before those of the workload, and these
  // before those of its namespace.
  std::vector<Label> Of(const WorkloadName& workload) const;

 private:
  // REQUIRE: mutex_
  void PutLocked(const std::string& kind, const OwnedObject& object);
  void NoteRefused(const std::string& key, const std::string& kind, const OwnedObject& object);
  static std::string KeyOf(const std::string& kind, const OwnedObject& object);

  mutable std::mutex mutex_;
  uint64_t version_ = 0;
  std::set<std::string> kinds_;
  std::map<std::string, std::vector<Label>> annotations_;    // by WorkloadKey
  std::map<std::string, std::vector<std::string>> refused_;  // likewise
  std::set<std::string> of_pods_;  // that NoteOfPods has taken, at most kMostRefused
  std::vector<Refused> news_;      // for TakeRefused
};

}  // namespace taut::server
