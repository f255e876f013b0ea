// Finds the rows of a series with consistent times, if some times are wrong, such as a year 2099 or milliseconds
// among seconds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace taut::tools {

// Returns the ascending indices of the rows to keep, given the times in the order of the rows. Keeps as many rows
// as possible with strictly ascending times, and the earliest rows if there are several choices.
//
// Then removes outliers. While the widest gap exceeds the span of all other rows, removes the rows on one side of
// the gap. Stops if these rows are more than one row and more than 1 % of the rows. Removes no outliers from fewer
// than six rows. O(n log n), and O(n) for ascending times.
std::vector<uint32_t> RowsInOrder(std::span<const int64_t> times);

}  // namespace taut::tools
