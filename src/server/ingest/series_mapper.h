// Maps series to job, task and kind, and stores the result. A known series costs one hash lookup and no work
// on text.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "common/base/time.h"
#include "common/model/usage.h"
#include "server/ingest/mapping_rules.h"
#include "server/ingest/owners.h"
#include "server/ingest/replica_counts.h"
#include "server/ingest/series_jobs.h"
#include "server/ingest/slot_lists.h"
#include "server/ingest/workload_sample.h"

namespace taut::server {

// Result for a mapped series. `slot` is a dense number of the series. The slot of a forgotten series is
// reused.
struct SeriesBinding {
  JobId job;
  uint32_t task = 0;  // index within the job, never reused
  uint32_t part = 0;  // hash of the part's name
  uint32_t task_entry = 0;
  float scale = 1;
  SeriesKind kind = SeriesKind::kCpuSecondsTotal;
  uint16_t signal = 0;  // number of the signal as in Mapping
  bool in_use = false;
  bool uses_owner = false;
  // True for a series of an init container, and for a limit that an agent may have set. Such a series is not
  // part of the task's usage.
  bool left_out = false;
};

inline bool TakesAll() { return true; }

struct MapperCounts {
  uint64_t mapped_series = 0;                     // current number of mapped series
  uint64_t unmapped_series = 0, fact_series = 0;  // current numbers of fingerprints
  uint64_t refused_series = 0;           // series over a limit or with an unprintable name, since the start
  uint64_t rebound_series = 0;           // series mapped again after a late owner report, since start
  uint64_t jobs = 0;                     // current number of jobs, without forgotten jobs
  uint64_t refused_jobs = 0;             // series of jobs beyond max_jobs, since the start
  uint64_t name_collisions = 0;          // current number of jobs with series from two sources
  uint64_t claimed_series = 0;           // series of containers that an agent measures, since the start
  uint64_t pods_without_containers = 0;  // current number of pods with only series of the whole pod
};

// Not thread-safe. Memory in addition to jobs and tasks: about 150 bytes per mapped series, 40 per unmapped
// series.
class SeriesMapper {
 public:
  struct Options {
    size_t max_series = 4'000'000;  // greatest number of stored fingerprints, including unmapped series
    size_t max_jobs = 1'000'000;    // greatest number of known jobs
    size_t max_name_bytes = 512;    // limit for names of jobs and tasks, bytes
    uint64_t seed = 0;              // seed of the fingerprints, equal to the decoder's seed
    // Names of the labels that a job inherits, from its first series and from its pods (kPodLabels, as
    // label_NAME).
    std::vector<std::string> job_labels = {"namespace", "cluster", "app", "team", "environment", "tier"};
  };
  enum class Outcome : uint8_t { kMapped, kUnmapped, kFact, kRefused };
  struct Resolution {
    Outcome outcome = Outcome::kUnmapped;
    SeriesKind kind = SeriesKind::kCpuSecondsTotal;
    uint32_t slot = 0;  // slot if kMapped; for numbers of tasks, the series' number in replica_counts()
  };

  explicit SeriesMapper(MappingRules rules) : SeriesMapper(std::move(rules), Options()) {}
  SeriesMapper(MappingRules rules, const Options& options);
  SeriesMapper(const SeriesMapper&) = delete;
  SeriesMapper& operator=(const SeriesMapper&) = delete;

  // Resolves a series received at `now`. A series that is not resolved for an hour is idle. A known series takes
  // 10 to 100 ns, a new series some microseconds. A new series that matches a rule is accepted only if `admit`
  // returns true, which means that a sample of the series is useful. Otherwise the result is kRefused and the
  // series is not stored, so that dropped samples create no job.
  Resolution Resolve(const SeriesView& series, Timestamp now, absl::FunctionRef<bool()> admit = TakesAll);

  // Resolves a task whose agent names its job; mapping rules do not apply. The job inherits labels from `labels`,
  // as from a series. `container`: ID of the task in its container engine, "" if none. From their next sample on,
  // series with this ID in their label `id` belong to the same task. The usage in these series is used only while
  // the agent reports none. Their limits are ignored, because Tautline may have set them. If two tasks name one
  // container, the container belongs to the later task.
  Resolution ResolveTask(std::string_view job, std::string_view task, std::span<const LabelView> labels,
                         Timestamp now, std::string_view container = {});

