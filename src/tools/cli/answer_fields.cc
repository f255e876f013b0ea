#include "tools/cli/answer_fields.h"

#include <algorithm>

#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/answer.h"
#include "tools/cli/terminal.h"

namespace taut::tools {

std::string FieldText(const Json& object, const char* key) {
  const Json& value = At(object, key);
  if (value.is_string()) return Printable(value.get<std::string>());
  return value.is_null() ? kNothing : value.dump();
}

std::optional<double> FieldNumber(const Json& object, const char* key) {
  const Json& value = At(object, key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::string FieldCount(const Json& object, const char* key) {
  const std::optional<double> n = FieldNumber(object, key);
  return n.has_value() && *n >= 0 ? FormatCount(static_cast<uint64_t>(IntAt(object, key))) : kNothing;
}

std::string FieldCount(const Json& object, const char* key, std::string_view one) {
  return StrCat(FieldCount(object, key), " ", one, FieldNumber(object, key) == 1.0 ? "" : "s");
}

std::string FieldTime(const Json& object, const char* key) {
  return FieldNumber(object, key).has_value() ? FormatTime(IntAt(object, key)) : kNothing;
}

std::string FieldDuration(const Json& object, const char* key) {
  return FieldNumber(object, key).has_value() ? FormatDuration(IntAt(object, key)) : kNothing;
}

std::string FieldAmount(Target target, const Json& object, const char* key) {
  const std::optional<double> a = FieldNumber(object, key);
  return a.has_value() ? FormatAmount(target, *a) : kNothing;
}

std::string FieldShort(Resource r, const Json& object, const char* key) {
  const std::optional<double> a = FieldNumber(object, key);
  if (!a.has_value()) return kNothing;
  return InCores(r) ? fmt::format("{:.3g}", *a) : FormatBytes(*a);
}

std::string WouldBe(Resource r, const Json& amounts) {
  if (At(amounts, "provisional") != Json(true)) return FieldAmount(r, amounts, "would_be");
  return StrCat("~", FieldAmount(r, amounts, "provisional_limit"));
}

Resource FieldResource(const Json& object) {
  return ResourceNamed(FieldText(object, "resource")).value_or(Resource::kMemory);
}

std::string SignedShort(Resource r, std::optional<double> amount) {
  if (!amount.has_value()) return kNothing;
  if (InCores(r)) return fmt::format("{:.3g}", *amount);
  return *amount < 0 ? "-" + FormatBytes(-*amount) : FormatBytes(*amount);
}

const char* RealLimitKey(const Json& amounts, const Json& enforced) {
  if (At(amounts, "applied").is_number()) return "applied";
  return enforced == Json(false) ? "owner_limit" : "limit";
}

std::string WarningsText(const Json& page) {
  std::string out;
  for (const Json& warning : ItemsAt(page, "warnings")) {
    if (warning.is_string())
      out += WrappedLine(StrCat("warning: ", Printable(warning.get<std::string>())), "");
  }
  return out;
}

std::string MonthlyMoney(const Json& amount, const Json& currency) {
  if (!amount.is_number() || !currency.is_string()) return "";
  return fmt::format("{:.2f} {} a month", amount.get<double>(), Printable(currency.get<std::string>()));
}

std::string KindWords(const std::string& kind) {
  std::string out = kind;
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

}  // namespace taut::tools
