#include "brain/economy/focus_parquet.h"

#include <utility>
#include <vector>

namespace taut::brain {
namespace {

constexpr int kMillionthDigits = 6;
constexpr int64_t kMillisPerSecond = 1000;

std::vector<ParquetColumn> ParquetColumns() {
  std::vector<ParquetColumn> out;
  for (const FocusColumn& column : FocusColumns()) {
    ParquetColumn made{std::string(column.name), ParquetKind::kText, column.optional, 0};
    if (column.kind == FocusKind::kTime) made.kind = ParquetKind::kTimeMillis;
    if (column.kind == FocusKind::kMoney || column.kind == FocusKind::kQuantity) {
      made.kind = ParquetKind::kDecimal;
      made.scale = kMillionthDigits;
    }
    out.push_back(std::move(made));
  }
  return out;
}

}  // namespace

FocusParquet::FocusParquet(const PriceSheet& sheet, const FocusPeriods& periods, ByteSink sink,
                           ParquetBounds bounds)
    : rows_(sheet, periods), writer_(ParquetColumns(), std::move(sink), bounds) {}

void FocusParquet::Add(const JobBill& bill, std::string_view job, std::string_view group) {
  rows_.Visit(bill, job, group, [this](const FocusRow& row) {
    for (const FocusColumn& column : FocusColumns()) {
      const FocusCell cell = column.of(row);
      if (column.kind == FocusKind::kText) {
        cell.text.empty() && column.optional ? writer_.Null() : writer_.Text(cell.text);
      } else if (cell.number.has_value()) {
        writer_.Number(column.kind == FocusKind::kTime ? *cell.number * kMillisPerSecond : *cell.number);
      } else {
        writer_.Null();
      }
    }
  });
}

}  // namespace taut::brain
