// Bills as rows of the FinOps Open Cost and Usage Specification (FOCUS) 1.0, CSV.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "economy/bill.h"
#include "economy/price_sheet.h"

namespace taut {

// Seconds of the Unix epoch, half-open: the bill, and what of it is charged so far.
struct FocusPeriods {
  int64_t billing_start_s = 0, billing_end_s = 0;
  int64_t charge_start_s = 0, charge_end_s = 0;
};

// Rows of one bill. Columns of our own begin with x_.
class FocusCsv {
 public:
  // The sheet is that of the bill and must outlive this.
  FocusCsv(const PriceSheet& sheet, const FocusPeriods& periods);

  static std::string_view Header();  // with its line end
  // A row per line of the job's bill and one per credit, and one per share of idle cost and overhead. Their
  // BilledCost adds up to the job's total exactly. A charge has the part of the period in which its price was
  // valid. O(rows).
  std::string RowsOf(const JobBill& bill, std::string_view job, std::string_view group) const;

 private:
  struct Row;
  std::string TextOf(const Row& row) const;

  const PriceSheet& sheet_;
  const FocusPeriods periods_;
  std::string currency_, billing_start_, billing_end_;  // as fields
};

}  // namespace taut
