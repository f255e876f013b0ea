// The replay's report: one self-contained HTML file (no network, no external script or font) for readers who
// have never used the tool.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/model/reason.h"
#include "tools/sim/replay.h"

namespace taut::tools {

// The usage and limits of one job and resource over time, for a heatmap of usage with the limits drawn over
// it.
struct JobStory {
  std::string job;
  Resource resource = Resource::kMemory;
  std::string why_chosen;  // "largest saving", "most OOM-days under analogs", ...
  // Usage over time, in columns of `column_s` seconds from start_s on. Each column is a histogram of 5-minute
  // task usages.
  int64_t start_s = 0;
  int64_t column_s = 0;
  struct Column {
    std::vector<BucketWeight> buckets;  // ascending; buckets of GridOf(resource)
    float peak = 0;
  };
  std::vector<Column> columns;  // columns without usage are empty
  struct LimitStep {
    int64_t from_s = 0;
    std::optional<double> limit;
  };
  struct LimitLine {
    brain::PolicyPair policy;
    std::vector<LimitStep> steps;  // ascending; a limit is in force until the next step
  };
  std::vector<LimitLine> limits;
  struct OomMark {
    brain::PolicyPair policy;
    int64_t at_s = 0;
  };
  std::vector<OomMark> ooms;  // first window over the limit of each OOM-day
  // Reason of the last decision of each recommender, in the order of `limits`; empty: unknown.
  std::vector<Reason> reasons;
};

struct ReportInput {
  std::string title;                     // "Replay of vms_001-250_2013-07.csv.gz and 1 more"
  std::string command;                   // command line that created the report
  bool clock_is_unix = false;            // true: Unix time; false: seconds of the trace's own clock
  std::vector<std::string> notes;        // read and skipped rows, warm-up, feedback, partial...
  const ReplayResult* result = nullptr;  // the replay's result, which must outlive this struct
  const std::vector<JobInfo>* jobs = nullptr;
  brain::PolicyPair shown_first =
      brain::Policy::kCombined;  // the recommender that tiles and tables show first
  std::vector<JobStory> stories;
};

// Returns the page; equal input results in equal bytes. REQUIRES: CheckReportPage returns OK.
std::string HtmlReport(const ReportInput& input);

}  // namespace taut::tools
