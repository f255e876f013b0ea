// Jobs that samples and agents name, and facts about these jobs.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "brain/fleet/live_fleet.h"
#include "server/control/ingest_state.h"
#include "server/control/placement.h"

namespace taut::server {

// Thread-safe. Only the thread of the passes calls TakeNew and TakeRelabelled.
class IngestJobs {
 public:
  // Sources of facts about a job.
  struct Sources {
    OomSource oom_source = OomSource::kNone;  // source of the job's OOM kills
    // True if series report the start times of the job's tasks; false if no job uses start times.
    bool knows_starts = false;
    std::string collision;  // result of SeriesMapper::Collision
  };
  struct Relabelled {
    std::vector<SeriesJobs::Facts> jobs;                 // jobs whose later series carried new labels
    std::map<std::string, std::vector<Label>> settings;  // setting labels by job (SetSettingLabels)
    Timestamp now;                                       // time of the cell's clock
  };
  explicit IngestJobs(IngestState& state) : s_(state) {}

  // Sets the setting labels of a job (annotations, kSettingLabel) from the next tick on. `labels` are ascending
  // and replace the job's previous setting labels. A job that is unknown at that tick is skipped.
  void SetSettingLabels(const std::string& job, std::vector<Label> labels);
  // Returns the sources of facts about a job; nullopt while the job has no series or task.
  std::optional<Sources> SourcesOf(JobId id) const;
  // Sets the number of each task whose job is known; removes the number if no series or window of the task
  // arrived lately. A task of an unknown job stays unchanged.
  void FindNumbers(std::span<PlacedTask* const> tasks) const;
  // Returns the jobs first seen, or seen again, since the last call.
  std::vector<JobRecord> TakeNew(Timestamp now, brain::When when);
  // Returns the jobs with new labels since the last call, and the setting labels that were set since then. With
  // kPast, setting labels are left for a later call.
  Relabelled TakeRelabelled(Timestamp now, brain::When when);
  // Calls `use` on the mapper of names and numbers, under the ingest's lock.
  void WithMapper(absl::FunctionRef<void(SeriesMapper&)> use);

 private:
  IngestState& s_;
};

}  // namespace taut::server
