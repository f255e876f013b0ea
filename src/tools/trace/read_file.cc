#include "tools/trace/read_file.h"

#include <string>
#include <utility>

#include "fmt/format.h"
#include "tools/trace/line_blocks.h"

namespace taut::tools {
namespace {

// Counts a line that the format cannot parse; with options.strict, returns an error.
absl::Status SkipBlock(const LineBlock& block, const std::string& file, const TraceOptions& options,
                       ReadReport& report) {
  const std::string_view cause = block.kind == LineBlock::Kind::kTooLong
                                     ? "line longer than 1 MiB"
                                     : "truncated line at the end of a damaged file";
  ++report.rows;
  report.Skip(cause, file, block.first_line, block.lines);
  if (!options.strict) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("{}:{}: {}", file, block.first_line, cause));
}

}  // namespace

absl::Status ReadFile(const PlannedFile& file, const TraceOptions& options, FormatReader& reader,
                      ReadReport& report, FileProgress& progress) {
  const InputFile& input = file.input;
  auto source = input.open();
  if (!source.ok()) {
    // The file changed after ExpandPaths() opened it. Continue with the other files.
    report.warnings.push_back(fmt::format("{}: {}", input.name, std::string(source.status().message())));
    return absl::OkStatus();
  }
  if (absl::Status begun = reader.BeginFile(input.name, file.table); !begun.ok()) return begun;
  LineBlocks blocks(*std::move(source));
  LineBlock block;
  const uint64_t bytes_before = report.bytes;
  ++report.files;
  while (blocks.Next(block)) {
    report.bytes = bytes_before + blocks.bytes();
    absl::Status taken = block.kind == LineBlock::Kind::kLines
                             ? reader.ReadLines(block)
                             : SkipBlock(block, input.name, options, report);
    if (!taken.ok()) return taken;
    if (absl::Status told = progress.Tell(std::min(blocks.consumed(), input.size)); !told.ok()) return told;
  }
  report.bytes = bytes_before + blocks.bytes();
  report.bytes_compressed += input.size;
  progress.before += input.size;
  if (!blocks.damage().empty()) {
    const std::string damage =
        fmt::format("{}: {}; the rows before it are read", input.name, blocks.damage());
    report.warnings.push_back(damage);
    if (options.strict) return absl::DataLossError(damage);
  } else if (blocks.bytes() == 0) {
    report.warnings.push_back(fmt::format("{}: empty", input.name));
  }
  return absl::OkStatus();
}

}  // namespace taut::tools
