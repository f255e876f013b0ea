// Writes files of charges (FOCUS), as CSV or Parquet.
#pragma once

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "brain/economy/focus_rows.h"
#include "common/parquet/parquet_writer.h"

namespace taut::brain {

enum class FocusFormat : uint8_t { kCsv, kParquet };

// Names of a format.
struct FocusFormatInfo {
  FocusFormat format;
  std::string_view name;          // value of the parameter `format` in the API
  std::string_view content_type;  // content type of the API's response
};
const FocusFormatInfo& RowOf(FocusFormat format);
// Returns the format with this name; nullopt for an unknown name.
std::optional<FocusFormat> FocusFormatNamed(std::string_view name);

// Returns the format for the extension of a file name: Parquet for .parquet, else CSV. Returns InvalidArgument
// for a name that would compress a Parquet file again.
absl::StatusOr<FocusFormat> FocusFormatOf(std::string_view path);

// A FOCUS file that is being written. Not thread-safe.
class FocusFile {
 public:
  virtual ~FocusFile() = default;
  // Adds the charges of one job.
  virtual void Add(const JobBill& bill, std::string_view job, std::string_view group) = 0;
  // Completes the file, which is invalid before this call. Returns the errors of ParquetWriter::Finish.
  virtual absl::Status Finish() = 0;
};
// Creates a file that passes its bytes to `sink` while it is written. `sheet` must outlive the returned object.
std::unique_ptr<FocusFile> OpenFocusFile(FocusFormat format, const PriceSheet& sheet,
                                         const FocusPeriods& periods, ByteSink sink);

}  // namespace taut::brain
