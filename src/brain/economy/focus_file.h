// The files that the charges of bills are written to.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "brain/economy/focus_rows.h"
#include "common/parquet/parquet_writer.h"

namespace taut::brain {

enum class FocusFormat : uint8_t { kCsv, kParquet };

struct FocusFormatInfo {
  FocusFormat format;
  std::string_view name;          // of the API: format=
  std::string_view content_type;  // of its answer
};
const FocusFormatInfo& RowOf(FocusFormat format);
std::optional<FocusFormat> FocusFormatNamed(std::string_view name);  // absent: no such name

// By the end of the file's name: .parquet, else CSV. InvalidArgument for one that would compress a Parquet
// file again.
absl::StatusOr<FocusFormat> FocusFormatOf(std::string_view path);

class FocusFile {
 public:
  virtual ~FocusFile() = default;
  virtual void Add(const JobBill& bill, std::string_view job, std::string_view group) = 0;
  // Without it the file is not whole. Errors as ParquetWriter::Finish.
  virtual absl::Status Finish() = 0;
};
// Passes its bytes to the sink as they are made. The sheet must outlive it.
std::unique_ptr<FocusFile> OpenFocusFile(FocusFormat format, const PriceSheet& sheet,
                                         const FocusPeriods& periods, ByteSink sink);

}  // namespace taut::brain
