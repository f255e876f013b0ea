// The jobs that series and agents are mapped to: their numbers, and what was said of them.
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

// Whether OOM kills of a job's containers can be known.
enum class OomSource : uint8_t {
  kNone,       // no series or agent tells of them
  kSurvivors,  // a counter of the container's own: only kills that the container outlives
  kFull        // its agent, or kube-state-metrics
};

// Names of the sources of series, each with a bit of SeriesJobs::Job::sources. The first one is "agents".
class SourceNames {
 public:
  // The number of the source; nullopt: it has no name, or there are too many.
  std::optional<size_t> NumberOf(std::string name);
  // "agents, Kubernetes".
  std::string Listed(uint64_t sources) const;

 private:
  std::vector<std::string> names_ = {"agents"};  // at most 64
};

PackedText PackLabels(const std::vector<taut::Label>& labels);

// Not thread-safe. About 200 bytes a job, and 30 a forgotten job whose number is kept for its return.
class SeriesJobs {
 public:
  struct Job {
    PackedText name;
    PackedText labels;  // PackLabels
    uint32_t next_task = 0;
    uint32_t slots = 0;  // series and tasks bound to it
    OomSource oom_source = OomSource::kNone;
    bool has_container_ids = false;  // some of its series name their container
    bool knows_starts = false;
    WorkloadParts parts;   // of its workload, within the name
    uint64_t sources = 0;  // a bit for each of SourceNames

    // The sources if there are two, which may be two workloads of one name; 0: there is one. Where series name
    // their containers, those that an agent measures are known: others may stand beside them.
    uint64_t colliding() const;
  };
  // What series and agents have said of a job.
  struct Facts {
    JobId id;
    std::string name;
    std::vector<taut::Label>
        labels;  // keys ascending; of a job from before the daemon's start only what was learnt since
    WorkloadParts parts;  // of the first that said it; one of parts replaces one that is a name alone
    // From the series and agents that have named the job since the daemon started.
    OomSource oom_source = OomSource::kNone;
    bool knows_starts = false;  // a series has said when a task of it started
  };

  explicit SeriesJobs(size_t max_jobs) : max_jobs_(max_jobs) {}
  SeriesJobs(const SeriesJobs&) = delete;
  SeriesJobs& operator=(const SeriesJobs&) = delete;

  // The number of the job of this name: the one it had if it was forgotten, else a new one. nullopt past
  // max_jobs.
  std::optional<JobId> Intern(std::string_view name);
  // A job that a store knows by this number, before any series. REQUIRES: the number is free.
  void Restore(JobId id, std::string_view name, WorkloadParts parts = {});
  // Numbers below this are taken, also those that no known job has.
  void Reserve(uint32_t end) { jobs_.Reserve(end); }
  // A job that was forgotten on `day`: should its name come again, it gets this number.
  void RememberForgotten(JobId id, std::string_view name, int32_t day);
  // False, and nothing is done, while a series or task is bound to the job.
  bool Forget(JobId id, int32_t day);
  // Numbers of jobs forgotten before `day` are not given to their names again.
  void DropForgotten(int32_t day);
  // Jobs that got a number since the last call (a new one, or their own again), in that order.
  std::vector<JobId> TakeFresh() { return std::exchange(fresh_, {}); }
  // Jobs whose labels have changed (each pod's labels count once), or whose workload became known, since the
  // last call; ascending.
  std::vector<JobId> TakeRelabelled();

  size_t size() const { return jobs_.size(); }
  bool has_room() const { return jobs_.size() < max_jobs_; }
  bool Has(JobId id) const { return jobs_.Find(id) != nullptr; }
  // REQUIRES of all that are given a number: Has(id). A name is good until the job is forgotten.
  Job& at(JobId id) { return jobs_[id]; }
  const Job& at(JobId id) const { return jobs_[id]; }
  std::string_view name(JobId id) const { return jobs_[id].name; }
  std::vector<std::string> Names() const;  // of all, ascending by number
  Facts FactsOf(JobId id) const;
  void MergeLabels(JobId id, const std::vector<taut::Label>& labels);
  void NoteWorkload(JobId id, WorkloadParts parts);
  size_t state_bytes() const;  // with its tasks

  SeriesTasks tasks;

 private:
  struct Forgotten {
    JobId id;
    int32_t day = 0;
  };
  // The key of ids_.
  struct NameOfJob {
    const JobTable<Job>* jobs;
    std::string_view operator()(uint32_t id) const { return (*jobs)[JobId{id}].name; }
  };
  std::vector<taut::Label> LabelsOf(JobId id) const;

  const size_t max_jobs_;
  JobTable<Job> jobs_;
  NumbersByKey<NameOfJob> ids_{NameOfJob{&jobs_}};
  // By the 128-bit hash of a name: a name that came back must not be taken for another.
  absl::flat_hash_map<std::pair<uint64_t, uint64_t>, Forgotten> forgotten_;
  std::vector<JobId> fresh_, relabelled_;
};

}  // namespace taut::server
