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
#include "base/time.h"
#include "ingest/mapping_rules.h"
#include "ingest/owners.h"
#include "model/usage.h"

namespace taut {

// What a mapped series is. `slot` is its dense number while it lives; numbers of forgotten series are used
// again.
struct SeriesBinding {
  JobId job;
  uint32_t task = 0;  // index within the job, never used again
  uint32_t part = 0;  // hash of the part's name
  uint32_t task_entry = 0;
  float scale = 1;
  SeriesKind kind = SeriesKind::kCpuSecondsTotal;
  bool in_use = false;
  bool uses_owner = false;
};

struct MapperCounts {
  uint64_t mapped_series = 0;                     // alive now
  uint64_t unmapped_series = 0, fact_series = 0;  // alive now, by fingerprint
  uint64_t refused_series = 0;                    // ever: over a limit, or an unprintable name
  uint64_t rebound_series = 0;                    // ever: their pod's owner became known
};

// Not thread-safe. About 200 bytes a live mapped series, 20 an unmapped one, and 100 for each job ever seen.
class SeriesMapper {
 public:
  struct Options {
    size_t max_series = 4'000'000;  // live fingerprints, unmapped ones included
    size_t max_jobs = 1'000'000;
    size_t max_name_bytes = 512;  // of a job's or a task's name
    uint64_t seed = 0;            // the decoder's
    // Labels that become a job's own, from the first series that names it.
    std::vector<std::string> job_labels = {"namespace", "cluster", "app", "team", "environment", "tier"};
  };
  enum class Outcome : uint8_t { kMapped, kUnmapped, kFact, kRefused };
  struct Resolution {
    Outcome outcome = Outcome::kUnmapped;
    SeriesKind kind = SeriesKind::kCpuSecondsTotal;
    uint32_t slot = 0;  // if kMapped
  };

  explicit SeriesMapper(MappingRules rules) : SeriesMapper(std::move(rules), Options()) {}
  SeriesMapper(MappingRules rules, const Options& options);

  // `now` is when the series was received: one not resolved for an hour is idle. Steady state 10 to 100 ns (a
  // miss of the cache or two), a new series some microseconds.
  Resolution Resolve(const SeriesView& series, Timestamp now);

  // The same for a task whose agent says itself what job it is of; mapping rules have no say. Labels as those
  // of a series: some become the job's own.
  Resolution ResolveTask(std::string_view job, std::string_view task, std::span<const LabelView> labels,
                         Timestamp now);

  // REQUIRES: a slot that Resolve gave and ForgetIdle did not return.
  const SeriesBinding& binding(uint32_t slot) const { return bindings_[slot]; }
  size_t num_slots() const { return bindings_.size(); }
  // Changes when any binding does: whoever keeps an order of the slots sorts again.
  uint64_t version() const { return version_; }

  // The number of the job of this name, given out now if it is new: lets a store's jobs come first, in its
  // order. nullopt past max_jobs.
  std::optional<JobId> InternJob(std::string_view name);
  const std::vector<std::string>& job_names() const { return job_names_; }  // by JobId
  using JobLabels = std::vector<std::pair<std::string, std::string>>;
  // By JobId, keys ascending; empty for a job that InternJob named first.
  const JobLabels& job_labels(JobId id) const { return job_labels_[id.value]; }
  // REQUIRES: a slot in use. The task's name in its job.
  std::string_view task_name(uint32_t slot) const { return tasks_[bindings_[slot].task_entry].name; }
  // The number of the task of this name; nullopt: the job has none now.
  std::optional<uint32_t> FindTask(JobId job, const std::string& name) const;
  // The names of these tasks, in their order; "" for one that is not there. O(all tasks).
  std::vector<std::string> TaskNames(std::span<const std::pair<JobId, uint32_t>> tasks) const;

  // Forgets the series not resolved in (now - idle, now] and returns their slots, ascending: drop them
  // everywhere before the next Resolve. O(series); a call a minute is plenty.
  std::vector<uint32_t> ForgetIdle(Timestamp now, int64_t idle_seconds = 3600);

  const MapperCounts& counts() const { return counts_; }
  const MappingRules& rules() const { return rules_; }
  // For `taut mapping test`: what would become of these labels, without remembering anything.
  std::optional<Mapping> Explain(std::span<const LabelView> labels) const;

 private:
  struct Entry {
    uint32_t slot = 0;
    uint32_t seen_minute = 0;
    Outcome outcome = Outcome::kUnmapped;
    SeriesKind kind = SeriesKind::kCpuSecondsTotal;
  };
  struct Task {
    JobId job;
    uint32_t index = 0;
    uint32_t uses = 0;  // slots; 0: this entry is free
    std::string name;
  };
  struct SlotLinks {
    uint32_t previous_of_pod = kNone, next_of_pod = kNone;
    uint64_t pod = 0;  // hash of "namespace/Pod/name"
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  Entry Classify(const SeriesView& series, uint32_t minute);
  // A slot for it, or why not.
  Entry Place(const Mapping& mapping, std::span<const LabelView> labels, uint32_t minute);
  std::optional<Mapping> Match(std::span<const LabelView> labels) const;
  void LearnOwner(const Mapping& fact);
  // False: past max_jobs.
  bool Bind(uint32_t slot, const Mapping& mapping, std::span<const LabelView> labels);
  void Unbind(uint32_t slot);
  void Rebind(Entry& entry, const SeriesView& series);
  uint32_t NewSlot();
  uint32_t TaskEntry(JobId job, const std::string& name);
  void LinkPod(uint32_t slot, uint64_t pod);
  void UnlinkPod(uint32_t slot);
  // The fingerprint that these labels have in ascending order of names, so that their order does not matter.
  uint64_t CanonicalFingerprint(std::span<const LabelView> labels);

  const MappingRules rules_;
  const Options options_;
  MapperCounts counts_;
  OwnerTable owners_;
  uint64_t version_ = 0;

  absl::flat_hash_map<uint64_t, Entry> series_;       // by fingerprint
  absl::flat_hash_map<uint64_t, std::string> facts_;  // fingerprint to the child it speaks of
  std::vector<SeriesBinding> bindings_;               // by slot
  std::vector<SlotLinks> links_;                      // by slot
  std::vector<uint8_t> rebind_;                       // by slot: its owner may have changed
  std::vector<uint32_t> free_slots_;
  absl::flat_hash_map<uint64_t, uint32_t> slots_of_pod_;  // head of the list through links_

  std::vector<std::string> job_names_;
  std::vector<JobLabels> job_labels_;  // by JobId
  absl::flat_hash_map<std::string, uint32_t, StringHash, std::equal_to<>> job_ids_;
  std::vector<uint32_t> next_task_;  // by JobId
  std::vector<Task> tasks_;
  std::vector<uint32_t> free_tasks_;
  absl::flat_hash_map<std::string, uint32_t> task_ids_;  // job number and task name to an index of tasks_
  // Scratch.
  std::vector<LabelView> sorted_;
};

}  // namespace taut