  // Resolves a value of a WorkloadIntake. `admit`: as in Resolve. Series with the value's container in their
  // label `id`, and an agent that measures this container, belong to the same task.
  Resolution ResolvePart(const WorkloadPart& part, SeriesKind kind, Timestamp now,
                         absl::FunctionRef<bool()> admit);
  // Resolves a fact of a WorkloadIntake.
  Resolution ResolveFact(const WorkloadFact& fact, Timestamp now);

  // Sets whether series of kind start_time are mapped. Initially they are unmapped, like series that match no
  // rule.
  void WantStarts(bool wanted) { wants_starts_ = wanted; }

  // Returns the binding of a slot. REQUIRES: Resolve returned the slot, and ForgetIdle has not returned the slot
  // since.
  const SeriesBinding& binding(uint32_t slot) const { return bindings_[slot]; }
  size_t num_slots() const { return bindings_.size(); }
  // Returns a number that changes with every binding. Callers that keep slots in an order sort the slots again
  // after a change.
  uint64_t version() const { return version_; }

  // Returns the jobs and tasks that series and agents name. A forgotten job has no slot.
  SeriesJobs& jobs() { return jobs_; }
  const SeriesJobs& jobs() const { return jobs_; }
  // Returns the names of the sources of a job's series if there are at least two, such as "agents, Kubernetes":
  // there may then be two workloads with the job's name. Else returns "". REQUIRES: jobs().Has(id).
  std::string Collision(JobId id) const { return sources_.Listed(jobs_.at(id).colliding()); }
  // Forgets a job. Returns false, without effect, while a series or task is bound to it (SeriesJobs::Forget).
  bool ForgetJob(JobId id, int32_t day);

  // Forgets the series that were not resolved in (now - idle, now]. Returns their slots, ascending; the
  // caller drops these slots everywhere before the next Resolve. O(series); one call a minute is enough.
  std::vector<uint32_t> ForgetIdle(Timestamp now, int64_t idle_seconds = 3600);

  MapperCounts counts() const {
    MapperCounts counts = counts_;
    counts.jobs = jobs_.size();
    counts.pods_without_containers = PodsWithoutContainers();
    return counts;
  }
  size_t state_bytes() const;
  const MappingRules& rules() const { return rules_; }
  ReplicaCounts& replica_counts() { return replica_counts_; }
  const ReplicaCounts& replica_counts() const { return replica_counts_; }
  // Returns the mapping of these labels and stores nothing; nullopt if no rule matches. For `taut mapping
  // test`.
  std::optional<Mapping> Explain(std::span<const LabelView> labels) const;

