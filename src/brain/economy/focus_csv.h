// FOCUS rows as CSV.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "brain/economy/focus_rows.h"

namespace taut::brain {

// One thread.
class FocusCsv {
 public:
  // The sheet is that of the bill and must outlive this.
  FocusCsv(const PriceSheet& sheet, const FocusPeriods& periods) : rows_(sheet, periods) {}

  static std::string Header();  // with its line end
  // The rows of FocusRows::Visit, each with its line end. O(rows).
  std::string RowsOf(const JobBill& bill, std::string_view job, std::string_view group);

 private:
  const std::string& TextOfTime(int64_t seconds);

  const FocusRows rows_;
  // The texts of the last times: rows have few.
  struct KnownTime {
    int64_t seconds = 0;
    std::string text;
  };
  std::array<KnownTime, 16> known_;
};

}  // namespace taut::brain
