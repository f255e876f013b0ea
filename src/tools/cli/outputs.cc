#include "tools/cli/outputs.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include "common/base/strings.h"
#include "tools/report/page.h"

namespace taut::tools {
namespace {

namespace fs = std::filesystem;

// Resolves the symbolic links in the existing part of a path, so that paths of files that do not exist can be
// compared. Makes the path absolute first: a relative path whose first part does not exist would not be resolved.
fs::path ResolvedPath(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  if (error) return path;
  fs::path target = fs::weakly_canonical(absolute, error);
  return error ? absolute : target;
}

// Returns true for devices and pipes. Several options may write to the same device or pipe.
bool IsSpecial(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

bool IsWithin(const fs::path& file, const fs::path& directory) {
  const fs::path relative = file.lexically_relative(directory);
  return !relative.empty() && *relative.begin() != "..";
}

absl::Status Refuse(const NamedPath& output, std::string_view why) {
  return absl::InvalidArgumentError(StrCat(output.option, " ", output.path, " ", why));
}

}  // namespace

absl::Status CheckOutputs(std::span<const NamedPath> outputs, std::span<const std::string> inputs) {
  std::error_code error;
  std::vector<const NamedPath*> seen;
  for (const NamedPath& output : outputs) {
    if (output.path.empty() || IsSpecial(output.path)) continue;
    const fs::path target = ResolvedPath(output.path);
    for (const std::string& input : inputs) {
      if (input.empty() || !fs::exists(input, error)) continue;
      if (fs::equivalent(output.path, input, error))
        return Refuse(output, "is an input; it would be overwritten; choose another name");
      if (fs::is_directory(input, error) && fs::exists(target, error) &&
          IsWithin(target, ResolvedPath(input)))
        return Refuse(output, StrCat("is a file of the input ", input, "; choose another name"));
    }
    for (const NamedPath* other : seen) {
      if (ResolvedPath(other->path) == target)
        return Refuse(output, StrCat("is the file of ", other->option, " too; choose another name"));
    }
    seen.push_back(&output);
  }
  return absl::OkStatus();
}

absl::Status CheckPageOf(const NamedPath& report) {
  if (report.path.empty()) return absl::OkStatus();
  const absl::Status page = CheckReportPage();
  return page.ok() ? page : absl::Status(page.code(), StrCat(report.option, ": ", Message(page)));
}

absl::StatusOr<std::unique_ptr<OutputFile>> OpenOutput(const NamedPath& output) {
  if (output.path.empty()) return std::unique_ptr<OutputFile>();
  absl::StatusOr<std::unique_ptr<OutputFile>> file = OutputFile::Open(output.path);
  if (file.ok()) return file;
  return absl::Status(file.status().code(), StrCat(output.option, ": ", Message(file.status())));
}

}  // namespace taut::tools
