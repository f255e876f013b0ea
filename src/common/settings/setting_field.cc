#include "common/settings/setting_field.h"

#include <cmath>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut {
namespace {

constexpr size_t kMostNumbers = 16;  // number of items of a list

absl::Status Refusal(std::string message) { return absl::InvalidArgumentError(std::move(message)); }

bool IsWhole(double value) { return value == std::floor(value) && std::abs(value) < 1e15; }

// Units below a second: ParseDurationSeconds parses only whole seconds.
constexpr struct {
  std::string_view name;
  double per_second;
} kParts[] = {{"ms", 1e3}, {"us", 1e6}};

absl::StatusOr<double> ParseSeconds(std::string_view text) {
  for (const auto& part : kParts) {
    if (!text.ends_with(part.name)) continue;
    const std::optional<double> number =
        ParseDouble(StripSpace(text.substr(0, text.size() - part.name.size())));
    if (number.has_value() && *number >= 0) return *number / part.per_second;
  }
  if (text.ends_with('s')) {  // also "2.5s"
    const std::optional<double> number = ParseDouble(StripSpace(text.substr(0, text.size() - 1)));
    if (number.has_value() && *number >= 0 && *number <= 1e11) return *number;
  }
  const absl::StatusOr<int64_t> seconds = ParseDurationSeconds(text);
  if (!seconds.ok()) return seconds.status();
  return static_cast<double>(*seconds);
}

std::string SecondsText(double seconds) {
  if (IsWhole(seconds)) return DurationText(static_cast<int64_t>(seconds));
  for (const auto& part : kParts) {
    const double number = std::round(seconds * part.per_second);
    if (number / part.per_second == seconds) return fmt::format("{:.0f}{}", number, part.name);
  }
  return fmt::format("{}s", seconds);
}

absl::StatusOr<double> ParsePlain(std::string_view text) {
  const bool share = text.ends_with('%');
  const std::optional<double> value = ParseDouble(share ? StripSpace(text.substr(0, text.size() - 1)) : text);
  if (!value.has_value()) return Refusal(StrCat("\"", text, "\" is not a number"));
  return share ? *value / 100 : *value;
}

// Convert between the number in the file and the number in the struct. FieldSpec::scale is a whole number n or
// 1/n. Both functions multiply or divide by n, because 1/n is not exact as a double.
double FromWritten(const FieldSpec& spec, double value) {
  return spec.scale < 1 ? value * std::round(1 / spec.scale) : value / spec.scale;
}
double ToWritten(const FieldSpec& spec, double value) {
  return spec.scale < 1 ? value / std::round(1 / spec.scale) : value * spec.scale;
}

template <typename T>
struct Field;

template <>
struct Field<std::string> {
  static absl::Status Set(const FieldSpec& spec, std::string_view text, std::string& target) {
    const bool url = text.starts_with("http://") || text.starts_with("https://");
    if (spec.unit == FieldUnit::kUrl && !text.empty() && !url)
      return Refusal(StrCat("\"", text, "\" is not a URL; expected http://prometheus:9090"));
    target = std::string(text);
    return absl::OkStatus();
  }
  // Quotes text that YAML would not read as plain text.
  static std::string Show(const FieldSpec& /*spec*/, const std::string& v) {
    const bool special =
        !v.empty() && std::string_view("{[*&!|>%@`#'").find(v.front()) != std::string_view::npos;
    return special ? StrCat('"', v, '"') : v;
  }
};

template <>
struct Field<bool> {
  static absl::Status Set(const FieldSpec& /*spec*/, std::string_view text, bool& target) {
    const bool yes = text == "true" || text == "yes" || text == "on";
    if (!yes && text != "false" && text != "no" && text != "off")
      return Refusal(StrCat("\"", text, "\": expected true or false"));
    target = yes;
    return absl::OkStatus();
  }
  static std::string Show(const FieldSpec& /*spec*/, bool v) { return v ? "true" : "false"; }
};

template <>
struct Field<double> {
  static absl::Status Set(const FieldSpec& spec, std::string_view text, double& target) {
    const absl::StatusOr<double> value = ParseNumber(spec, text);
    if (value.ok()) target = *value;
    return value.status();
  }
  static std::string Show(const FieldSpec& spec, double v) { return NumberText(spec, v); }
};

template <typename T>
requires std::is_integral_v<T>
struct Field<T> {
  static absl::Status Set(const FieldSpec& spec, std::string_view text, T& target) {
    const absl::StatusOr<double> value = ParseNumber(spec, text);
    if (!value.ok()) return value.status();
    const double whole = spec.scale == 1 ? std::floor(*value) : std::round(*value);
    if (std::abs(*value - whole) > (spec.scale == 1 ? 0 : 1e-9)) {
      return Refusal(spec.scale == 1 ? StrCat("\"", text, "\" is not a whole number")
                                     : StrCat("\"", text, "\" is not a multiple of ", NumberText(spec, 1)));
    }
    target = static_cast<T>(whole);
    return absl::OkStatus();
  }
  static std::string Show(const FieldSpec& spec, T v) {
    if (spec.unit == FieldUnit::kPlain) return std::to_string(v);
    return NumberText(spec, static_cast<double>(v));
  }
};

template <>
struct Field<std::optional<double>> {
  static constexpr std::string_view kNone = "none";
  static absl::Status Set(const FieldSpec& spec, std::string_view text, std::optional<double>& target) {
    if (!text.empty() && text != kNone) return Field<double>::Set(spec, text, target.emplace());
    target.reset();
    return absl::OkStatus();
  }
  static std::string Show(const FieldSpec& spec, const std::optional<double>& v) {
    return v.has_value() ? NumberText(spec, *v) : std::string(kNone);
  }
};

template <>
struct Field<std::chrono::milliseconds> {
  using Value = std::chrono::milliseconds;
  static absl::Status Set(const FieldSpec& spec, std::string_view text, Value& target) {
    const absl::StatusOr<double> value = ParseNumber(spec, text);
    if (value.ok()) target = Value(std::llround(*value * 1e3));
    return value.status();
  }
  static std::string Show(const FieldSpec& spec, Value v) {
    return NumberText(spec, static_cast<double>(v.count()) / 1e3);
  }
};

template <typename T>
constexpr FieldType OneValue() {
  return {
      [](const FieldSpec& spec, std::span<const std::string> values, void* target, const void*) {
        return Field<T>::Set(spec, StripSpace(values[0]), *static_cast<T*>(target));
      },
      [](const FieldSpec& spec, const void* v) { return Field<T>::Show(spec, *static_cast<const T*>(v)); },
      CopyField<T>};
}

absl::Status SetTexts(const FieldSpec& /*spec*/, std::span<const std::string> values, void* target,
                      const void* /*context*/) {
  static_cast<std::vector<std::string>*>(target)->assign(values.begin(), values.end());
  return absl::OkStatus();
}

std::string ShowTexts(const FieldSpec& /*spec*/, const void* v) {
  return StrCat("[", Join(*static_cast<const std::vector<std::string>*>(v), ", "), "]");
}

// Parses "[1h, 6h]", "1h, 6h" or one item per value.
absl::Status SetNumbers(const FieldSpec& spec, std::span<const std::string> values, void* target,
                        const void* /*context*/) {
  std::vector<double> numbers;
  for (const std::string& value : values) {
    for (const std::string_view item : Split(value, ',')) {
      const absl::StatusOr<double> number = ParseNumber(spec, StripSpace(item));
      if (!number.ok()) return number.status();
      numbers.push_back(*number);
    }
  }
  if (numbers.empty() || numbers.size() > kMostNumbers)
    return Refusal(StrCat("must be 1 to ", kMostNumbers, " values"));
  *static_cast<std::vector<double>*>(target) = std::move(numbers);
  return absl::OkStatus();
}

std::string ShowNumbers(const FieldSpec& spec, const void* v) {
  std::vector<std::string> parts;
  for (const double x : *static_cast<const std::vector<double>*>(v)) parts.push_back(NumberText(spec, x));
  return StrCat("[", Join(parts, ", "), "]");
}

}  // namespace

