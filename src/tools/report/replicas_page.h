// Replica policies in a replay as a report: a table, and charts of load and capacity for the largest jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/report/document.h"
#include "tools/sim/replica_replay.h"

namespace taut::tools {

// Measured steps of one job under one policy, merged to columns in which a spike of one step stays visible.
class ReplicaTrack {
 public:
  struct Column {
    std::optional<double> load;  // highest load of the column; absent: not measured
    double capacity = 0;         // lowest capacity: the load above which the tasks are overloaded
    double tasks = 0;            // mean number of tasks, including starting tasks
    uint32_t steps = 0;          // 0: no step was measured
  };
  // Covers [from_s, to_s). `capacity` is the load of one task above which it is overloaded.
  ReplicaTrack(int64_t from_s, int64_t to_s, double capacity);
  // Adds a step. Ignores a step outside the covered time.
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
  std::vector<ReplicaScore> scores;  // score of each policy
  std::vector<ReplicaTrack> tracks;  // track of each policy
};

struct ReplicasPage {
  std::string title, conditions;  // plain text
  OverloadModel model = OverloadModel::kShed;
  std::vector<std::string> policies;
  std::vector<ReplicaScore> totals;  // sum over the jobs for each policy
  size_t jobs = 0;                   // number of replayed jobs
  // The kJobs largest jobs by clairvoyant task time, largest first.
  static constexpr size_t kJobs = 8;
  std::vector<ReplicasPageJob> largest;

  // Keeps the job if it is among the kJobs largest jobs.
  void Add(ReplicasPageJob job);
};

Document ReplicasDocument(const ReplicasPage& page);

}  // namespace taut::tools
