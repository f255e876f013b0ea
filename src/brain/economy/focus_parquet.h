// FOCUS rows as a Parquet file: the cells of the CSV, with types.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "brain/economy/focus_rows.h"
#include "common/parquet/parquet_writer.h"

namespace taut::brain {

// Costs, prices and quantities are DECIMAL(19,6) and exact; times are in milliseconds, UTC; empty cells are
// null. Texts are as they are known: the apostrophe that CSV puts before what a spreadsheet would run is not
// there. One thread; holds one row group in memory.
class FocusParquet {
 public:
  // The sheet is that of the bill and must outlive this. `bounds` is for tests.
  FocusParquet(const PriceSheet& sheet, const FocusPeriods& periods, ByteSink sink,
               ParquetBounds bounds = {});

  // The rows of FocusRows::Visit.
  void Add(const JobBill& bill, std::string_view job, std::string_view group);
  // As ParquetWriter::Finish.
  absl::Status Finish() { return writer_.Finish(); }

 private:
  const FocusRows rows_;
  ParquetWriter writer_;
};

}  // namespace taut::brain
