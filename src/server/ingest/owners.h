// Who owns a pod at the top: from facts where there are any, else from how Kubernetes makes up names.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace taut::server {

// For maps of strings that are asked with views.
struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

// As names of jobs have it: "deployment".
std::string KindInNames(std::string_view kind);

// Between an owner's name and the group of its pods that are a job apart ("fluentd@large"): no name in Kubernetes
// has it.
inline constexpr char kGroupMark = '@';

// Of a pod: what kubectl would name as kind/name, the kind in lower case.
struct TopOwner {
  std::string kind;  // "deployment"; "": not known
  std::string name;
  auto operator<=>(const TopOwner&) const = default;
};

// Keys are "scope/Kind/name"; a scope is a namespace, or "cluster/namespace" where series say their cluster.
// Runs of one program (Jobs that no CronJob makes, Workflows, PipelineRuns, TaskRuns) have one owner:
// "job import" for the Jobs import-x2x4z and import-20261125. It is named after the program that the pod or the
// Job names (ProgramKey), else as the run without what is generated for each (WithoutRunSuffix). A pod without
// an owner that names a program is named after it. The steps of a Workflow differ, as their pods' names say:
// "workflow import-load". Drivers and executors of Spark have the owners "sparkapplication etl-driver" and "...
// etl-exec"
// over all runs of an application, and the revisions of a Knative Service have "service hello".
// The owner of a pod may be said with a group ("DaemonSet/fluentd@large"), which is then part of the top owner's
// name, or with an empty one ("DaemonSet/fluentd@"), which is not. Another source that says the same owner without
// one does not replace it.
// One object, one thread. About 150 bytes a fact.
class OwnerTable {
 public:
  // Child and its owner ("Kind/name" in the child's scope, or "<none>/<none>"). Returns the pods whose top
  // owner this changed; O(1) unless the fact contradicts what the names said, then O(facts).
  std::vector<std::string> Learn(std::string_view child, std::string_view owner);
  void Forget(std::string_view child) { owners_.erase(child); }
  // The child under which Learn takes the program that a Job or pod ("scope/Job/name", "scope/Pod/name") is a run
  // of, as
  // ProgramText.
  static std::string ProgramKey(std::string_view child);
  // What Learn takes of that child: "Program/NAME".
  static std::string ProgramText(std::string_view name);
  size_t size() const { return owners_.size(); }
  // What was learnt of it last; "": nothing.
  std::string_view Said(std::string_view child) const {
    const auto it = owners_.find(child);
    return it == owners_.end() ? std::string_view() : it->second;
  }

  // The pod's top owner; its name is "" only for an empty pod. A pod without an owner is its own owner; a
  // static pod (owned by its node) goes without the node's name.
  TopOwner Find(std::string_view scope, std::string_view pod) const;

  // The same of anything that owns pods, such as a ReplicaSet: itself where nothing is known of it.
  TopOwner TopOf(std::string_view scope, std::string kind, std::string name) const;
  // That of a pod which is not known yet, of this controller. `pod` may be "", and so may `program`.
  TopOwner TopOfNew(std::string_view scope, std::string kind, std::string name, std::string pod,
                    std::string program) const;

 private:
  // The last owner that facts or names give.
  TopOwner EndOfChain(std::string_view scope, std::string kind, std::string name, std::string pod,
                      std::string program) const;
  // nullptr: none is known.
  const std::string* ProgramOf(std::string_view scope, std::string_view kind, std::string_view name) const;

  absl::flat_hash_map<std::string, std::string, StringHash, std::equal_to<>> owners_;
};

// The same from the name alone:
//   web-5d4f8c7b9d-x2x4z     ReplicaSet of a Deployment  deployment/web
//   fluentd-x2x4z            DaemonSet, Job or bare ReplicaSet: fluentd, of unknown kind
//   db-12                    StatefulSet                 statefulset/db
//   backup-28394820-x2x4z    Job of a CronJob            cronjob/backup
//   etl-8b4c7f8a1b2c3d4e-exec-2  executor of Spark        sparkapplication/etl-exec
//   hello-00001-deployment-5d4f8c7b9d-x2x4z  Knative       service/hello
TopOwner OwnerFromPodName(std::string_view pod);
// A ReplicaSet's name without the hash of its Deployment's template; itself if there is none.
std::string_view WithoutTemplateHash(std::string_view replica_set);
// A Job's name without the minute its CronJob was due; itself if there is none.
std::string_view WithoutCronMinute(std::string_view job);
// Whether a label or annotation of this value names a program: it can be part of a job's name.
bool IsProgramName(std::string_view name);
// Whether each object of this kind is one run of a program: "Job", "Workflow".
bool IsRunKind(std::string_view kind);
// A run's name without its last one or two parts that were generated for this run; itself if there is none:
//   import-x2x4z                 five of Kubernetes' random letters
//   import-20261125-1200         seven or more digits (a date, seconds, a pipeline's number), then a time of day
//   import-20261125t120000z
//   import-3f9c2ab               a commit: 7 to 64 hex digits with both digits and letters among them
//   import-123e4567-e89b-12d3-a456-426614174000
// Shorter numbers stay: import-2 may be another program than import-1.
std::string_view WithoutRunSuffix(std::string_view run);

}  // namespace taut::server