std::string QuantityText(FieldUnit unit, double value) {
  if (unit == FieldUnit::kBytes) return BytesText(value);
  if (unit == FieldUnit::kDuration) return SecondsText(value);
  return StrCat(value);
}

absl::StatusOr<double> ParseQuantity(FieldUnit unit, std::string_view text) {
  if (unit == FieldUnit::kBytes) return ParseBytes(text);
  if (unit == FieldUnit::kDuration) return ParseSeconds(text);
  return ParsePlain(text);
}

absl::StatusOr<double> ParseNumber(const FieldSpec& spec, std::string_view text) {
  const absl::StatusOr<double> value = ParseQuantity(spec.unit, text);
  if (!value.ok()) return value;
  if (*value >= spec.min && *value <= spec.max) return FromWritten(spec, *value);
  const bool is_share = spec.unit == FieldUnit::kPlain && spec.max == 1;
  return Refusal(StrCat(text, " is outside ", QuantityText(spec.unit, spec.min), " .. ",
                        QuantityText(spec.unit, spec.max),
                        is_share ? "; expected a share such as 0.05 or 5%" : ""));
}

std::string NumberText(const FieldSpec& spec, double value) {
  return QuantityText(spec.unit, ToWritten(spec, value));
}

template <typename T>
const FieldType& BasicFieldType() {
  static constexpr FieldType kType = OneValue<T>();
  return kType;
}
template <>
const FieldType& BasicFieldType<std::vector<std::string>>() {
  static constexpr FieldType kType = {SetTexts, ShowTexts, CopyField<std::vector<std::string>>, true};
  return kType;
}
template <>
const FieldType& BasicFieldType<std::vector<double>>() {
  static constexpr FieldType kType = {SetNumbers, ShowNumbers, CopyField<std::vector<double>>, true};
  return kType;
}
template const FieldType& BasicFieldType<bool>();
template const FieldType& BasicFieldType<int>();
template const FieldType& BasicFieldType<int64_t>();
template const FieldType& BasicFieldType<size_t>();
template const FieldType& BasicFieldType<double>();
template const FieldType& BasicFieldType<std::optional<double>>();
template const FieldType& BasicFieldType<std::string>();
template const FieldType& BasicFieldType<std::chrono::milliseconds>();

