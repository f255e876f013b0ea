#include "common/base/log_line.h"

#include <algorithm>
#include <cmath>

#include "common/base/json_writer.h"
#include "common/base/strings.h"
#include "fmt/format.h"

namespace taut {
namespace {

constexpr int kDigits = 10;  // significant digits; enough for a memory size that is exact to the byte

bool IsPlain(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < '\x7f' && c != '"' && c != '=' && c != '\\';
  });
}

std::string NumberText(double value) {
  if (std::isfinite(value) && value == std::trunc(value) && std::abs(value) < 9e15) {
    return StrCat(static_cast<int64_t>(value));
  }
  return fmt::format("{:.6g}", value);
}

struct AsText {
  std::string operator()(std::monostate) const { return "none"; }
  std::string operator()(std::string_view v) const { return IsPlain(v) ? std::string(v) : JsonString(v); }
  std::string operator()(double v) const { return NumberText(v); }
  std::string operator()(int64_t v) const { return StrCat(v); }
  std::string operator()(uint64_t v) const { return StrCat(v); }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
};

struct AsJson {
  JsonWriter& out;
  void operator()(std::monostate) const { out.Null(); }
  void operator()(std::string_view v) const { out.String(v); }
  void operator()(double v) const {
    if (std::isfinite(v) && v == std::trunc(v) && std::abs(v) < 9e15) {
      out.Int(static_cast<int64_t>(v));
    } else {
      out.Number(v, kDigits);
    }
  }
  void operator()(int64_t v) const { out.Int(v); }
  void operator()(uint64_t v) const { out.Int(static_cast<int64_t>(std::min<uint64_t>(v, INT64_MAX))); }
  void operator()(bool v) const { out.Bool(v); }
};

}  // namespace

std::string LogText(std::string_view action, std::span<const LogField> fields) {
  std::string out(action);
  for (const LogField& f : fields) StrAppend(&out, " ", f.key, "=", std::visit(AsText{}, f.value));
  return out;
}

std::string LogJson(std::string_view time, std::string_view level, std::string_view action,
                    std::span<const LogField> fields) {
  JsonWriter json;
  json.BeginObject();
  json.Field("time", time);
  json.Field("level", level);
  if (!action.empty()) json.Field("action", action);
  for (const LogField& f : fields) {
    json.Key(f.key);
    std::visit(AsJson{json}, f.value);
  }
  json.EndObject();
  return json.Take();
}

}  // namespace taut
