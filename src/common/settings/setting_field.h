// Typed access to the values of settings: parses, prints and copies each C++ type. Quantities have one
// notation: `2m`, `48h`, `16MiB`, `3%` and plain numbers. Rows of settings (setting_row.h) use these
// functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/strings.h"
#include "common/settings/enum_name.h"

namespace taut {

// The dimension of a number. kPlain has no unit: a count, cores, or a share, which may be written `3%`. kUrl marks
// a text that is a URL.
enum class FieldUnit : uint8_t { kPlain, kBytes, kDuration, kUrl };

struct FieldSpec {
  std::string_view key;  // key such as "server.limits.body"
  FieldUnit unit = FieldUnit::kPlain;
  double min = 0, max = 0;  // inclusive bounds of a number as written: plain, bytes or seconds
  double scale = 1;         // value in the file for 1 in the struct; 86,400 for a number of days
};

// Returns text such as "90m", "16MiB" or "0.5", which ParseQuantity parses to exactly the same number.
std::string QuantityText(FieldUnit unit, double value);
// Returns seconds, bytes or a plain number; InvalidArgument, without a key, if the text is not a quantity of
// this unit.
absl::StatusOr<double> ParseQuantity(FieldUnit unit, std::string_view text);
// Parses a number within the spec's bounds and divides it by the scale. Returns InvalidArgument, without a key,
// for any other text.
absl::StatusOr<double> ParseNumber(const FieldSpec& spec, std::string_view text);
// Returns the text that ParseNumber parses to this value.
std::string NumberText(const FieldSpec& spec, double value);

// Functions to parse, print and copy the values of one type. `context` is the pointer with which the FieldRef was
// created.
struct FieldType {
  // Parses `values`, which has one item unless `is_list`. Returns InvalidArgument, without a key, for an invalid
  // value.
  absl::Status (*set)(const FieldSpec& spec, std::span<const std::string> values, void* value,
                      const void* context);
  std::string (*show)(const FieldSpec& spec, const void* value);
  void (*copy)(const void* from, void* to);
  bool is_list = false;
};

// Returns the type of bool, int, int64_t, size_t, double, std::optional<double>, std::vector<double>, std::string,
// std::vector<std::string> and std::chrono::milliseconds.
template <typename T>
const FieldType& BasicFieldType();

// Refers to a value and its type; both must outlive the reference.
class FieldRef {
 public:
  template <typename T>
  FieldRef(T* value) : FieldRef(value, BasicFieldType<T>()) {}
  FieldRef(void* value, const FieldType& type, const void* context = nullptr)
      : value_(value), type_(&type), context_(context) {}

  bool is_list() const { return type_->is_list; }
  const FieldType& type() const { return *type_; }
  absl::Status Set(const FieldSpec& spec, std::span<const std::string> values) const {
    return type_->set(spec, values, value_, context_);
  }
  std::string Show(const FieldSpec& spec) const { return type_->show(spec, value_); }
  // Copies the value into `other`. REQUIRES: `other` has the same type.
  void CopyTo(const FieldRef& other) const { type_->copy(value_, other.value_); }

 private:
  void* value_;
  const FieldType* type_;
  const void* context_;
};

// Sets a value from the items of a list, or from a text. Returns InvalidArgument for an invalid value; its text
// starts with the key, without file and line.
absl::Status SetField(const FieldSpec& spec, const FieldRef& field, std::span<const std::string> values);
absl::Status SetField(const FieldSpec& spec, const FieldRef& field, std::string_view text);
// Returns the value as a file contains it: "16MiB", "[127.0.0.1:7070]".
std::string ShowField(const FieldSpec& spec, const FieldRef& field);
// Splits ShowField's text into the items that SetField accepts.
std::vector<std::string> ShownItems(std::string_view shown);
// Joins items to one text. A single item is unchanged; several items become "[1h, 6h]".
std::string ItemsText(std::span<const std::string> items);

template <typename T>
void CopyField(const void* from, void* to) {
  *static_cast<T*>(to) = *static_cast<const T*>(from);
}

// Refers to an enum that files contain by name: `ChoiceOf<kClocks>(&config.clock)`, with kClocks an array of
// EnumName.
template <const auto& names, typename T>
FieldRef ChoiceOf(T* value) {
  static constexpr FieldType kType = {
      [](const FieldSpec&, std::span<const std::string> values, void* target, const void*) {
        return SetByName(std::span<const EnumName<T>>(names), StripSpace(values[0]),
                         *static_cast<T*>(target));
      },
      [](const FieldSpec&, const void* shown) {
        return NameIn(std::span<const EnumName<T>>(names), *static_cast<const T*>(shown));
      },
      CopyField<T>};
  return {value, kType};
}

// Refers to a list of enums. A list of one value is printed without brackets; an empty list is rejected.
template <const auto& names, typename T>
FieldRef ChoicesOf(std::vector<T>* value) {
  static constexpr FieldType kType = {
      [](const FieldSpec&, std::span<const std::string> values, void* target, const void*) {
        std::vector<T> all;
        for (const std::string& text : values) {
          const absl::Status s =
              SetByName(std::span<const EnumName<T>>(names), StripSpace(text), all.emplace_back());
          if (!s.ok()) return s;
        }
        if (all.empty()) return absl::InvalidArgumentError("must have at least one value");
        *static_cast<std::vector<T>*>(target) = std::move(all);
        return absl::OkStatus();
      },
      [](const FieldSpec&, const void* shown) {
        std::vector<std::string> texts;
        for (const T v : *static_cast<const std::vector<T>*>(shown))
          texts.push_back(NameIn(std::span<const EnumName<T>>(names), v));
        return texts.size() == 1 ? texts[0] : StrCat("[", Join(texts, ", "), "]");
      },
      CopyField<std::vector<T>>, true};
  return {value, kType};
}

}  // namespace taut
