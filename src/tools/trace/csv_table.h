// Files of CSV with quotes: counts and reports what is not taken. What a row says, and whether the first one
// names the columns, is its reader's.
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

// A field without blanks around it, and without its quotes.
std::string_view Unquoted(std::string_view text);

class CsvTable {
 public:
  // With `strict` the first bad row, or damage of a file, is an error.
  CsvTable(bool strict, ReadReport& report)
      : strict_(strict), report_(report), index_(',', /*quotes=*/true) {}

  void BeginFile(const std::string& name) { file_ = name; }
  const std::string& file() const { return file_; }
  // Hands out the file's rows but those that begin with '#', until one is not OK. Counts file and bytes.
  absl::Status ReadRows(std::unique_ptr<ByteSource> source,
                        absl::FunctionRef<absl::Status(const CsvRow& row)> take);
  // At the end of the file: a warning if its stream was damaged.
  absl::Status Damaged(std::string_view damage);
  // A row that is not taken: counts it.
  absl::Status Bad(std::string_view cause, uint64_t line, std::string_view text);
  absl::Status Bad(std::string_view cause, const CsvRow& row) { return Bad(cause, row.line(), row.text()); }
  void WarnUnused(std::string_view column);

 private:
  const bool strict_;
  ReadReport& report_;
  CsvIndex index_;
  std::string file_;
};

}  // namespace taut::tools
