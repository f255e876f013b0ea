// Parses times in CSV fields.
#pragma once

#include <cstdint>
#include <string_view>

#include "tools/trace/csv_rows.h"

namespace taut::tools {

// Parses seconds (with or without fraction), or a date with a time of day, to microseconds. Dates have the format
// of RFC 3339 or of SQL ("2023-11-14 22:10:00", optionally with " UTC" or an offset; default UTC). Returns false
// for other text and for times after kLatestUs.
bool ParseCsvTime(const CsvRow& row, int i, int64_t& us);

// Returns the number of units per second for a file whose first time is `first`. The result is 1'000, 1'000'000 or
// 1'000'000'000 if `first` in this unit is between the years 1973 and 5138, else 1.
int64_t TimeUnitsPerSecond(double first);

// Parses the times of one file. The first number determines the unit of all numbers in the file. The unit is
// milliseconds, microseconds or nanoseconds if the number in this unit is between the years 1973 and 5138, else
// seconds.
class CsvClock {
 public:
  // Parses a time in the formats of ParseCsvTime().
  bool Parse(const CsvRow& row, int i, int64_t& us);
  // Returns "milliseconds", "microseconds" or "nanoseconds"; "" for seconds and before the first number.
  std::string_view unit() const;

 private:
  int64_t per_second_ = 0;  // units per second of numbers in this file; 0: unknown
};

}  // namespace taut::tools
