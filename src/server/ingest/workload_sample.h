// Typed values and facts from a source with known workloads; senders of series need mapping rules instead. A
// cluster that tautd watches itself reports this way.
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
  Workload job;           // known()
  std::string task = {};  // such as "web-5d4f8c7b9d-x2x4z"
  std::string part = {};  // as MappingRule::part; "": the whole task
  std::string pod = {};   // pod of a WorkloadFact; "" if none
  // 64 hex digits that identify it in its runtime, by which an agent that measures the same container is
  // found. "": unknown.
  std::string container_id = {};
  std::vector<Label> labels = {};  // the job inherits those in Ingest::Options::job_labels; keys in any order
};

// A fact about a pod or its owner, by which series from elsewhere that name the pod find its job.
struct WorkloadFact {
  SeriesKind kind = SeriesKind::kOwner;  // kOwner, kInitContainer or kPodLabels
  std::string about;               // as in OwnerTable: "shop/Pod/web-0", "shop/ReplicaSet/web-5d4f8c7b9d"
  std::string says = {};           // owner ("ReplicaSet/web-5d4f8c7b9d"), container or program
  std::vector<Label> labels = {};  // for kPodLabels, with names as in metrics
  uint64_t version = 0;            // a fact about the same pod with another version replaces this one
};

// Receiver of a source's reports. Implementations document their threads.
class WorkloadIntake {
 public:
  virtual ~WorkloadIntake() = default;
  // Reports a value of the kind, in its unit. kReplicas and kReplicasReady belong to the job, so their part
  // has no task; other kinds of facts are not allowed. Times of one part and kind are ascending.
  virtual void Take(const WorkloadPart& part, SeriesKind kind, const RemoteSample& sample) = 0;
  // Reports a fact.
  virtual void Take(const WorkloadFact& fact, int64_t timestamp_ms) = 0;
};

// These encode a value or fact for the sample log, as the value of one label.
std::string EncodePart(const WorkloadPart& part, SeriesKind kind);
std::string EncodeFact(const WorkloadFact& fact);
// These decode it; nullopt if it is damaged or from a newer version.
std::optional<std::pair<WorkloadPart, SeriesKind>> DecodePart(std::string_view bytes);
std::optional<WorkloadFact> DecodeFact(std::string_view bytes);
// Metrics in the sample log that contain these in their label kPackedLabel. Only the replay of the log decodes
// them; Ingest::Write refuses them.
inline constexpr std::string_view kPartMetric = "tautline_workload_part",
                                  kFactMetric = "tautline_workload_fact", kPackedLabel = "packed";

}  // namespace taut::server
