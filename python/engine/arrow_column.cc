#include "arrow_column.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "common/base/strings.h"
#include "common/base/whole_number.h"

namespace taut::python {
namespace {

// A view of the layout "utf8 view": texts of up to 12 bytes are inline.
struct TextView {
  int32_t size;
  union {
    char inlined[12];
    struct {
      char prefix[4];
      int32_t buffer, offset;
    } out;
  };
};
static_assert(sizeof(TextView) == 16);

// Parses the scale of "d:19,10" or "d:19,10,128"; nullopt for other widths.
std::optional<int64_t> DecimalScale(std::string_view format) {
  const std::vector<std::string_view> parts = Split(format.substr(2), ',');
  if (parts.size() < 2 || (parts.size() == 3 && parts[2] != "128")) return std::nullopt;
  return WholeNumber(parts[1]);
}

}  // namespace

absl::StatusOr<ArrowColumn> ArrowColumn::Create(const ArrowSchema& schema, std::string_view what) {
  struct Type {
    std::string_view format;
    Kind kind;
    Layout layout;
  };
  constexpr Type kTypes[] = {
      {"c", Kind::kInteger, Layout::kI8},      {"C", Kind::kInteger, Layout::kU8},
      {"s", Kind::kInteger, Layout::kI16},     {"S", Kind::kInteger, Layout::kU16},
      {"i", Kind::kInteger, Layout::kI32},     {"I", Kind::kInteger, Layout::kU32},
      {"l", Kind::kInteger, Layout::kI64},     {"L", Kind::kInteger, Layout::kU64},
      {"f", Kind::kReal, Layout::kF32},        {"g", Kind::kReal, Layout::kF64},
      {"u", Kind::kText, Layout::kUtf8},       {"U", Kind::kText, Layout::kLargeUtf8},
      {"vu", Kind::kText, Layout::kUtf8View},  {"z", Kind::kBytes, Layout::kUtf8},
      {"Z", Kind::kBytes, Layout::kLargeUtf8},
  };
  ArrowColumn out;
  out.what_ = what;
  const std::string_view format = schema.format;
  bool known = false;
  for (const Type& type : kTypes) {
    if (format != type.format) continue;
    out.kind_ = type.kind;
    out.layout_ = type.layout;
    known = true;
  }
  if (format.starts_with("ts") && format.size() >= 4) {
    const size_t unit = std::string_view("smun").find(format[2]);
    known = unit != std::string_view::npos;
    out.kind_ = Kind::kTime;
    for (size_t i = 0; known && i < unit; ++i) out.per_second_ *= 1000;
  }
  if (format.starts_with("d:")) {
    const std::optional<int64_t> scale = DecimalScale(format);
    known = scale.has_value();
    out.kind_ = Kind::kDecimal;
    out.layout_ = Layout::kD128;
    out.decimal_factor_ = std::pow(10.0, -static_cast<double>(scale.value_or(0)));
  }
  if (!known) {
    return absl::InvalidArgumentError(StrCat(
        "column \"", what, "\" has the Arrow type \"", format,
        "\"; expected integers, floating-point numbers, decimal128, timestamps, texts, or a dictionary of these"));
  }
  if (schema.dictionary != nullptr) {
    absl::StatusOr<ArrowColumn> values = Create(*schema.dictionary, what);
    if (!values.ok()) return values.status();
    if (out.kind_ != Kind::kInteger)
      return absl::InvalidArgumentError(
          StrCat("column \"", what, "\" is a dictionary whose indices are not integers"));
    out.dictionary_ = std::make_unique<ArrowColumn>(*std::move(values));
  }
  return out;
}

absl::Status ArrowColumn::Bind(const ArrowArray& array, int64_t first) {
  const bool is_text = layout_ == Layout::kUtf8 || layout_ == Layout::kLargeUtf8;
  const int64_t least = is_text ? 3 : 2;
  const bool has_values = array.n_buffers >= least && (array.length == 0 || array.buffers[1] != nullptr);
  if (!has_values || (dictionary_ != nullptr && array.dictionary == nullptr))
    return absl::InvalidArgumentError(StrCat("column \"", what_, "\": its Arrow array lacks buffers"));
  validity_ = static_cast<const uint8_t*>(array.null_count == 0 ? nullptr : array.buffers[0]);
  values_ = array.buffers[1];
  bytes_ = is_text ? static_cast<const char*>(array.buffers[2]) : nullptr;
  view_buffers_ = array.buffers;
  offset_ = array.offset + first;
  return dictionary_ != nullptr ? dictionary_->Bind(*array.dictionary, 0) : absl::OkStatus();
}

bool ArrowColumn::IsNull(int64_t row) const {
  if (validity_ != nullptr) {
    const auto bit = static_cast<uint64_t>(row + offset_);
    if ((validity_[bit / 8] >> (bit % 8) & 1U) == 0) return true;
  }
  if (dictionary_ == nullptr) return kind_ == Kind::kReal && std::isnan(Real(row));
  return dictionary_->IsNull(Stored(row));
}

int64_t ArrowColumn::Integer(int64_t row) const {
  return dictionary_ != nullptr ? dictionary_->Integer(Stored(row)) : Stored(row);
}

int64_t ArrowColumn::Stored(int64_t row) const {
  switch (layout_) {
    case Layout::kI8:
      return At<int8_t>(row);
    case Layout::kU8:
      return At<uint8_t>(row);
    case Layout::kI16:
      return At<int16_t>(row);
    case Layout::kU16:
      return At<uint16_t>(row);
    case Layout::kI32:
      return At<int32_t>(row);
    case Layout::kU32:
      return At<uint32_t>(row);
    case Layout::kU64: {
      const auto value = At<uint64_t>(row);
      return value > INT64_MAX ? INT64_MAX : static_cast<int64_t>(value);
    }
    default:
      return At<int64_t>(row);
  }
}

double ArrowColumn::Real(int64_t row) const {
  if (dictionary_ != nullptr) return dictionary_->Real(Stored(row));
  switch (layout_) {
    case Layout::kF32:
      return double{At<float>(row)};
    case Layout::kF64:
      return At<double>(row);
    case Layout::kU64:
      return static_cast<double>(At<uint64_t>(row));
    case Layout::kD128: {
      __int128 value = 0;
      std::memcpy(&value, static_cast<const char*>(values_) + 16 * (row + offset_), 16);
      return static_cast<double>(value) * decimal_factor_;
    }
    default:
      return static_cast<double>(Stored(row));
  }
}

std::string_view ArrowColumn::Text(int64_t row) const {
  if (dictionary_ != nullptr) return dictionary_->Text(Stored(row));
  switch (layout_) {
    case Layout::kUtf8: {
      const auto* ends = static_cast<const int32_t*>(values_) + row + offset_;
      return {bytes_ + ends[0], static_cast<size_t>(ends[1] - ends[0])};
    }
    case Layout::kLargeUtf8: {
      const auto* ends = static_cast<const int64_t*>(values_) + row + offset_;
      return {bytes_ + ends[0], static_cast<size_t>(ends[1] - ends[0])};
    }
    default: {
      const TextView& view = static_cast<const TextView*>(values_)[row + offset_];
      const auto size = static_cast<size_t>(view.size);
      if (size <= sizeof(view.inlined)) return {view.inlined, size};
      return {static_cast<const char*>(view_buffers_[2 + view.out.buffer]) + view.out.offset, size};
    }
  }
}

}  // namespace taut::python
