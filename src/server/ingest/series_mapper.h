// Series to job, task and kind, remembered: steady traffic costs one hash lookup a series and no work on
// text.
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

// What a mapped series is. `slot` is its dense number while it exists; numbers of forgotten series are used
// again.
struct SeriesBinding {
  JobId job;
  uint32_t task = 0;  // index within the job, never used again
  uint32_t part = 0;  // hash of the part's name
  uint32_t task_entry = 0;
  float scale = 1;
  SeriesKind kind = SeriesKind::kCpuSecondsTotal;
  uint16_t signal = 0;  // as in Mapping; 0: none
  bool in_use = false;
  bool uses_owner = false;
  bool left_out =
      false;  // of an init container, or a limit that an agent may have set: not of the task's need
};

inline bool TakesAll() { return true; }

struct MapperCounts {
  uint64_t mapped_series = 0;                     // alive now
  uint64_t unmapped_series = 0, fact_series = 0;  // alive now, by fingerprint
  uint64_t refused_series = 0;                    // ever: over a limit, or an unprintable name
  uint64_t rebound_series = 0;                    // ever: their pod's owner became known
  uint64_t jobs = 0;                              // known now: neither gone nor forgotten
  uint64_t refused_jobs = 0;                      // ever: series of jobs over max_jobs
  uint64_t name_collisions = 0;                   // known jobs whose series come from two sources
  uint64_t claimed_series = 0;                    // ever: of containers that an agent measures
  uint64_t pods_without_containers = 0;           // alive now: with series of the pod alone
};

// Not thread-safe. About 150 bytes a live mapped series and 40 an unmapped one, beside jobs and tasks.
class SeriesMapper {
 public:
  struct Options {
    size_t max_series = 4'000'000;  // live fingerprints, unmapped ones included
    size_t max_jobs = 1'000'000;    // known at a time
    size_t max_name_bytes = 512;    // of a job's or a task's name
    uint64_t seed = 0;              // the decoder's
    // Labels that become a job's own, from the first series that names it and from its pods (kPodLabels, as
    // label_NAME).
    std::vector<std::string> job_labels = {"namespace", "cluster", "app", "team", "environment", "tier"};
  };
  enum class Outcome : uint8_t { kMapped, kUnmapped, kFact, kRefused };
  struct Resolution {
    Outcome outcome = Outcome::kUnmapped;
    SeriesKind kind = SeriesKind::kCpuSecondsTotal;
    uint32_t slot = 0;  // if kMapped; of a number of tasks that of its series in replica_counts()
  };

  explicit SeriesMapper(MappingRules rules) : SeriesMapper(std::move(rules), Options()) {}
  SeriesMapper(MappingRules rules, const Options& options);
  SeriesMapper(const SeriesMapper&) = delete;
  SeriesMapper& operator=(const SeriesMapper&) = delete;

  // `now` is when the series was received: one not resolved for an hour is idle. Steady state 10 to 100 ns (a
  // miss of the cache or two), a new series some microseconds.
  // A new series that a rule wants is taken only if `admit` says that one of its samples is of use, and is
  // kRefused else, without being remembered: what is dropped makes no job.
  Resolution Resolve(const SeriesView& series, Timestamp now, absl::FunctionRef<bool()> admit = TakesAll);

  // The same for a task whose agent says itself what job it is of; mapping rules have no say. Labels as those
  // of a series: some become the job's own.
  // `container`: its ID at its engine, "" if it has none. Series whose label `id` has this ID are of the same
  // task from then on, with their next sample: they count only while the agent reports nothing, and their
  // limits, which may be Tautline's own, do not. Of two tasks that name one container the later counts.
  Resolution ResolveTask(std::string_view job, std::string_view task, std::span<const LabelView> labels,
                         Timestamp now, std::string_view container = {});

  // The same for a value of a source that knows its workloads. `admit`: as Resolve. Series whose label `id` names
  // its container, and an agent that measures it, are of the same task.
  Resolution ResolvePart(const WorkloadPart& part, SeriesKind kind, Timestamp now,
                         absl::FunctionRef<bool()> admit);
  Resolution ResolveFact(const WorkloadFact& fact, Timestamp now);

  // Whether series of kind start_time are mapped, or unmapped as what no rule wants. At first they are not.
  void WantStarts(bool wanted) { wants_starts_ = wanted; }

  // REQUIRES: a slot that Resolve gave and ForgetIdle did not return.
  const SeriesBinding& binding(uint32_t slot) const { return bindings_[slot]; }
  size_t num_slots() const { return bindings_.size(); }
  // Changes when any binding does: a caller that keeps an order of the slots sorts again.
  uint64_t version() const { return version_; }

  // The jobs and tasks that series and agents name. A job that is forgotten there has no slot.
  SeriesJobs& jobs() { return jobs_; }
  const SeriesJobs& jobs() const { return jobs_; }
  // The sources of a job's series if there are two, "agents, Kubernetes": they may be two workloads of one
  // name. "": there is one. REQUIRES: jobs().Has(id).
  std::string Collision(JobId id) const { return sources_.Listed(jobs_.at(id).colliding()); }
  // False, and nothing is done, while a series or task is bound to the job (SeriesJobs::Forget).
  bool ForgetJob(JobId id, int32_t day);

