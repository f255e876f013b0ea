// What a source that knows its workloads says of them: typed values, where senders of series leave names to the
// mapping rules. A cluster that tautd watches itself reports this way.
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

// A container of a task, or all of a task.
struct WorkloadPart {
  Workload job;           // known
  std::string task = {};  // "web-5d4f8c7b9d-x2x4z"
  std::string part = {};  // what adds up to the task, as MappingRule::part; "": it is all of the task
  std::string pod = {};   // about which there may be a WorkloadFact; "": none
  // 64 hex digits by which its runtime knows it: an agent may measure the same container. "": not known.
  std::string container_id = {};
  std::vector<Label> labels = {};  // those of Ingest::Options::job_labels become the job's, keys in any order
};

// What is said of pods and of what owns them: series from elsewhere that name a pod get its job by this.
struct WorkloadFact {
  SeriesKind kind = SeriesKind::kOwner;  // kOwner, kInitContainer or kPodLabels
  std::string about;               // "shop/Pod/web-0", "shop/ReplicaSet/web-5d4f8c7b9d", as OwnerTable has it
  std::string says = {};           // the owner, "ReplicaSet/web-5d4f8c7b9d"; the container; the program
  std::vector<Label> labels = {};  // of kPodLabels, with names as metrics may have them
  uint64_t version = 0;            // of two facts about one pod the one with another version is news
};

// Where a source reports. Implementations say which thread may call.
class WorkloadIntake {
 public:
  virtual ~WorkloadIntake() = default;
  // A value of the kind, in its unit. kReplicas and kReplicasReady are of the job, whose part has no task; other
  // kinds of facts are none. Times of one part and kind ascend.
  virtual void Take(const WorkloadPart& part, SeriesKind kind, const RemoteSample& sample) = 0;
  virtual void Take(const WorkloadFact& fact, int64_t timestamp_ms) = 0;
};

// As the log of samples keeps them: the value of one label.
std::string EncodePart(const WorkloadPart& part, SeriesKind kind);
std::string EncodeFact(const WorkloadFact& fact);
// nullopt: damaged, or of a newer version.
std::optional<std::pair<WorkloadPart, SeriesKind>> DecodePart(std::string_view bytes);
std::optional<WorkloadFact> DecodeFact(std::string_view bytes);
// Metrics of the log that have these as their label kPackedLabel. Nothing that a sender sends is taken for them.
inline constexpr std::string_view kPartMetric = "tautline_workload_part",
                                  kFactMetric = "tautline_workload_fact", kPackedLabel = "packed";

}  // namespace taut::server
