#include "tools/trace/row_order.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace taut::tools {
namespace {

constexpr uint32_t kNoRow = UINT32_MAX;
constexpr size_t kLeastOthers = 5;  // minimum number of other rows, without which no row is an outlier
constexpr size_t kShareOfFew = 100;

// Returns the indices of the longest strictly ascending subsequence.
std::vector<uint32_t> LongestAscending(std::span<const int64_t> times) {
  // Element i is the last row of an ascending subsequence of length i + 1. `least` contains the row with the
  // earliest time, and `first` the row that was found first.
  std::vector<uint32_t> least, first;
  std::vector<uint32_t> before(times.size(), kNoRow);
  for (uint32_t i = 0; i < times.size(); ++i) {
    const auto it = std::ranges::lower_bound(least, times[i], std::less<>(),
                                             [&](uint32_t place) { return times[place]; });
    const auto length = static_cast<size_t>(it - least.begin());
    if (length > 0) before[i] = times[first[length - 1]] < times[i] ? first[length - 1] : least[length - 1];
    if (it == least.end()) {
      least.push_back(i);
      first.push_back(i);
    } else {
      *it = i;
    }
  }
  std::vector<uint32_t> out(least.size());
  if (out.empty()) return out;
  // If the gap before the last row is wider than the span of all rows before it, the row is an outlier. Use the
  // earliest row that can be the last row instead.
  uint32_t at = first.back();
  if (out.size() > kLeastOthers) {
    const uint32_t previous = before[at];
    uint32_t begin = previous;
    while (before[begin] != kNoRow) begin = before[begin];
    if (times[at] - times[previous] > times[previous] - times[begin]) at = least.back();
  }
  for (size_t n = out.size(); n-- > 0; at = before[at]) out[n] = at;
  return out;
}

// Removes a few rows that are far from all other rows. Returns false if there are no such rows.
bool LeaveOutFarRows(std::span<const int64_t> times, std::vector<uint32_t>& rows) {
  if (rows.size() <= kLeastOthers) return false;
  size_t widest = 1;
  const auto gap = [&](size_t i) { return times[rows[i]] - times[rows[i - 1]]; };
  for (size_t i = 2; i < rows.size(); ++i) widest = gap(i) > gap(widest) ? i : widest;
  const bool is_end = 2 * widest > rows.size();
  const size_t few = is_end ? rows.size() - widest : widest;
  if (few > std::max<size_t>(1, rows.size() / kShareOfFew)) return false;
  const int64_t others =
      is_end ? times[rows[widest - 1]] - times[rows.front()] : times[rows.back()] - times[rows[widest]];
  if (gap(widest) <= others) return false;
  if (is_end) {
    rows.resize(widest);
  } else {
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(widest));
  }
  return true;
}

}  // namespace

std::vector<uint32_t> RowsInOrder(std::span<const int64_t> times) {
  std::vector<uint32_t> rows;
  if (std::ranges::adjacent_find(times, std::greater_equal<>()) == times.end()) {
    rows.resize(times.size());
    std::iota(rows.begin(), rows.end(), 0U);
  } else {
    rows = LongestAscending(times);
  }
  while (LeaveOutFarRows(times, rows)) {
  }
  return rows;
}

}  // namespace taut::tools
