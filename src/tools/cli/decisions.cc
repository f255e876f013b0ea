#include "tools/cli/decisions.h"

#include <cerrno>

#include "absl/status/status.h"
#include "common/base/csv_field.h"
#include "common/base/strings.h"

namespace taut::tools {

DecisionsCsv::DecisionsCsv(std::unique_ptr<OutputFile> file, const std::vector<JobInfo>& jobs)
    : file_(std::move(file)) {
  for (const JobInfo& j : jobs) quoted_names_.push_back(CsvField(j.name));
  file_->Append("ts_s,job,resource,recommender,limit\n");
}

void DecisionsCsv::Add(const LimitChange& c) {
  line_.clear();
  StrAppend(&line_, c.from.start_s(), ",", quoted_names_[c.job.value], ",", Name(c.resource), ",",
            Name(c.policy), ",");
  if (c.limit.has_value()) StrAppend(&line_, *c.limit);
  line_ += '\n';
  file_->Append(line_);
}

namespace {

struct LoggedChange {
  double limit;  // new limit; negative: no limit
  uint32_t job;
  int32_t window;
  brain::PolicyPair policy;
  Resource resource;
};

}  // namespace

absl::StatusOr<std::unique_ptr<DecisionLog>> DecisionLog::Create() {
  std::FILE* file = std::tmpfile();
  if (file == nullptr)
    return absl::ErrnoToStatus(errno, "cannot make a temporary file for the report's decisions");
  return std::unique_ptr<DecisionLog>(new DecisionLog(file));
}

DecisionLog::~DecisionLog() { std::fclose(file_); }

absl::Status DecisionLog::Add(const LimitChange& c) {
  LoggedChange record{};
  record.limit = c.limit.value_or(-1);
  record.job = c.job.value;
  record.window = c.from.index;
  record.policy = c.policy;
  record.resource = c.resource;
  if (std::fwrite(&record, sizeof(record), 1, file_) == 1) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "writing the temporary file of decisions");
}

absl::Status DecisionLog::ForEach(const std::function<void(const LimitChange&)>& fn) {
  if (std::fflush(file_) != 0) return absl::ErrnoToStatus(errno, "writing the temporary file of decisions");
  std::rewind(file_);
  LoggedChange r;
  while (std::fread(&r, sizeof(r), 1, file_) == 1) {
    LimitChange c{JobId{r.job}, r.policy, r.resource, WindowId{r.window}, std::nullopt};
    if (r.limit >= 0) c.limit = r.limit;
    fn(c);
  }
  return std::ferror(file_) != 0 ? absl::DataLossError("reading the temporary file of decisions")
                                 : absl::OkStatus();
}

}  // namespace taut::tools
