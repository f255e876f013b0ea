// Writes FOCUS rows as CSV.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "brain/economy/focus_rows.h"

namespace taut::brain {

// Writes the rows of the jobs of one bill. Not thread-safe.
class FocusCsv {
 public:
  // `sheet` must be the bill's sheet and must outlive this object.
  FocusCsv(const PriceSheet& sheet, const FocusPeriods& periods) : rows_(sheet, periods) {}

  static std::string Header();  // returns the header line with its line end
  // Returns the rows of FocusRows::Visit, each with its line end. O(rows).
  std::string RowsOf(const JobBill& bill, std::string_view job, std::string_view group);

 private:
  const std::string& TextOfTime(int64_t seconds);

  const FocusRows rows_;
  // A time and its formatted text, cached because rows have only a few distinct times.
  struct KnownTime {
    int64_t seconds = 0;
    std::string text;
  };
  std::array<KnownTime, 16> known_;
};

}  // namespace taut::brain
