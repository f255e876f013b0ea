// Bills as rows of the FinOps Open Cost and Usage Specification (FOCUS) 1.0, whatever the file: the columns
// are listed here once.
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

// Seconds of the Unix epoch, half-open: the bill, and what of it is charged so far.
struct FocusPeriods {
  int64_t billing_start_s = 0, billing_end_s = 0;
  int64_t charge_start_s = 0, charge_end_s = 0;
};

// A charge, a credit, or a share of idle cost or overhead. Texts are as they are known, unquoted; those that
// are views are valid as long as the row is visited.
struct FocusRow {
  FocusPeriods periods;  // the charge: in which its price was valid
  std::string_view job, group, currency, category, frequency, tier, rule, unit;
  std::string description, sku;
  Money cost;
  std::optional<Money> unit_price;
  std::optional<int64_t> quantity_millionths;  // of core-hours or GiB-hours
};

enum class FocusKind : uint8_t {
  kText,
  kMoney,     // micro-units of the currency
  kQuantity,  // millionths
  kTime,      // seconds of the Unix epoch
};
// Empty: a text without bytes, or a number that is absent.
struct FocusCell {
  std::string_view text;          // of kText
  std::optional<int64_t> number;  // of others
};
struct FocusColumn {
  std::string_view name;  // "BilledCost"; of our own: x_ first
  FocusKind kind = FocusKind::kText;
  bool optional = false;  // may be empty
  FocusCell (*of)(const FocusRow&) = nullptr;
};
// In the order of a file.
std::span<const FocusColumn> FocusColumns();

class FocusRows {
 public:
  // The sheet is that of the bill and must outlive this.
  FocusRows(const PriceSheet& sheet, const FocusPeriods& periods) : sheet_(sheet), periods_(periods) {}

  // A row per line of the job's bill and one per credit, and one per share of idle cost and overhead. Their
  // costs add up to the job's total exactly. A charge has the part of the period in which its price was
  // valid. O(rows).
  void Visit(const JobBill& bill, std::string_view job, std::string_view group,
             absl::FunctionRef<void(const FocusRow&)> visit) const;

 private:
  const PriceSheet& sheet_;
  const FocusPeriods periods_;
};

}  // namespace taut::brain
