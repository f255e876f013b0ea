// The jobs that series and agents name, with their numbers and facts.
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

// Completeness of the reports about OOM kills of a job's containers.
enum class OomSource : uint8_t {
  kNone,       // no series or agent reports OOM kills
  kSurvivors,  // the container's own counter: only kills after which the container continues
  kFull        // an agent, or kube-state-metrics: all kills
};

// Names of the sources of series. Each source has a bit in SeriesJobs::Job::sources. The first source is
// "agents".
class SourceNames {
 public:
  // Returns the number of the source and registers a new source. Returns nullopt if the name is empty, or the
  // source is new and 64 sources exist.
  std::optional<size_t> NumberOf(std::string name);
  // Returns the names of the sources whose bits are set, such as "agents, Kubernetes".
  std::string Listed(uint64_t sources) const;

 private:
  std::vector<std::string> names_ = {"agents"};  // names of sources, at most 64
};

// Encodes labels in one string, to save memory.
PackedText PackLabels(const std::vector<taut::Label>& labels);

// Not thread-safe. Uses about 200 bytes per job, and 30 per forgotten job, whose number is reserved for the job's
// return.
class SeriesJobs {
 public:
  struct Job {
    PackedText name;
    PackedText labels;  // labels encoded by PackLabels
    uint32_t next_task = 0;
    uint32_t slots = 0;  // number of series and tasks of the job
    OomSource oom_source = OomSource::kNone;
    bool has_container_ids : 1 = false;  // true if some of the job's series name their container
    bool knows_starts : 1 = false;
    WorkloadParts parts;   // parts of the job's workload within the name
    uint64_t sources = 0;  // bits of the sources in SourceNames

    // Returns the sources if there are at least two, because there may be two workloads with one name; else
    // 0. Ignores agents if series name their containers, because the containers that agents measure are then
    // known.
    uint64_t colliding() const;
  };
  // Facts about a job from series and agents.
  struct Facts {
    JobId id;
    std::string name;
    // Labels with ascending keys. For a job from before the daemon's start, contains only the labels received
    // since the start.
    std::vector<taut::Label> labels;
    WorkloadParts parts;  // workload from the first source; parts replace a workload that is only a name
    // Source of OOM kills, from the series and agents that named the job since the start of the daemon.
    OomSource oom_source = OomSource::kNone;
    bool knows_starts = false;  // true: a series has reported the start of one of the job's tasks
  };

  explicit SeriesJobs(size_t max_jobs) : max_jobs_(max_jobs) {}
  SeriesJobs(const SeriesJobs&) = delete;
  SeriesJobs& operator=(const SeriesJobs&) = delete;

  // Returns the number of the job of this name: a forgotten job's previous number, else a new number. Returns
  // nullopt if max_jobs jobs exist. O(1).
  std::optional<JobId> Intern(std::string_view name);
  // Adds a job with its stored number, before any series. REQUIRES: the number is free.
  void Restore(JobId id, std::string_view name, WorkloadParts parts = {});
  // Reserves the numbers below `end`, including numbers without a known job.
  void Reserve(uint32_t end) { jobs_.Reserve(end); }
  // Remembers a job that was forgotten on `day`. If a job of this name returns, it is assigned this number again.
  void RememberForgotten(JobId id, std::string_view name, int32_t day);
  // Forgets a job. Returns false, without effect, while a series or task is bound to it.
  bool Forget(JobId id, int32_t day);
  // Forgets the numbers of jobs that were forgotten before `day`.
  void DropForgotten(int32_t day);
  // Returns the jobs that were assigned a number since the last call, in the order of assignment. The number may
  // be new or the job's previous number.
  std::vector<JobId> TakeFresh() { return std::exchange(fresh_, {}); }
  // Returns the jobs with changed labels or a newly known workload since the last call, ascending. A pod's
  // labels change the job's labels only once.
  std::vector<JobId> TakeRelabelled();

  size_t size() const { return jobs_.size(); }
  bool has_room() const { return jobs_.size() < max_jobs_; }
  bool Has(JobId id) const { return jobs_.Find(id) != nullptr; }
  // All functions with a job number REQUIRE Has(id). The reference to a name is valid until the job is
  // forgotten.
  Job& at(JobId id) { return jobs_[id]; }
  const Job& at(JobId id) const { return jobs_[id]; }
  std::string_view name(JobId id) const { return jobs_[id].name; }
  std::vector<std::string> Names() const;  // names of all jobs, ascending by number
  Facts FactsOf(JobId id) const;
  void MergeLabels(JobId id, const std::vector<taut::Label>& labels);
  // Sets a job's workload if the workload was unknown or had no parts. A change marks the job as relabelled.
  void NoteWorkload(JobId id, WorkloadParts parts);
  size_t state_bytes() const;  // memory in bytes, including the tasks of the jobs

  SeriesTasks tasks;

 private:
  struct Forgotten {
    JobId id;
    int32_t day = 0;
  };
  // Maps an entry of ids_ to its key: the job's name.
  struct NameOfJob {
    const JobTable<Job>* jobs;
    std::string_view operator()(uint32_t id) const { return (*jobs)[JobId{id}].name; }
  };
  std::vector<taut::Label> LabelsOf(JobId id) const;

  const size_t max_jobs_;
  JobTable<Job> jobs_;
  NumbersByKey<NameOfJob> ids_{NameOfJob{&jobs_}};
  // Forgotten jobs by the 128-bit hash of their names. The long hash prevents confusion of a returning name with
  // another name.
  absl::flat_hash_map<std::pair<uint64_t, uint64_t>, Forgotten> forgotten_;
  std::vector<JobId> fresh_, relabelled_;
};

}  // namespace taut::server
