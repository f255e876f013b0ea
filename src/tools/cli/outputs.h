// The files that a verb writes, checked before its work begins.
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
  std::string path;         // empty: not written
};

// InvalidArgument if an output is one of the inputs, lies in a directory that is read and exists there, or is
// another output: by the file, not by its name.
absl::Status CheckOutputs(std::span<const NamedPath> outputs, std::span<const std::string> inputs);

// FailedPrecondition with the option, if it is a report and this program has no page for it.
absl::Status CheckPageOf(const NamedPath& report);

// OutputFile::Open with the option in the error; null for an empty path.
absl::StatusOr<std::unique_ptr<OutputFile>> OpenOutput(const NamedPath& output);

}  // namespace taut::tools
