// Converts bills to rows of the FinOps Open Cost and Usage Specification (FOCUS) 1.0, for any file format.
// FocusColumns() is the only list of columns.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "brain/economy/bill.h"
#include "brain/economy/price_sheet.h"

namespace taut::brain {

// The billing period, and the part of it that is charged so far. Both are half-open intervals in seconds since
// the epoch.
struct FocusPeriods {
  int64_t billing_start_s = 0, billing_end_s = 0;
  int64_t charge_start_s = 0, charge_end_s = 0;
};

// A row: a charge, a credit, or a share of idle cost or overhead. Texts are unquoted. Views are valid only
// during the visit.
struct FocusRow {
  FocusPeriods periods;  // the charge period is the time in which the row's price was valid
  std::string_view job, group, currency, category, frequency, tier, rule, unit;
  std::string description, sku;
  Money cost;
  std::optional<Money> unit_price;
  std::optional<int64_t> quantity_millionths;  // millionths of core-hours or GiB-hours
};

enum class FocusKind : uint8_t {
  kText,
  kMoney,     // number of micro-units of the currency
  kQuantity,  // number of millionths
  kTime,      // number of seconds since the epoch
};
// A cell is empty if its text has no bytes or its number is absent.
struct FocusCell {
  std::string_view text;          // value of a kText cell
  std::optional<int64_t> number;  // value of any other cell
};
// A column, and the function that reads its cell from a row.
struct FocusColumn {
  std::string_view name;  // name, such as "BilledCost"; columns of Tautline start with x_
  FocusKind kind = FocusKind::kText;
  bool optional = false;  // true if the cell may be empty
  FocusCell (*of)(const FocusRow&) = nullptr;
};
// Returns the columns in file order.
std::span<const FocusColumn> FocusColumns();

// Converts the jobs of one bill to rows.
class FocusRows {
 public:
  // `sheet` must be the bill's sheet and must outlive this object.
  FocusRows(const PriceSheet& sheet, const FocusPeriods& periods) : sheet_(sheet), periods_(periods) {}

  // Visits a row for each line of the job's bill, for each credit, and for each share of idle cost and overhead.
  // The costs of the rows sum up to the job's total exactly. A charge covers the part of the period in which its
  // price was valid. O(rows).
  void Visit(const JobBill& bill, std::string_view job, std::string_view group,
             absl::FunctionRef<void(const FocusRow&)> visit) const;

 private:
  const PriceSheet& sheet_;
  const FocusPeriods periods_;
};

}  // namespace taut::brain
