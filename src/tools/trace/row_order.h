// Finds the rows of a series whose times are consistent, if some times are wrong: a year 2099, milliseconds
// among seconds, a row of another day.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace taut::tools {

// Returns the indices of the rows to keep, ascending, for times in the order of their rows. Keeps the largest
// number of rows whose times strictly ascend. If several choices have this number of rows, keeps the earliest
// rows.
//
// Then removes outliers: while the widest gap is longer than the span of all other rows, and at most 1 % of
// the rows (or one row) are on one side of the gap, removes the rows on that side. With fewer than six rows
// none are removed. O(n log n); O(n) for times that ascend.
std::vector<uint32_t> RowsInOrder(std::span<const int64_t> times);

}  // namespace taut::tools
