// The output files of a command, which are checked before the command's work begins.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/trace/output_file.h"

namespace taut::tools {

struct NamedPath {
  std::string_view option;  // "--report"
  std::string path;         // empty: the file is not written
};

// Returns InvalidArgument if an output is one of the inputs, exists in an input directory, or is also another
// output. Files are compared by identity, not by name.
absl::Status CheckOutputs(std::span<const NamedPath> outputs, std::span<const std::string> inputs);

// Returns FailedPrecondition with the option, if `report` has a path and this program was built without a
// page.
absl::Status CheckPageOf(const NamedPath& report);

// Calls OutputFile::Open and adds the option to its error. Returns null for an empty path.
absl::StatusOr<std::unique_ptr<OutputFile>> OpenOutput(const NamedPath& output);

}  // namespace taut::tools
