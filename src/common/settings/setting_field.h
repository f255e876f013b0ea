// Values of settings: how each C++ type is read from text, shown and copied, in one notation of units: `2m`,
// `48h`, `16MiB`, `3%` and plain numbers. Rows of settings (setting_row.h) refer to them.
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

// What a number measures. kPlain has no unit: a count, cores, or a share, which may be written `3%`.
enum class FieldUnit : uint8_t { kPlain, kBytes, kDuration, kUrl };

struct FieldSpec {
  std::string_view key;  // "server.limits.body"
  FieldUnit unit = FieldUnit::kPlain;
  double min = 0, max = 0;  // of numbers as written: plain, in bytes or in seconds
  double scale = 1;         // what 1 in the struct is as written: 86,400 of a number of days
};

// "90m", "16MiB", "0.5": what ParseQuantity reads back to the very same number of a quantity that has a unit.
std::string QuantityText(FieldUnit unit, double value);
// Seconds, bytes or a plain number. InvalidArgument, without a key.
absl::StatusOr<double> ParseQuantity(FieldUnit unit, std::string_view text);
// The same within the spec's bounds, divided by its scale.
absl::StatusOr<double> ParseNumber(const FieldSpec& spec, std::string_view text);
std::string NumberText(const FieldSpec& spec, double value);

// How the values of one type are read, shown and copied. `context` is what the row hands over beside the value.
struct FieldType {
  // `values` has one item unless `is_list`. InvalidArgument, without a key.
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

// Where a value is, and its type. Refers to both.
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
  // REQUIRES: the same type.
  void CopyTo(const FieldRef& other) const { type_->copy(value_, other.value_); }

 private:
  void* value_;
  const FieldType* type_;
  const void* context_;
};

// Sets a value from the items of a list, or from one. InvalidArgument names the key, without a place.
absl::Status SetField(const FieldSpec& spec, const FieldRef& field, std::span<const std::string> values);
absl::Status SetField(const FieldSpec& spec, const FieldRef& field, std::string_view text);
// As people write it: "16MiB", "[127.0.0.1:7070]".
std::string ShowField(const FieldSpec& spec, const FieldRef& field);
// The items that SetField reads back to what ShowField has shown.
std::vector<std::string> ShownItems(std::string_view shown);
// The text of which they are the items: "[1h, 6h]" of several.
std::string ItemsText(std::span<const std::string> items);

template <typename T>
void CopyField(const void* from, void* to) {
  *static_cast<T*>(to) = *static_cast<const T*>(from);
}

// A value that is written by its name: `ChoiceOf<kClocks>(&config.clock)`, kClocks being an array of EnumName.
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

// A list of such; one value is shown without brackets. An empty list is refused.
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
