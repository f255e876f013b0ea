// Settings of jobs that users write with kubectl, as annotations of namespaces and workloads. Each annotation
// becomes a label of the object's jobs, and the label becomes a setting (PolicyRules).
//
//   tautline.dev/KEY            for the workload, or every workload of the namespace
//   CONTAINER.tautline.dev/KEY  for one container of the workload
//
// The label tautline.dev/mode with the value off or observe opts out, like the annotation. If both are present,
// the safer mode applies. Other labels tautline.dev/KEY have no effect. Labels and annotations of pods can only
// opt out.
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
// Returns true if no limit is set in this mode: "off" or "observe".
bool IsOptOut(std::string_view mode);
// Sets the label `key` to `mode`, which must opt out. An existing value off is not replaced, because off is safer
// than observe.
void TakeSaferMode(std::string_view key, std::string_view mode, std::vector<Label>& labels);

// The current annotations of namespaces and workloads. Thread-safe.
class Steering {
 public:
  // Replaces all objects of a kind, such as "Deployment" or "Namespace". Objects without annotations of Tautline
  // use no memory.
  void Replace(const std::string& kind, const std::vector<OwnedObject>& objects);
  void Put(const std::string& kind, const OwnedObject& object);
  void Remove(const std::string& kind, const OwnedObject& object);

  // Returns true once objects of this kind were listed; `kind` is as in Replace(). Before the list, a missing
  // annotation does not mean that an annotation was removed.
  bool Knows(const std::string& kind) const;
  // Returns a number that grows with every change of the settings.
  uint64_t version() const;
  // An annotation or label without effect.
  struct Refused {
    std::string kind, namespace_name, name;  // kind, such as "Deployment", namespace and name of the object
    std::string sentence;
  };
  // Returns the refusals since the last call, at most kMostRefused. A refusal is returned again only after it
  // changed.
  static constexpr size_t kMostRefused = 1000;
  std::vector<Refused> TakeRefused();
  // Adds a refusal about the pods of an object. Each sentence is returned once, even if several pods cause it.
  void NoteOfPods(const Refused& refused);
  // Returns the labels for the workload's job, ascending. Labels of the container override labels of the workload,
  // which override labels of the namespace.
  std::vector<Label> Of(const WorkloadName& workload) const;

 private:
  // REQUIRES (all functions below): mutex_ is locked.
  void PutLocked(const std::string& kind, const OwnedObject& object);
  void NoteRefused(const std::string& key, const std::string& kind, const OwnedObject& object);
  static std::string KeyOf(const std::string& kind, const OwnedObject& object);

  mutable std::mutex mutex_;
  uint64_t version_ = 0;
  std::set<std::string> kinds_;
  std::map<std::string, std::vector<Label>> annotations_;    // labels by WorkloadKey()
  std::map<std::string, std::vector<std::string>> refused_;  // sentences by WorkloadKey()
  std::set<std::string> of_pods_;  // refusals added by NoteOfPods(), at most kMostRefused
  std::vector<Refused> news_;      // refusals for TakeRefused()
};

}  // namespace taut::server
