// Exports recommendations in the formats of other tools.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/json_text.h"

namespace taut::tools {

enum class ExportForm : uint8_t { kDocker, kYaml, kCsv };

// A job as the API describes it: JobDetail and Explanations.
struct ExportedJob {
  Json job, why;
};

// docker: one `docker update` line per job. yaml: Kubernetes `resources` by job. csv: one row per job. A job
// without a recommendation results in a comment (docker, yaml) or in empty fields (csv).
std::string ExportText(ExportForm form, const std::vector<ExportedJob>& jobs);

// Quotes the text as one word of a POSIX shell.
std::string ShellWord(std::string_view text);

}  // namespace taut::tools
