// Finds rows of constant tables by name, and builds the error for an unknown name.
#pragma once

#include <initializer_list>
#include <iterator>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/strings.h"

namespace taut {

// Returns "a", "a or b" or "a, b or c": the allowed values, for an error. `choices` are texts or numbers.
template <typename Range>
std::string OneOf(const Range& choices) {
  std::string out;
  const auto end = std::ranges::end(choices);
  for (auto it = std::ranges::begin(choices); it != end; ++it) {
    if (!out.empty()) out += std::next(it) == end ? " or " : ", ";
    TextPart(*it).AppendTo(&out);
  }
  return out;
}

// Returns OneOf applied to the names of all rows, followed by `also`.
template <typename Rows>
std::string RowNames(const Rows& rows, std::initializer_list<std::string_view> also = {}) {
  std::vector<std::string_view> names;
  for (const auto& row : rows) names.push_back(row.name);
  names.insert(names.end(), also.begin(), also.end());
  return OneOf(names);
}

// Returns InvalidArgument `unknown WHAT "NAME": expected EXPECTED`, without a file and line.
inline absl::Status UnknownName(std::string_view what, std::string_view name, std::string_view expected) {
  return absl::InvalidArgumentError(StrCat("unknown ", what, " \"", name, "\": expected ", expected));
}

// Returns the first row with this name, valid as long as the table; UnknownName if no row has this name.
// O(rows).
template <typename Rows>
absl::StatusOr<const std::ranges::range_value_t<Rows>*> RowNamed(std::string_view what, const Rows& rows,
                                                                 std::string_view name) {
  for (const auto& row : rows) {
    if (row.name == name) return &row;
  }
  return UnknownName(what, name, RowNames(rows));
}

// Returns the keys of a table's rows, in the order of the rows.
template <typename Table>
std::vector<std::string_view> KeysOf(const Table& table) {
  std::vector<std::string_view> out;
  for (const auto& row : table) out.push_back(row.key);
  return out;
}

}  // namespace taut
