// The jobs that samples and agents name, and what they say of them.
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

// Thread-safe; one thread, that of the passes, takes new and relabelled jobs.
class IngestJobs {
 public:
  // What tells of a job.
  struct Sources {
    OomSource oom_source = OomSource::kNone;  // of its OOM kills
    bool knows_starts = false;  // series say when its tasks started; those that no job asks for say nothing
    std::string collision;      // SeriesMapper::Collision
  };
  struct Relabelled {
    std::vector<SeriesJobs::Facts> jobs;                 // that came with later series
    std::map<std::string, std::vector<Label>> settings;  // by job: SetSettingLabels
    Timestamp now;                                       // by the cell's clock
  };
  explicit IngestJobs(IngestState& state) : s_(state) {}

  // What annotations of a job say (kSettingLabel), ascending, from the next tick on; replaces what they said
  // before. A job that is not known by then is skipped.
  void SetSettingLabels(const std::string& job, std::vector<Label> labels);
  // nullopt while no series or task of it is there.
  std::optional<Sources> SourcesOf(JobId id) const;
  // Of tasks whose job is known: the whole number, or none if no series or window of the task has come lately.
  void FindNumbers(std::span<PlacedTask* const> tasks) const;
  // Jobs that were first met, or again, since the last call.
  std::vector<JobRecord> TakeNew(Timestamp now, brain::When when);
  Relabelled TakeRelabelled(Timestamp now, brain::When when);
  // Names and numbers of jobs and tasks.
  void WithMapper(absl::FunctionRef<void(SeriesMapper&)> use);

 private:
  IngestState& s_;
};

}  // namespace taut::server
