#include "brain/economy/focus_file.h"

#include <utility>

#include "brain/economy/focus_csv.h"
#include "brain/economy/focus_parquet.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

constexpr FocusFormatInfo kFormats[] = {
    {FocusFormat::kCsv, "focus", "text/csv; charset=utf-8"},
    {FocusFormat::kParquet, "focus-parquet", "application/vnd.apache.parquet"},
};

class CsvFile final : public FocusFile {
 public:
  CsvFile(const PriceSheet& sheet, const FocusPeriods& periods, ByteSink sink)
      : csv_(sheet, periods), sink_(std::move(sink)) {
    sink_(FocusCsv::Header());
  }
  void Add(const JobBill& bill, std::string_view job, std::string_view group) override {
    sink_(csv_.RowsOf(bill, job, group));
  }
  absl::Status Finish() override { return absl::OkStatus(); }

 private:
  FocusCsv csv_;
  const ByteSink sink_;
};

class ParquetFile final : public FocusFile {
 public:
  ParquetFile(const PriceSheet& sheet, const FocusPeriods& periods, ByteSink sink)
      : parquet_(sheet, periods, std::move(sink)) {}
  void Add(const JobBill& bill, std::string_view job, std::string_view group) override {
    parquet_.Add(bill, job, group);
  }
  absl::Status Finish() override { return parquet_.Finish(); }

 private:
  FocusParquet parquet_;
};

}  // namespace

const FocusFormatInfo& RowOf(FocusFormat format) { return kFormats[static_cast<size_t>(format)]; }

std::optional<FocusFormat> FocusFormatNamed(std::string_view name) {
  for (const FocusFormatInfo& row : kFormats)
    if (row.name == name) return row.format;
  return std::nullopt;
}

absl::StatusOr<FocusFormat> FocusFormatOf(std::string_view path) {
  if (path.ends_with(".parquet.gz")) {
    return absl::InvalidArgumentError(
        StrCat("\"", path, "\": a Parquet file is compressed inside; let its name end in .parquet"));
  }
  return path.ends_with(".parquet") ? FocusFormat::kParquet : FocusFormat::kCsv;
}

std::unique_ptr<FocusFile> OpenFocusFile(FocusFormat format, const PriceSheet& sheet,
                                         const FocusPeriods& periods, ByteSink sink) {
  if (format == FocusFormat::kParquet) return std::make_unique<ParquetFile>(sheet, periods, std::move(sink));
  return std::make_unique<CsvFile>(sheet, periods, std::move(sink));
}

}  // namespace taut::brain
