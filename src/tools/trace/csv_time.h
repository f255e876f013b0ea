// Parses times in CSV fields.
#pragma once

#include <cstdint>
#include <string_view>

#include "tools/trace/csv_rows.h"

namespace taut::tools {

// Parses a time to microseconds: seconds, whole or not, or a date and a time of day. A date has the format of
// RFC 3339 or of SQL ("2023-11-14 22:10:00", with or without " UTC" or an offset; UTC without one). Returns
// false for other text, and for times beyond kLatestUs.
bool ParseCsvTime(const CsvRow& row, int i, int64_t& us);

// Parses the times of one file. The first number in the file decides the unit of all numbers in the file. The
// unit is milliseconds, microseconds or nanoseconds if the first number is then a time between 1973 and 5138,
// else seconds.
class CsvClock {
 public:
  // Parses a time as ParseCsvTime does.
  bool Parse(const CsvRow& row, int i, int64_t& us);
  // Returns "milliseconds", "microseconds" or "nanoseconds"; "" for seconds, and before the first number.
  std::string_view unit() const { return per_second_ > 1 ? unit_ : std::string_view(); }

 private:
  void TakeUnit(double first);

  int64_t per_second_ = 0;  // units per second of the numbers in this file; 0: not known yet
  std::string_view unit_;
};

}  // namespace taut::tools
