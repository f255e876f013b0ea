// Settings of jobs that people write with kubectl, as annotations of namespaces and workloads. Each
// annotation becomes a label of the jobs of its object, and the label becomes a setting (PolicyRules).
//
//   tautline.dev/KEY            for the workload, or every workload of the namespace
//   CONTAINER.tautline.dev/KEY  for one container of the workload
//
// The label tautline.dev/mode with the value off or observe opts out, as the annotation does. If both are
// present, the safer mode is used. Other labels with such names have no effect. Labels and annotations of
// pods can opt out, and have no other effect.
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
// Returns true if the mode sets no limit, that is, if it is "off" or "observe".
bool IsOptOut(std::string_view mode);
// Sets the label `key` to `mode`, which must opt out. If the label is off already, it stays, because off is
// safer than observe.
void TakeSaferMode(std::string_view key, std::string_view mode, std::vector<Label>& labels);

// The annotations of namespaces and workloads, as last seen. Thread-safe.
class Steering {
 public:
  // Replaces all objects of a kind, such as "Deployment" or "Namespace". Objects without such annotations use
  // no memory.
  void Replace(const std::string& kind, const std::vector<OwnedObject>& objects);
  void Put(const std::string& kind, const OwnedObject& object);
  void Remove(const std::string& kind, const OwnedObject& object);

  // Returns true once objects of this kind were listed. `kind` has the form that Replace receives. Before the
  // list, a missing annotation does not mean that it was removed.
  bool Knows(const std::string& kind) const;
  // Returns a number that grows with every change of the settings.
  uint64_t version() const;
  // An annotation or label that has no effect.
  struct Refused {
    std::string kind, namespace_name, name;  // kind ("Deployment"), namespace and name of the object
    std::string sentence;
  };
  // Returns the refusals that are new since the last call, at most kMostRefused. A refusal is returned again
  // only after it has changed.
  static constexpr size_t kMostRefused = 1000;
  std::vector<Refused> TakeRefused();
  // Adds a refusal about the pods of an object. Each sentence is returned once, even if several pods cause
  // it.
  void NoteOfPods(const Refused& refused);
  // Returns the labels of the workload's job, ascending. Labels of the container override labels of the
  // workload, which override labels of the namespace.
  std::vector<Label> Of(const WorkloadName& workload) const;

 private:
  // These functions require mutex_.
  void PutLocked(const std::string& kind, const OwnedObject& object);
  void NoteRefused(const std::string& key, const std::string& kind, const OwnedObject& object);
  static std::string KeyOf(const std::string& kind, const OwnedObject& object);

  mutable std::mutex mutex_;
  uint64_t version_ = 0;
  std::set<std::string> kinds_;
  std::map<std::string, std::vector<Label>> annotations_;    // by WorkloadKey
  std::map<std::string, std::vector<std::string>> refused_;  // by WorkloadKey
  std::set<std::string> of_pods_;  // refusals that NoteOfPods has added, at most kMostRefused
  std::vector<Refused> news_;      // for TakeRefused
};

}  // namespace taut::server
