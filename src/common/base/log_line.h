// Formats one line of a log as text ("limit_set job=shop/web cores=0.25") or as a JSON object.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace taut {

// A key and its value. The views must outlive the call that formats them. An absent number is written as
// "none" (null in JSON): an absent limit means that there is no limit.
struct LogField {
  using Value = std::variant<std::monostate, std::string_view, double, int64_t, uint64_t, bool>;

  LogField(std::string_view k, std::string_view v) : key(k), value(v) {}
  LogField(std::string_view k, const char* v) : key(k), value(std::string_view(v)) {}
  LogField(std::string_view k, const std::string& v) : key(k), value(std::string_view(v)) {}
  LogField(std::string_view k, std::optional<double> v) : key(k) {
    if (v.has_value()) value = *v;
  }
  LogField(std::string_view k, bool v) : key(k), value(v) {}
  template <typename T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) LogField(std::string_view k, T v) : key(k) {
    if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<double>(v);
    } else if constexpr (std::is_signed_v<T>) {
      value = static_cast<int64_t>(v);
    } else {
      value = static_cast<uint64_t>(v);
    }
  }

  std::string_view key;
  Value value;
};

// Returns a line such as: limit_set job=shop/web from=1073741824 to=none text="usage is high". A value that
// is empty or contains blanks, quotes, '=', '\' or non-ASCII bytes is quoted and escaped as in JSON, so that
// an event stays one line.
std::string LogText(std::string_view action, std::span<const LogField> fields);
// Returns an object such as {"time":"...","level":"info","action":"limit_set","job":"shop/web","to":null}. An
// empty `action` is left out: the fields then contain a plain message.
std::string LogJson(std::string_view time, std::string_view level, std::string_view action,
                    std::span<const LogField> fields);

}  // namespace taut
