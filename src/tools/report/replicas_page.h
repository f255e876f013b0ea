// A replay of replica policies as a report: a table, and charts of load and capacity for the largest jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/report/document.h"
#include "tools/sim/replica_replay.h"

namespace taut::tools {

// The measured steps of one job under one policy, merged into columns. A spike of one step stays visible in its
// column.
class ReplicaTrack {
 public:
  struct Column {
    std::optional<double> load;  // highest load of the steps; absent: no load was measured
    double capacity = 0;         // lowest capacity of the steps: the load above which tasks are overloaded
    double tasks = 0;            // mean number of tasks, including starting tasks
    uint32_t steps = 0;          // number of measured steps
  };
  // Covers the time [from_s, to_s). `capacity` is the load above which one task is overloaded.
  ReplicaTrack(int64_t from_s, int64_t to_s, double capacity);
  // Adds a step to its column. Ignores a step outside [from_s, to_s).
  void Add(const ReplicaStep& step);
  const std::vector<Column>& columns() const { return columns_; }
  // Returns the time at the middle of a column, in seconds.
  double time_s(size_t column) const;

 private:
  int64_t from_s_, to_s_;
  double capacity_;
  std::vector<Column> columns_;
};

struct ReplicasPageJob {
  std::string name;
  std::vector<ReplicaScore> scores;  // one score per policy
  std::vector<ReplicaTrack> tracks;  // one track per policy
};

struct ReplicasPage {
  std::string title, conditions;  // texts without markup
  OverloadModel model = OverloadModel::kShed;
  std::vector<std::string> policies;
  std::vector<ReplicaScore> totals;  // one score per policy, summed over the jobs
  size_t jobs = 0;                   // number of replayed jobs
  // The kJobs jobs with the highest clairvoyant task time, highest first.
  static constexpr size_t kJobs = 8;
  std::vector<ReplicasPageJob> largest;

  // Adds the job to `largest` if it is one of the kJobs largest jobs so far.
  void Add(ReplicasPageJob job);
};

Document ReplicasDocument(const ReplicasPage& page);

}  // namespace taut::tools
