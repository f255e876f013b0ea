// Writes FOCUS rows as a Parquet file: the cells of the CSV file, with types.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "brain/economy/focus_rows.h"
#include "common/parquet/parquet_writer.h"

namespace taut::brain {

// Costs, prices and quantities are exact DECIMAL(19,6), times are milliseconds in UTC, and empty cells are null.
// Texts are unchanged, without the apostrophe that CSV adds before spreadsheet formulas. Not thread-safe. Uses
// memory for one row group.
class FocusParquet {
 public:
  // `sheet` must be the bill's sheet and must outlive this object. `bounds` are the sizes of row groups, which
  // only tests change.
  FocusParquet(const PriceSheet& sheet, const FocusPeriods& periods, ByteSink sink,
               ParquetBounds bounds = {});

  // Adds the rows of FocusRows::Visit.
  void Add(const JobBill& bill, std::string_view job, std::string_view group);
  // Returns the errors of ParquetWriter::Finish.
  absl::Status Finish() { return writer_.Finish(); }

 private:
  const FocusRows rows_;
  ParquetWriter writer_;
};

}  // namespace taut::brain
