// Finds the top owner of a pod, from facts or from the names that Kubernetes generates.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace taut::server {

// Hash of strings, for maps with string keys that are searched by string_view.
struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

// Returns the kind in the form of job names, such as "deployment".
std::string KindInNames(std::string_view kind);

// Top owner of a pod. The kind is in lower case, as in the output of kubectl.
struct TopOwner {
  std::string kind;  // kind such as "deployment"; "" if unknown
  std::string name;
  std::string group = {};  // Workload::group of the pod's workload; "" if none
  auto operator<=>(const TopOwner&) const = default;
};

// Facts about owners. Keys are "scope/Kind/name"; a scope is a namespace, or "cluster/namespace" if the
// series have a label cluster.
//
// Runs of one program (Jobs without a CronJob, Workflows, PipelineRuns, TaskRuns) have one owner: "job import" for
// the Jobs import-x2x4z and import-20261125. The owner's name is the program that the pod or the Job names
// (ProgramKey), else the run's name without its generated parts (WithoutRunSuffix). A pod that names a program and
// has no owner belongs to this program.
//
// Steps of a Workflow differ by the names of their pods: "workflow import-load". Drivers and executors of
// Spark have the owners "sparkapplication etl-driver" and "sparkapplication etl-exec" over all runs of an
// application. Revisions of a Knative Service have "service hello".
//
// A pod has a group if its source splits the pod's workload (Workload::group). If another source reports the
// same owner without a group, the group stays.
//
// Not thread-safe. Uses about 150 bytes per fact.
class OwnerTable {
 public:
  // Stores a child's owner: "Kind/name" in the child's scope, or "<none>/<none>". `group`: group of a pod; "":
  // none; absent: the source does not split workloads. Returns the pods whose top owner changed. O(1) if no top
  // owner changes, else O(facts).
  std::vector<std::string> Learn(std::string_view child, std::string_view owner,
                                 std::optional<std::string_view> group = std::nullopt);
  // Forgets the owner and the group of this child.
  void Forget(std::string_view child) {
    owners_.erase(child);
    groups_.erase(child);
  }
  // Returns the key for the program of a Job or pod ("scope/Job/name", "scope/Pod/name"). Learn accepts this
  // key as a child whose owner is a ProgramText.
  static std::string ProgramKey(std::string_view child);
  // Returns the owner of a child with a ProgramKey: "Program/NAME".
  static std::string ProgramText(std::string_view name);
  size_t size() const { return owners_.size(); }
  // Returns the owner stored last for this child; "" if none.
  std::string_view Said(std::string_view child) const { return In(owners_, child); }
  // Returns the group stored last for this child; "" if none.
  std::string_view GroupOf(std::string_view child) const { return In(groups_, child); }

  // Returns the pod's top owner. A pod without an owner is its own owner. The result's name is "" only if
  // `pod` is empty. The name of a static pod, whose owner is its node, loses the node's name.
  TopOwner Find(std::string_view scope, std::string_view pod) const;

  // Returns the top owner of an object that owns pods, such as a ReplicaSet; the object itself if no owner is
  // known.
  TopOwner TopOf(std::string_view scope, std::string kind, std::string name) const;
  // Returns the top owner of a new pod of this controller. `pod` and `program` may be "".
  TopOwner TopOfNew(std::string_view scope, std::string kind, std::string name, std::string pod,
                    std::string program) const;

 private:
  using Texts = absl::flat_hash_map<std::string, std::string, StringHash, std::equal_to<>>;
  static std::string_view In(const Texts& texts, std::string_view key) {
    const auto it = texts.find(key);
    return it == texts.end() ? std::string_view() : it->second;
  }
  // Returns the last owner in the chain of owners, by facts or names.
  TopOwner EndOfChain(std::string_view scope, std::string kind, std::string name, std::string pod,
                      std::string program) const;
  // Returns the program of an object; nullptr if no program is known.
  const std::string* ProgramOf(std::string_view scope, std::string_view kind, std::string_view name) const;

  Texts owners_;
  Texts groups_;  // groups by child; children without a group are missing
};

// Returns the top owner, derived only from the pod's name:
//   web-5d4f8c7b9d-x2x4z     ReplicaSet of a Deployment  deployment/web
//   fluentd-x2x4z            DaemonSet, Job or bare ReplicaSet: fluentd, of unknown kind
//   db-12                    StatefulSet                 statefulset/db
//   backup-28394820-x2x4z    Job of a CronJob            cronjob/backup
//   etl-8b4c7f8a1b2c3d4e-exec-2  executor of Spark        sparkapplication/etl-exec
//   hello-00001-deployment-5d4f8c7b9d-x2x4z  Knative       service/hello
TopOwner OwnerFromPodName(std::string_view pod);
// Returns a ReplicaSet's name without the hash of its Deployment's template; the unchanged name if it has no
// hash.
std::string_view WithoutTemplateHash(std::string_view replica_set);
// Returns a Job's name without the minute at which its CronJob was due; the unchanged name if it has no
// minute.
std::string_view WithoutCronMinute(std::string_view job);
// Returns true if a label or annotation with this value names a program: the value can be part of a job's
// name.
bool IsProgramName(std::string_view name);
// Returns true if each object of this kind is one run of a program, such as "Job" or "Workflow".
bool IsRunKind(std::string_view kind);
// Returns a run's name without its last one or two generated parts; the unchanged name if it has no such
// parts:
//   import-x2x4z                 five of Kubernetes' random letters
//   import-20261125-1200         seven or more digits (a date, seconds, a pipeline's number), then a time
//   import-20261125t120000z
//   import-3f9c2ab               a commit: 7 to 64 hex digits with both digits and letters
//   import-123e4567-e89b-12d3-a456-426614174000
// Shorter numbers stay: import-2 may be another program than import-1.
std::string_view WithoutRunSuffix(std::string_view run);

}  // namespace taut::server
