// taut quota and taut admit: what groups may use, and whether a request would be admitted.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "brain/economy/quota_tree.h"
#include "server/config/quota_file.h"
#include "tools/cli/commands.h"

namespace taut::tools {

// What the file says, with warnings on standard error. Errors: all of them, a line each.
absl::StatusOr<std::pair<server::QuotaFile, brain::QuotaTree>> LoadQuota(const std::string& path);

struct QuotaArgs {
  std::string file;
  OutputForm output = OutputForm::kTable;
};
// The file's findings and a table; kExitUsage if it has errors.
int RunQuota(const QuotaArgs& args);

struct AdmitArgs {
  std::string file;
  std::string group, tier;
  std::vector<std::string> amounts;  // of each task: "cpu=4", "memory=8GiB", "gpu=1"
  int64_t tasks = 1;
  std::string duration;  // empty: not known
  OutputForm output = OutputForm::kTable;
};
// kExitFailed if the request is queued or refused.
int RunAdmit(const AdmitArgs& args);

// The verbs `quota` and `admit`.
class QuotaVerbs {
 public:
  explicit QuotaVerbs(CLI::App& app);
  // nullopt: neither was given.
  std::optional<int> Run() const;

 private:
  CLI::App *quota_ = nullptr, *admit_ = nullptr;
  QuotaArgs quota_args_;
  AdmitArgs admit_args_;
};

}  // namespace taut::tools
