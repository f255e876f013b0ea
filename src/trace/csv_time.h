// Times in CSV fields.
#pragma once

#include <cstdint>

#include "trace/csv_rows.h"

namespace taut {

// Seconds, whole or not, or RFC 3339, in microseconds. False if it is none of these or beyond kLatestUs.
bool ParseCsvTime(const CsvRow& row, int i, int64_t& us);

}  // namespace taut
