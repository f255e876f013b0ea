// Finds the rows of a series whose times fit the others, where some are wrong: a year 2099, milliseconds among
// seconds, a row of another day.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace taut::tools {

// Returns the indices of the rows to keep, ascending, for times in the order of their rows. It keeps the
// largest number of rows whose times strictly ascend; of several such choices, the earliest rows.
//
// Then it removes the side of the widest gap that has at most 1 % of the rows (or one row), as long as the gap
// is longer than the span of all other rows. With fewer than six rows none are removed. O(n log n); O(n) for
// times that ascend.
std::vector<uint32_t> RowsInOrder(std::span<const int64_t> times);

}  // namespace taut::tools
