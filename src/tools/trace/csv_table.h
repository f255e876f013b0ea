// Reads CSV files with quotes, and counts and reports the rows that the caller rejects. The caller interprets the
// rows and decides whether the first row is a header.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "tools/trace/byte_source.h"
#include "tools/trace/csv_rows.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

// Returns a field without surrounding blanks and quotes.
std::string_view Unquoted(std::string_view text);

class CsvTable {
 public:
  // `report` must outlive this object. With `strict`, the first invalid row and any damage of a file are errors.
  CsvTable(bool strict, ReadReport& report)
      : strict_(strict), report_(report), index_(',', /*quotes=*/true) {}

  void BeginFile(const std::string& name) { file_ = name; }
  const std::string& file() const { return file_; }
  // Calls `take` for each row, except rows that start with '#'. Stops at the first error and returns it. Counts
  // files and bytes.
  absl::Status ReadRows(std::unique_ptr<ByteSource> source,
                        absl::FunctionRef<absl::Status(const CsvRow& row)> take);
  // Adds a warning about a damaged stream; with `strict`, returns DataLoss instead.
  absl::Status Damaged(std::string_view damage);
  // Counts a rejected row; with `strict`, returns InvalidArgument.
  absl::Status Bad(std::string_view cause, uint64_t line, std::string_view text);
  absl::Status Bad(std::string_view cause, const CsvRow& row) { return Bad(cause, row.line(), row.text()); }
  // Adds a warning that a column of the file is ignored.
  void WarnUnused(std::string_view column);

 private:
  const bool strict_;
  ReadReport& report_;
  CsvIndex index_;
  std::string file_;
};

}  // namespace taut::tools
