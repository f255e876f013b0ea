// A synthetic replay for the report's tests, with plausible numbers that are equal in every run.
#pragma once

#include <memory>

#include "tools/report/html_report.h"

namespace taut::tools {

struct ReportFixture {
  std::vector<JobInfo> jobs;
  ReplayResult result;
  ReportInput input;  // points to the two members above
};

struct FixtureSize {
  int jobs = 250;
  int days = 60;
  int stories = 6;
};

std::unique_ptr<ReportFixture> MakeReportFixture(const FixtureSize& size);

}  // namespace taut::tools
