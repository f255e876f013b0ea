// The jobs that series and agents name: their numbers and facts about them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/numbers_by_key.h"
#include "common/base/packed_text.h"
#include "common/model/job_table.h"
#include "common/model/labels.h"
#include "common/model/workload.h"
#include "server/ingest/series_tasks.h"

namespace taut::server {

// Completeness of the knowledge about OOM kills of a job's containers.
enum class OomSource : uint8_t {
  kNone,       // no series or agent reports them
  kSurvivors,  // the container's own counter: only kills that the container survives
  kFull        // an agent, or kube-state-metrics
};

// Names of the sources of series, each with a bit of SeriesJobs::Job::sources. The first is "agents".
class SourceNames {
 public:
  // Returns the number of the source, which is new or known; nullopt if it has no name, or there are 64
  // others.
  std::optional<size_t> NumberOf(std::string name);
  // Returns the names, such as "agents, Kubernetes".
  std::string Listed(uint64_t sources) const;

 private:
  std::vector<std::string> names_ = {"agents"};  // at most 64
};

// Encodes labels in one string, to save memory.
PackedText PackLabels(const std::vector<taut::Label>& labels);

// Not thread-safe. About 200 bytes a job, and 30 per forgotten job whose number is kept for its return.
class SeriesJobs {
 public:
  struct Job {
    PackedText name;
    PackedText labels;  // PackLabels
    uint32_t next_task = 0;
    uint32_t slots = 0;  // number of series and tasks bound to it
    OomSource oom_source = OomSource::kNone;
    bool has_container_ids = false;  // some of its series name their container
    bool knows_starts = false;
    WorkloadParts parts;   // parts of its workload within the name
    uint64_t sources = 0;  // one bit per source in SourceNames

    // Returns the sources if there are at least two, which may be two workloads with one name; else 0. Agents
    // do not count if series name their containers, because the containers that agents measure are then
    // known.
    uint64_t colliding() const;
  };
  // Facts about a job from series and agents.
  struct Facts {
    JobId id;
    std::string name;
    // Keys ascending. For a job from before the daemon's start, only labels learnt since then.
    std::vector<taut::Label> labels;
    WorkloadParts parts;  // from the first source; a workload with parts replaces one that is a name alone
    // From the series and agents that named the job since the start of the daemon.
    OomSource oom_source = OomSource::kNone;
    bool knows_starts = false;  // a series has reported the start of one of its tasks
  };

  explicit SeriesJobs(size_t max_jobs) : max_jobs_(max_jobs) {}
  SeriesJobs(const SeriesJobs&) = delete;
  SeriesJobs& operator=(const SeriesJobs&) = delete;

  // Returns the number of the job of this name: its previous one if it was forgotten, else a new one. nullopt
  // beyond max_jobs. O(1).
  std::optional<JobId> Intern(std::string_view name);
  // Adds a job with its stored number, before any series. REQUIRES: the number is free.
  void Restore(JobId id, std::string_view name, WorkloadParts parts = {});
  // Reserves the numbers below `end`, also those without a known job.
  void Reserve(uint32_t end) { jobs_.Reserve(end); }
  // Notes a job that was forgotten on `day`; if its name returns, it gets this number again.
  void RememberForgotten(JobId id, std::string_view name, int32_t day);
  // Forgets a job. Returns false, without effect, while a series or task is bound to it.
  bool Forget(JobId id, int32_t day);
  // Forgets the numbers of jobs that were forgotten before `day`.
  void DropForgotten(int32_t day);
  // Returns the jobs that got a number since the last call (a new or their previous one), in that order.
  std::vector<JobId> TakeFresh() { return std::exchange(fresh_, {}); }
  // Returns the jobs with changed labels (each pod's labels count once) or a newly known workload since the
  // last call, ascending.
  std::vector<JobId> TakeRelabelled();

  size_t size() const { return jobs_.size(); }
  bool has_room() const { return jobs_.size() < max_jobs_; }
  bool Has(JobId id) const { return jobs_.Find(id) != nullptr; }
  // All functions with a job number REQUIRE Has(id). A name is valid until the job is forgotten.
  Job& at(JobId id) { return jobs_[id]; }
  const Job& at(JobId id) const { return jobs_[id]; }
  std::string_view name(JobId id) const { return jobs_[id].name; }
  std::vector<std::string> Names() const;  // names of all jobs, ascending by number
  Facts FactsOf(JobId id) const;
  void MergeLabels(JobId id, const std::vector<taut::Label>& labels);
  // Sets a job's workload if it was unknown, or had no parts; a change marks the job as relabelled.
  void NoteWorkload(JobId id, WorkloadParts parts);
  size_t state_bytes() const;  // includes its tasks

  SeriesTasks tasks;

 private:
  struct Forgotten {
    JobId id;
    int32_t day = 0;
  };
  // Key of ids_.
  struct NameOfJob {
    const JobTable<Job>* jobs;
    std::string_view operator()(uint32_t id) const { return (*jobs)[JobId{id}].name; }
  };
  std::vector<taut::Label> LabelsOf(JobId id) const;

  const size_t max_jobs_;
  JobTable<Job> jobs_;
  NumbersByKey<NameOfJob> ids_{NameOfJob{&jobs_}};
  // Keys are 128-bit hashes of names, so that a returning name is not confused with another.
  absl::flat_hash_map<std::pair<uint64_t, uint64_t>, Forgotten> forgotten_;
  std::vector<JobId> fresh_, relabelled_;
};

}  // namespace taut::server
