// Collects the output of the readers of event tables: jobs, and the events of jobs and tasks, sorted by time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "brain/cell/recorded_events.h"
#include "tools/sim/trace_tier.h"
#include "tools/trace/event_sorter.h"
#include "tools/trace/format_reader.h"

namespace taut::tools {

// Receives the rows of event tables. Not thread-safe.
class EventTables {
 public:
  // `options` and `report` must outlive this object.
  EventTables(const TraceOptions& options, PriorityBands bands, ReadReport& report)
      : options_(options), bands_(bands), report_(report) {}

  const TraceOptions& options() const { return options_; }
  void BeginFile(std::string_view name) { files_.emplace_back(name); }
  // Returns the number of the job with this ID. The name of a new job is its ID.
  uint32_t Job(int64_t id);
  uint32_t Job(std::string_view name);
  brain::RecordedJob& job(uint32_t number) { return jobs_[number]; }
  void SetPriority(uint32_t job, int64_t priority);
  void SetTier(uint32_t job, Tier tier) { jobs_[job].tier = tier, has_tier_[job] = true; }

  void CountRow() { ++report_.rows; }
  // Adds the event of a row. Counts rows that are earlier than the previous row of the file.
  void Take(brain::TraceEvent event, uint64_t line, std::string_view text);
  // Adds the event of a row in a table that is not ordered by time.
  void TakeUnordered(brain::TraceEvent event, uint64_t line);
  // Adds another event of the row last passed to Take() or TakeUnordered().
  void TakeMore(brain::TraceEvent event, uint64_t line);
  // Counts an invalid row; with options.strict, returns an error.
  absl::Status Bad(std::string_view cause, uint64_t line, std::string_view text);
  // Counts a valid row that is not used.
  void Skip(std::string_view cause, uint64_t line, std::string_view text);
  // Counts a row that is used although it contradicts other rows.
  void Keep(std::string_view cause, uint64_t line, std::string_view text);

  // Folds all events in order of time, and counts contradictions in the report. Call once, after the last row.
  // Returns errors of EventSorter::ForEach().
  struct Folded {
    std::vector<brain::RecordedJob> jobs;
    brain::EventFigures figures;
    std::vector<brain::JobSpan> spans;
  };
  absl::StatusOr<Folded> Fold();

 private:
  uint32_t AddJob(std::string name);
  static constexpr int kLineBits = 40;

  const TraceOptions& options_;
  const PriorityBands bands_;
  ReadReport& report_;
  std::vector<std::string> files_;
  std::vector<brain::RecordedJob> jobs_;
  std::vector<bool> has_tier_;  // true if the job's tier was set, by job
  absl::flat_hash_map<int64_t, uint32_t> by_id_;
  absl::flat_hash_map<std::string, uint32_t> by_name_;
  EventSorter sorter_;
  int64_t last_us_ = 0;
  size_t last_file_ = SIZE_MAX;
};

// Return readers of event tables: collection_events and instance_events of Google 2019, job_events and task_events
// of Google 2011, container_meta and batch_task of Alibaba 2018. The readers of ReadTrace() read tables of
// machines.
std::unique_ptr<FormatReader> NewGoogle2019EventReader(EventTables& out);
std::unique_ptr<FormatReader> NewGoogle2011EventReader(EventTables& out);
std::unique_ptr<FormatReader> NewAlibaba2018EventReader(EventTables& out);

}  // namespace taut::tools