absl::Status SetField(const FieldSpec& spec, const FieldRef& field, std::span<const std::string> values) {
  std::vector<std::string> items(values.begin(), values.end());
  if (items.empty() && !field.is_list()) items.emplace_back();
  if (items.size() > 1 && !field.is_list())
    return Refusal(StrCat(spec.key, ": must be one value, not a list"));
  const absl::Status s = field.Set(spec, items);
  return s.ok() ? s : Refusal(StrCat(spec.key, ": ", Message(s)));
}

absl::Status SetField(const FieldSpec& spec, const FieldRef& field, std::string_view text) {
  if (field.is_list()) return SetField(spec, field, ShownItems(StripSpace(text)));
  const std::string value(text);
  return SetField(spec, field, std::span(&value, 1));
}

std::string ShowField(const FieldSpec& spec, const FieldRef& field) { return field.Show(spec); }

std::string ItemsText(std::span<const std::string> items) {
  if (items.size() <= 1) return items.empty() ? "" : items[0];
  return StrCat("[", Join(std::vector<std::string>(items.begin(), items.end()), ", "), "]");
}

std::vector<std::string> ShownItems(std::string_view shown) {
  const bool quoted = shown.size() >= 2 && shown.front() == '"' && shown.back() == '"';
  if (quoted) return {std::string(shown.substr(1, shown.size() - 2))};
  if (shown.size() < 2 || shown.front() != '[' || shown.back() != ']') return {std::string(shown)};
  std::vector<std::string> items;
  const std::string_view inner = shown.substr(1, shown.size() - 2);
  if (inner.empty()) return items;
  for (const std::string_view item : Split(inner, ',')) items.emplace_back(StripSpace(item));
  return items;
}

}  // namespace taut
