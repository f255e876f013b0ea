// The replay's report: one self-contained HTML file (no network, no external script or font) for readers who
// have never used the tool.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/reason.h"
#include "tools/sim/replay.h"

namespace taut::tools {

// Usage and limits of one job and resource over time. The page draws the usage as a heatmap and the limits as
// lines.
struct JobStory {
  std::string job;
  Resource resource = Resource::kMemory;
  std::string why_chosen;  // reason such as "largest saving" or "most OOM-days under analogs"
  // Usage in columns of `column_s` seconds each, from `start_s` on. A column is a histogram of the tasks' usage in
  // 5-minute windows.
  int64_t start_s = 0;
  int64_t column_s = 0;
  struct Column {
    std::vector<BucketWeight> buckets;  // histogram over GridOf(resource), ascending; empty: no usage
    float peak = 0;
  };
  std::vector<Column> columns;  // columns without gaps; a column without usage is empty
  struct LimitStep {
    int64_t from_s = 0;
    std::optional<double> limit;
  };
  struct LimitLine {
    brain::PolicyPair policy;
    std::vector<LimitStep> steps;  // limits, ascending by time; each is in force until the next
  };
  std::vector<LimitLine> limits;
  struct OomMark {
    brain::PolicyPair policy;
    int64_t at_s = 0;
  };
  std::vector<OomMark> ooms;  // first window above the limit, for each OOM-day
  // Reason of each recommender's last decision, in the order of `limits`; empty: unknown.
  std::vector<Reason> reasons;
};

struct ReportInput {
  std::string title;           // title such as "Replay of vms_001-250_2013-07.csv.gz and 1 more"
  std::string command;         // command line that created the report
  bool clock_is_unix = false;  // true: times are Unix time; false: seconds of the trace's own clock
  // sentences about the replay, such as the numbers of read and skipped rows, the warm-up, and the feedback
  std::vector<std::string> notes;
  const ReplayResult* result = nullptr;  // result of the replay, which must outlive this struct
  const std::vector<JobInfo>* jobs = nullptr;
  brain::PolicyPair shown_first = brain::Policy::kCombined;  // recommender that tiles and tables show first
  std::vector<JobStory> stories;
};

// Returns the page. Equal input results in equal bytes. REQUIRES: CheckReportPage() returns OK.
std::string HtmlReport(const ReportInput& input);

}  // namespace taut::tools
