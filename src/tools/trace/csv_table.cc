#include "tools/trace/csv_table.h"

#include <utility>

#include "common/base/strings.h"
#include "fmt/format.h"
#include "tools/trace/csv_reader.h"
#include "tools/trace/line_blocks.h"

namespace taut::tools {

std::string_view Unquoted(std::string_view text) {
  text = StripSpace(text);
  return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2)
                                                                       : text;
}

absl::Status CsvTable::ReadRows(std::unique_ptr<ByteSource> source,
                                absl::FunctionRef<absl::Status(const CsvRow& row)> take) {
  LineBlocks blocks(std::move(source));
  LineBlock block;
  ++report_.files;
  absl::Status taken = absl::OkStatus();
  while (taken.ok() && blocks.Next(block)) {
    if (block.kind == LineBlock::Kind::kLines) {
      taken = index_.ForEachRow(block.lines, block.first_line, [&](const CsvRow& row) {
        return row.text().front() == '#' ? absl::OkStatus() : take(row);
      });
      continue;
    }
    ++report_.rows;
    taken = Bad(block.kind == LineBlock::Kind::kTooLong ? "line longer than 1 MiB"
                                                        : "line cut off at the end of a damaged file",
                block.first_line, block.lines);
  }
  report_.bytes += blocks.bytes();
  if (!taken.ok()) return taken;
  if (blocks.bytes() == 0) report_.warnings.push_back(StrCat(file_, ": nothing in it"));
  return Damaged(blocks.damage());
}

absl::Status CsvTable::Damaged(std::string_view damage) {
  if (damage.empty()) return absl::OkStatus();
  report_.warnings.push_back(StrCat(file_, ": ", damage, "; what comes before is read"));
  return strict_ ? absl::DataLossError(report_.warnings.back()) : absl::OkStatus();
}

absl::Status CsvTable::Bad(std::string_view cause, uint64_t line, std::string_view text) {
  report_.Skip(cause, file_, line, text);
  return strict_ ? BadRow(cause, file_, line, text) : absl::OkStatus();
}

void CsvTable::WarnUnused(std::string_view column) {
  report_.warnings.push_back(fmt::format("{}: column \"{}\" is not used", file_, column.substr(0, 80)));
}

}  // namespace taut::tools
