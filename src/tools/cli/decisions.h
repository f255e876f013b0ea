// Outputs of a replay's limit changes: a CSV from which the results can be recomputed, and a compact log for
// the report's stories.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/sim/replay.h"
#include "tools/trace/output_file.h"

namespace taut::tools {

// Writes ts_s,job,resource,recommender,limit. ts_s is the start of the window from which the limit is in
// force. Limits are in cores or bytes, and are exact when read back as doubles; an empty limit is "no limit".
// A row is written for a job's first window and for each change. The file is compressed with gzip if the path
// ends in .gz.
class DecisionsCsv {
 public:
  DecisionsCsv(std::unique_ptr<OutputFile> file, const std::vector<JobInfo>& jobs);
  void Add(const LimitChange& change);
  absl::Status Close() { return file_->Close(); }

 private:
  std::unique_ptr<OutputFile> file_;
  std::vector<std::string> quoted_names_;  // quoted names of the jobs, by JobId
  std::string line_;
};

// Stores all limit changes in an unlinked temporary file, so that memory does not grow with the trace.
class DecisionLog {
 public:
  static absl::StatusOr<std::unique_ptr<DecisionLog>> Create();
  ~DecisionLog();
  absl::Status Add(const LimitChange& change);
  // Calls `fn` for all changes in the order in which they were added. Call once, after the last Add. Returns
  // DataLoss for a read error.
  absl::Status ForEach(const std::function<void(const LimitChange&)>& fn);

 private:
  explicit DecisionLog(std::FILE* file) : file_(file) {}
  std::FILE* file_;
};

}  // namespace taut::tools
