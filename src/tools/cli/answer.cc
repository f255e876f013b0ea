#include "tools/cli/answer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/strings.h"
#include "fmt/format.h"
#include "tools/cli/cli.h"
#include "tools/cli/terminal.h"

namespace taut::tools {

const Json& At(const Json& object, std::string_view key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto it = object.find(key);
  return it == object.end() ? kNull : *it;
}

const Json& ItemsAt(const Json& object, std::string_view key) {
  static const Json kNone = Json::array();
  const Json& value = At(object, key);
  return value.is_array() ? value : kNone;
}

std::string TextAt(const Json& object, std::string_view key) {
  const Json& value = At(object, key);
  return value.is_string() ? Printable(value.get<std::string>()) : "";
}

std::string PercentText(double share) {
  const double percent = 100 * share;
  return std::abs(percent) >= 9.95 ? fmt::format("{:.0f} %", percent) : fmt::format("{:.2g} %", percent);
}

int64_t Whole(double n) { return std::isnan(n) ? 0 : static_cast<int64_t>(std::clamp(n, -9e18, 9e18)); }

int64_t IntAt(const Json& object, std::string_view key) {
  const Json& value = At(object, key);
  if (value.is_number_float()) return Whole(value.get<double>());
  return value.is_number() ? value.get<int64_t>() : 0;
}

std::string Formatted(OutputForm form, const Json& answer) {
  return form == OutputForm::kYaml  ? YamlText(answer)
         : form == OutputForm::kCsv ? CsvText(answer)
                                    : JsonText(answer);
}

std::string FormattedText(OutputForm form, std::string json) {
  return form == OutputForm::kJson ? std::move(json) : Formatted(form, Json::parse(json));
}

void Show(OutputForm form, const Json& answer, absl::FunctionRef<std::string()> text) {
  Print(form == OutputForm::kTable ? text() : Formatted(form, answer));
}

int Finish(const absl::Status& status) {
  if (status.ok()) return kExitOk;
  if (absl::IsCancelled(status)) return kExitPartial;
  PrintError(Printable(std::string(Message(status))));
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitFailed;
}

}  // namespace taut::tools
