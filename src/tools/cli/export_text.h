// Exports recommendations in the formats of other tools.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/json_text.h"

namespace taut::tools {

enum class ExportForm : uint8_t { kDocker, kYaml, kCsv };

// One job of the API: the job's JobDetail and Explanations.
struct ExportedJob {
  Json job, why;
};

// docker: one `docker update` line per job; yaml: `resources` of Kubernetes by job; csv: one row per job. Jobs
// without a recommendation are comments (docker, yaml) or have empty fields (csv).
std::string ExportText(ExportForm form, const std::vector<ExportedJob>& jobs);

// Returns the text as one word for a POSIX shell.
std::string ShellWord(std::string_view text);

}  // namespace taut::tools