 private:
  struct Entry {
    uint32_t slot = 0;
    uint32_t seen_minute = 0;
    Outcome outcome = Outcome::kUnmapped;
    SeriesKind kind = SeriesKind::kCpuSecondsTotal;
  };
  struct PodLabels {
    uint64_t fingerprint = 0;  // fingerprint of the series with the labels
    std::vector<taut::Label> labels;
    bool names_program = false;  // true if a label names the program of the pod
  };
  struct MeasuredPod {
    uint64_t pod = 0;    // hash of the pod's key
    bool whole = false;  // true for a series of the whole pod, not of a container
  };
  // Task of an agent that measures a container.
  struct Claim {
    std::string job, task;
    bool operator==(const Claim&) const = default;
  };
  Entry Classify(const SeriesView& sent, uint32_t minute);
  // Returns true for a series whose kind was unmapped when the series was first seen and is mapped now.
  bool IsWantedNow(const Entry& entry) const {
    return entry.outcome == Outcome::kUnmapped && entry.kind == SeriesKind::kStartTime && wants_starts_;
  }
  // Returns an entry with a new slot, or with the outcome if the series is refused.
  Entry Place(const Mapping& mapping, std::span<const LabelView> labels, uint32_t minute, uint64_t container);
  Entry PlaceFact(const Mapping& mapping, const SeriesView& series, uint32_t minute);
  // Returns the mapping with the job and task of the agent that measures this container; the unchanged mapping if
  // no agent measures the container.
  Mapping OfClaim(Mapping mapping, uint64_t container) const;
  void ClaimContainer(uint32_t slot, std::string_view container);
  bool IsUsable(const Mapping& mapping) const;
  // Returns the mapping by the rules; nullopt if no rule matches. `sent`: the labels before WithAliases.
  std::optional<Mapping> Match(std::span<const LabelView> sent) const;
  // Notes whether a memory series measures a whole pod or a container, for PodsWithoutContainers().
  void NotePodSeries(const SeriesView& series);
  uint64_t PodsWithoutContainers() const;
  void LearnOwner(const Mapping& fact, uint64_t fingerprint);
  void LearnInitContainer(const Mapping& fact);
  void ForgetFact(SeriesKind kind, const std::string& about, uint64_t fingerprint);
  void LearnPodLabels(const Mapping& fact, const SeriesView& series);
  // Returns the labels that a job inherits, ascending. `with_place`: includes labels that are the job's place
  // (SaysPlace).
  std::vector<taut::Label> OwnLabels(std::span<const LabelView> labels, bool with_place) const;
  // Returns the source's bit number in Job::sources; nullopt if the source is unknown, or 64 other sources
  // exist.
  std::optional<size_t> SourceOf(const Mapping& mapping, std::span<const LabelView> labels);
  void NoteSource(const Mapping& mapping, std::span<const LabelView> labels, bool has_container_id,
                  SeriesJobs::Job& job);
  // Binds a slot to the job and task of a mapping. Returns false if max_jobs jobs exist. `container`: hash of
  // the container's ID, 0 if unknown.
  bool Bind(uint32_t slot, const Mapping& mapping, std::span<const LabelView> labels, uint64_t container);
  void Unbind(uint32_t slot);
  void Rebind(Entry& entry, const SeriesView& series);
  void RebindTo(Entry& entry, const Mapping& mapping, std::span<const LabelView> labels, uint64_t container);
  uint32_t NewSlot();
  // Returns the job's number. If max_jobs jobs exist, counts the refusal and returns nullopt.
  std::optional<JobId> InternJob(std::string_view name);
  // Returns the fingerprint of the labels in ascending order, which does not depend on the order in `labels`.
  uint64_t CanonicalFingerprint(std::span<const LabelView> labels);

  const MappingRules rules_;
  const Options options_;
  MapperCounts counts_;
  OwnerTable owners_;
  uint64_t version_ = 0;
  bool wants_starts_ = false;

  absl::flat_hash_map<uint64_t, Entry> series_;               // entries by fingerprint
  absl::flat_hash_map<uint64_t, std::string> facts_;          // child or pod of the fact, by fingerprint
  absl::flat_hash_map<uint64_t, MeasuredPod> pods_measured_;  // pods with series of usage, by fingerprint
  std::vector<SeriesBinding> bindings_;                       // bindings by slot
  std::vector<uint8_t> rebind_;                               // 1 if the slot's job may have changed, by slot
  std::vector<uint32_t> free_slots_;
  SlotLists slots_of_pod_;                               // slots by the hash of "scope/Pod/name"
  SlotLists slots_of_container_;                         // slots by the hash of the container's ID
  absl::flat_hash_map<uint64_t, Claim> claims_;          // claims by the hash of the container's ID
  absl::flat_hash_map<uint64_t, PodLabels> pod_labels_;  // labels of pods by the hash of "scope/Pod/name"
  // Owners that several series have reported. Key: hash of the child; value: fingerprint of the last series.
  absl::flat_hash_map<uint64_t, uint64_t> retold_;
  ReplicaCounts replica_counts_;

  SeriesJobs jobs_;
  bool refused_jobs_ = false;  // true: a series was refused because max_jobs jobs exist
  SourceNames sources_;
  // Hashes of "scope/Pod/name/container".
  absl::flat_hash_set<uint64_t> init_containers_;
  // Scratch memory for sorted labels.
  std::vector<LabelView> sorted_;
};

}  // namespace taut::server
