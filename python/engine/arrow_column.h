// Reads values of one column of Arrow data of any supported type: integers, floating-point numbers, decimals,
// times, texts, bytes, and dictionaries of these types.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "arrow_c.h"

namespace taut::python {

// A column of a stream. Not thread-safe. Values are read without a copy of the column.
class ArrowColumn {
 public:
  enum class Kind : uint8_t { kInteger, kReal, kDecimal, kTime, kText, kBytes };

  // `what` names the column in errors. For a type without a Kind, returns InvalidArgument with the allowed types.
  static absl::StatusOr<ArrowColumn> Create(const ArrowSchema& schema, std::string_view what);

  Kind kind() const { return dictionary_ != nullptr ? dictionary_->kind() : kind_; }
  // Units per second of a time: 1, 1'000, 1'000'000 or 1'000'000'000.
  int64_t per_second() const { return dictionary_ != nullptr ? dictionary_->per_second() : per_second_; }

  // Sets the array for later calls, in which row 0 is the array's row `first`. The array must stay valid until the
  // next call or the end of this object. Returns InvalidArgument if the array lacks buffers.
  absl::Status Bind(const ArrowArray& array, int64_t first);

  // Returns true for a null and for a NaN.
  bool IsNull(int64_t row) const;
  // Return the value of a row that is not null, for columns of the kinds named here.
  int64_t Integer(int64_t row) const;        // kInteger, kTime; saturates above 2^63 - 1
  double Real(int64_t row) const;            // kInteger, kReal, kDecimal
  std::string_view Text(int64_t row) const;  // kText, kBytes; valid as long as the array

 private:
  // Returns the integer that the column itself stores: the index of a dictionary.
  int64_t Stored(int64_t row) const;
  enum class Layout : uint8_t {
    kI8,
    kU8,
    kI16,
    kU16,
    kI32,
    kU32,
    kI64,
    kU64,
    kF32,
    kF64,
    kD128,
    kUtf8,
    kLargeUtf8,
    kUtf8View
  };
  template <typename T>
  T At(int64_t row) const {
    return static_cast<const T*>(values_)[row + offset_];
  }

  std::string what_;
  Kind kind_ = Kind::kInteger;
  Layout layout_ = Layout::kI64;
  int64_t per_second_ = 1;
  double decimal_factor_ = 1;
  std::unique_ptr<ArrowColumn>
      dictionary_;  // dictionary of a dictionary-encoded column; the other members then describe the indices

  const uint8_t* validity_ = nullptr;  // null: no row is null
  const void* values_ = nullptr;       // values; for texts: offsets or views
  const char* bytes_ = nullptr;        // bytes of all texts
  const void* const* view_buffers_ = nullptr;
  int64_t offset_ = 0;
};

}  // namespace taut::python
