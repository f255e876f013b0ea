// Writes a replay's limit changes as a CSV, from which its results can be recomputed, and as a compact log for the
// stories of the report.
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

// Writes a CSV with the columns ts_s,job,resource,recommender,limit. A job's first window and each change have a
// row. ts_s is the start of the window from which the limit is in force. Limits are in cores or bytes, with all
// digits of the double; an empty limit means that the task is unlimited. The file is compressed with gzip if its
// path ends in .gz.
class DecisionsCsv {
 public:
  DecisionsCsv(std::unique_ptr<OutputFile> file, const std::vector<JobInfo>& jobs);
  void Add(const LimitChange& change);
  absl::Status Close() { return file_->Close(); }

 private:
  std::unique_ptr<OutputFile> file_;
  std::vector<std::string> quoted_names_;  // names of the jobs, quoted for CSV, by JobId
  std::string line_;
};

// Stores all limit changes in an unlinked temporary file, so that memory does not grow with the trace.
class DecisionLog {
 public:
  static absl::StatusOr<std::unique_ptr<DecisionLog>> Create();
  ~DecisionLog();
  absl::Status Add(const LimitChange& change);
  // Calls `fn` for all changes in the order of the Add() calls. Call once, after the last Add(). Returns DataLoss
  // after a read error.
  absl::Status ForEach(const std::function<void(const LimitChange&)>& fn);

 private:
  explicit DecisionLog(std::FILE* file) : file_(file) {}
  std::FILE* file_;
};

}  // namespace taut::tools
