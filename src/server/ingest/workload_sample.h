// Typed values and facts of a source that knows its workloads. (Senders of series need mapping rules
// instead.) A cluster that tautd watches itself is such a source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/model/labels.h"
#include "common/model/workload.h"
#include "server/ingest/mapping_rules.h"
#include "server/ingest/remote_write.h"

namespace taut::server {

// A container of a task, or a whole task.
struct WorkloadPart {
  Workload job;           // workload of the job; known() is true
  std::string task = {};  // name such as "web-5d4f8c7b9d-x2x4z"
  std::string part = {};  // MappingRule::part; "": the whole task
  std::string pod = {};   // pod of a WorkloadFact; "" if none
  // ID of the container in its runtime, 64 hex digits, which an agent that measures the container also reports.
  // "": unknown.
  std::string container_id = {};
  // Keys in any order; the job inherits the labels in Ingest::Options::job_labels.
  std::vector<Label> labels = {};
};

// A fact about a pod or its owner. Series of other sources that name the pod are mapped to its job by this
// fact.
struct WorkloadFact {
  SeriesKind kind = SeriesKind::kOwner;  // kind of the fact: kOwner, kInitContainer or kPodLabels
  std::string about;               // child of OwnerTable: "shop/Pod/web-0", "shop/ReplicaSet/web-5d4f8c7b9d"
  std::string says = {};           // owner ("ReplicaSet/web-5d4f8c7b9d"), container or program
  std::vector<Label> labels = {};  // labels of kPodLabels, with the names of kube-state-metrics
  // Group of the pod's workload that the pod belongs to, for kOwner (Workload::group); "": none. Absent: the
  // source does not split the workload.
  std::optional<std::string> group = {};
  uint64_t version = 0;  // version of the fact; a fact replaces facts of other versions about its pod
};

// Receives the reports of a source. Implementations document their threads.
class WorkloadIntake {
 public:
  virtual ~WorkloadIntake() = default;
  // Reports a value of this kind, in the unit of the kind. kReplicas and kReplicasReady belong to the job, so
  // their part has no task. Kinds of facts are not allowed. Times of one part and kind are ascending.
  virtual void Take(const WorkloadPart& part, SeriesKind kind, const RemoteSample& sample) = 0;
  virtual void Take(const WorkloadFact& fact, int64_t timestamp_ms) = 0;
};

// The Encode functions encode a value or fact for the sample log, as the value of one label.
std::string EncodePart(const WorkloadPart& part, SeriesKind kind);
std::string EncodeFact(const WorkloadFact& fact);
// The Decode functions decode a value or fact; nullopt if the text is damaged or from a newer version.
std::optional<std::pair<WorkloadPart, SeriesKind>> DecodePart(std::string_view bytes);
std::optional<WorkloadFact> DecodeFact(std::string_view bytes);
// Metrics in the sample log whose label kPackedLabel contains a value or a fact. Only the replay of the log
// decodes these series; Ingest::Write refuses them.
inline constexpr std::string_view kPartMetric = "tautline_workload_part",
                                  kFactMetric = "tautline_workload_fact", kPackedLabel = "packed";

}  // namespace taut::server
