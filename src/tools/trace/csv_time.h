// Times in CSV fields.
#pragma once

#include <cstdint>
#include <string_view>

#include "tools/trace/csv_rows.h"

namespace taut::tools {

// Seconds, whole or not, or a date and a time of day, in microseconds: RFC 3339, or as SQL prints it ("2023-11-14
// 22:10:00", with or without " UTC" or an offset; without one it is UTC). False if it is none of these or beyond
// kLatestUs.
bool ParseCsvTime(const CsvRow& row, int i, int64_t& us);

// The times of one file. Its first number says whether its numbers are seconds, milliseconds, microseconds or
// nanoseconds: that of which it is a time between 1973 and 5138, and seconds otherwise.
class CsvClock {
 public:
  // As ParseCsvTime.
  bool Parse(const CsvRow& row, int i, int64_t& us);
  // "milliseconds"; "" for seconds and before the first number.
  std::string_view unit() const { return per_second_ > 1 ? unit_ : std::string_view(); }

 private:
  void TakeUnit(double first);

  int64_t per_second_ = 0;  // of the file's numbers; 0: not known yet
  std::string_view unit_;
};

}  // namespace taut::tools
