// Which rows of a series have a time that fits the others, where some are wrong: a year 2099, milliseconds
// among seconds, a row of another day.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace taut::tools {

// Of times in the order of their rows, the places of the rows to keep, ascending: as many as possible whose
// times strictly ascend. Of several such choices the rows that come first are kept. Then, while one side of the
// widest gap has at most 1 % of the rows (or one row) and the gap is longer than all the other rows last, that
// side is left out; never of fewer than six rows. O(n log n), O(n) for times that ascend.
std::vector<uint32_t> RowsInOrder(std::span<const int64_t> times);

}  // namespace taut::tools
