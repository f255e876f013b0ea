// Recommendations in forms that other tools read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/json_text.h"

namespace taut::tools {

enum class ExportForm : uint8_t { kDocker, kYaml, kCsv };

// One job of the API: its JobDetail and its Explanations.
struct ExportedJob {
  Json job, why;
};

// docker: a `docker update` line for each job; yaml: `resources` of Kubernetes by job; csv: a row each. Jobs
// without a recommendation stand as a comment (docker, yaml) or with empty fields (csv).
std::string ExportText(ExportForm form, const std::vector<ExportedJob>& jobs);

// One word for a POSIX shell.
std::string ShellWord(std::string_view text);

}  // namespace taut::tools
