// The columns of a table that a reader knows by name.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "arrow_column.h"
#include "common/base/strings.h"

namespace taut::python {

// Columns of a stream, with the numbers of `names`. A column that the table lacks is absent. Not thread-safe.
template <size_t kNum>
class NamedColumns {
 public:
  // `fits(number, column, field)` returns an error for a column of an unsuitable kind; `other(name)` receives each
  // column that has none of the names. Returns InvalidArgument also for two columns of one name, and for a stream
  // of single arrays.
  template <typename Fits, typename Other>
  absl::Status Begin(const ArrowSchema& schema, const std::array<std::string_view, kNum>& names,
                     const Fits& fits, const Other& other) {
    if (std::string_view(schema.format) != "+s")
      return absl::InvalidArgumentError(
          "expected a stream of record batches (a table), not of single arrays");
    for (int64_t i = 0; i < schema.n_children; ++i) {
      const ArrowSchema& field = *schema.children[i];
      const std::string_view name = field.name != nullptr ? field.name : "";
      const auto c = static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
      if (c == kNum) {
        other(name);
        continue;
      }
      if (has(c)) return absl::InvalidArgumentError(StrCat("two columns are called ", name));
      absl::StatusOr<ArrowColumn> column = ArrowColumn::Create(field, name);
      if (!column.ok()) return column.status();
      if (absl::Status s = fits(c, *column, field); !s.ok()) return s;
      columns_[c] = *std::move(column);
      at_[c] = i;
    }
    return absl::OkStatus();
  }
  // Sets the batch for later reads. Returns InvalidArgument if a column lacks buffers.
  absl::Status Bind(const ArrowArray& batch) {
    for (size_t c = 0; c < kNum; ++c) {
      if (!has(c)) continue;
      if (absl::Status s = columns_[c]->Bind(*batch.children[at_[c]], batch.offset); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  bool has(size_t number) const { return columns_[number].has_value(); }
  // Returns a column. REQUIRES: has(number).
  const ArrowColumn& operator[](size_t number) const { return *columns_[number]; }

 private:
  std::array<std::optional<ArrowColumn>, kNum> columns_;
  std::array<int64_t, kNum> at_{};  // positions in the table
};

}  // namespace taut::python
