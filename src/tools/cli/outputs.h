// Checks and opens the output files of a command before the command's work begins.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/trace/output_file.h"

namespace taut::tools {

struct NamedPath {
  std::string_view option;  // name of the option, such as "--report"
  std::string path;         // path; empty: no file is written
};

// Returns InvalidArgument if an output is an input, is in an input directory, or is requested twice. Compares
// files by identity, not by path.
absl::Status CheckOutputs(std::span<const NamedPath> outputs, std::span<const std::string> inputs);

// Returns FailedPrecondition with the option if `report` has a path and this program was built without the page.
absl::Status CheckPageOf(const NamedPath& report);

// Opens the output; null if the path is empty. Errors contain the option.
absl::StatusOr<std::unique_ptr<OutputFile>> OpenOutput(const NamedPath& output);

}  // namespace taut::tools
