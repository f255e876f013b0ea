// taut get quota -f FILE and taut admit -f FILE: show the quota of groups, and whether a request would be
// admitted.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/economy/quota_tree.h"
#include "server/config/quota_file.h"
#include "tools/cli/commands.h"

namespace taut::tools {

// Reads a quota file and prints its warnings to standard error. The returned error contains all errors of the
// file, one per line.
absl::StatusOr<std::pair<server::QuotaFile, brain::QuotaTree>> LoadQuota(const std::string& path);

struct QuotaArgs {
  std::string file;
  OutputForm output = OutputForm::kTable;
};
// Prints the findings about the file and a table. Returns kExitUsage if the file has errors.
int RunQuota(const QuotaArgs& args);

struct AdmitArgs {
  std::string file;
  std::string group, tier;
  std::vector<std::string> amounts;  // amounts of each task: "cpu=4", "memory=8GiB", "gpu=1"
  std::string tasks;                 // number of tasks; empty: 1
  std::string duration;              // duration of the request; empty: unknown
  OutputForm output = OutputForm::kTable;
};
// Prints the verdict about the request. Returns kExitFailed if the request would be queued or refused.
int RunAdmit(const AdmitArgs& args);

}  // namespace taut::tools