  // Forgets the series not resolved in (now - idle, now] and returns their slots, ascending: drop them
  // everywhere before the next Resolve. O(series); a call a minute is plenty.
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
  // For `taut mapping test`: what would become of these labels, without remembering anything.
  std::optional<Mapping> Explain(std::span<const LabelView> labels) const;

 private:
  struct Entry {
    uint32_t slot = 0;
    uint32_t seen_minute = 0;
    Outcome outcome = Outcome::kUnmapped;
    SeriesKind kind = SeriesKind::kCpuSecondsTotal;
  };
  struct PodLabels {
    uint64_t fingerprint = 0;  // of the series that says so
    std::vector<taut::Label> labels;
    bool names_program = false;  // that its pod is a run of
  };
  struct MeasuredPod {
    uint64_t pod = 0;    // hash of its key
    bool whole = false;  // the series is of the pod, not of a container
  };
  // An agent's task.
  struct Claim {
    std::string job, task;
    bool operator==(const Claim&) const = default;
  };
  Entry Classify(const SeriesView& sent, uint32_t minute);
  // A series that was not wanted when it came first, and is now.
  bool IsWantedNow(const Entry& entry) const {
    return entry.outcome == Outcome::kUnmapped && entry.kind == SeriesKind::kStartTime && wants_starts_;
  }
  // A slot for it, or why not.
  Entry Place(const Mapping& mapping, std::span<const LabelView> labels, uint32_t minute, uint64_t container);
  Entry PlaceFact(const Mapping& mapping, const SeriesView& series, uint32_t minute);
  // Job and task of the agent that measures this container, if one does.
  Mapping OfClaim(Mapping mapping, uint64_t container) const;
  void ClaimContainer(uint32_t slot, std::string_view container);
  bool IsUsable(const Mapping& mapping) const;
  // Of labels as they were sent.
  std::optional<Mapping> Match(std::span<const LabelView> sent) const;
  // Notes the pod of a series of memory.
  void NotePodSeries(const SeriesView& series);
  uint64_t PodsWithoutContainers() const;
  void LearnOwner(const Mapping& fact, uint64_t fingerprint);
  void LearnInitContainer(const Mapping& fact);
  void ForgetFact(SeriesKind kind, const std::string& about, uint64_t fingerprint);
  void LearnPodLabels(const Mapping& fact, const SeriesView& series);
  // Those that become a job's own, ascending; with or without those that say where it is.
  std::vector<taut::Label> OwnLabels(std::span<const LabelView> labels, bool with_place) const;
  // Of a job's bits; nullopt: not said, or one too many.
  std::optional<size_t> SourceOf(const Mapping& mapping, std::span<const LabelView> labels);
  void NoteSource(const Mapping& mapping, std::span<const LabelView> labels, bool has_container_id,
                  SeriesJobs::Job& job);
  // False: past max_jobs. `container`: the hash of the container's ID, 0 if it is not known.
  bool Bind(uint32_t slot, const Mapping& mapping, std::span<const LabelView> labels, uint64_t container);
  void Unbind(uint32_t slot);
  void Rebind(Entry& entry, const SeriesView& series);
  void RebindTo(Entry& entry, const Mapping& mapping, std::span<const LabelView> labels, uint64_t container);
  uint32_t NewSlot();
  // nullopt, and counted: past max_jobs.
  std::optional<JobId> InternJob(std::string_view name);
  // The fingerprint that these labels have in ascending order of names, so that their order does not matter.
  uint64_t CanonicalFingerprint(std::span<const LabelView> labels);

  const MappingRules rules_;
  const Options options_;
  MapperCounts counts_;
  OwnerTable owners_;
  uint64_t version_ = 0;
  bool wants_starts_ = false;

  absl::flat_hash_map<uint64_t, Entry> series_;       // by fingerprint
  absl::flat_hash_map<uint64_t, std::string> facts_;  // fingerprint to the child or pod that it is about
  absl::flat_hash_map<uint64_t, MeasuredPod> pods_measured_;  // by fingerprint
  std::vector<SeriesBinding> bindings_;                       // by slot
  std::vector<uint8_t> rebind_;                               // by slot: its job may have changed
  std::vector<uint32_t> free_slots_;
  SlotLists slots_of_pod_;                               // by the hash of "scope/Pod/name"
  SlotLists slots_of_container_;                         // by the hash of the container's ID
  absl::flat_hash_map<uint64_t, Claim> claims_;          // by the same
  absl::flat_hash_map<uint64_t, PodLabels> pod_labels_;  // by pod
  // Of owners that several series have said: the last one, by what it is about.
  absl::flat_hash_map<uint64_t, uint64_t> retold_;
  ReplicaCounts replica_counts_;

  SeriesJobs jobs_;
  bool refused_jobs_ = false;  // some series was refused for want of room for its job
  SourceNames sources_;
  // By the hash of "scope/Pod/name/container".
  absl::flat_hash_set<uint64_t> init_containers_;
  // Scratch.
  std::vector<LabelView> sorted_;
};

}  // namespace taut::server
