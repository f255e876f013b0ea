// Parses times in CSV fields.
#pragma once

#include <cstdint>
#include <string_view>

#include "tools/trace/csv_rows.h"

namespace taut::tools {

// Parses a time to microseconds: seconds, whole or not, or a date and a time of day. The latter is RFC 3339,
// or as SQL prints it ("2023-11-14 22:10:00", with or without " UTC" or an offset; UTC without one). Returns
// false for other text, and for times beyond kLatestUs.
bool ParseCsvTime(const CsvRow& row, int i, int64_t& us);

// Parses the times of one file. The file's first number decides the unit of all its numbers: milliseconds,
// microseconds or nanoseconds if it is then a time between 1973 and 5138, and else seconds.
class CsvClock {
 public:
  // Parses a time as ParseCsvTime does.
  bool Parse(const CsvRow& row, int i, int64_t& us);
  // Returns "milliseconds" and the like; "" for seconds, and before the first number.
  std::string_view unit() const { return per_second_ > 1 ? unit_ : std::string_view(); }

 private:
  void TakeUnit(double first);

  int64_t per_second_ = 0;  // numbers per second in this file; 0: not known yet
  std::string_view unit_;
};

}  // namespace taut::tools
