// Formats settings as text for users.
#include "tools/cli/settings_text.h"

#include <algorithm>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "tools/cli/answer.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

std::string SettingText(const Json& object, const char* key) {
  const Json& value = At(object, key);
  if (value.is_string()) return Printable(value.get<std::string>());
  return value.is_null() ? kNothing : value.dump();
}
double NumberOfJobs(const Json& object, const char* key) {
  const Json& value = At(object, key);
  return value.is_number() ? value.get<double>() : 0;
}
std::string CountOfJobs(const Json& object, const char* key) {
  return At(object, key).is_number() ? FormatCount(static_cast<uint64_t>(NumberOfJobs(object, key)))
                                     : kNothing;
}

}  // namespace

std::string ManySettingsText(const Json& done) {
  TextTable table({"job", "setting", "now", "then"});
  for (const Json& c : At(done, "changes")) {
    const std::string after = SettingText(c, "after");
    table.Add({SettingText(c, "job"), SettingText(c, "key"), SettingText(c, "before"),
               after.empty() ? "(by the rules)" : after});
  }
  const bool any = At(done, "changes").is_array() && !At(done, "changes").empty();
  std::string out = any ? table.Render() : "";
  if (NumberOfJobs(done, "left_out") > 0)
    StrAppend(&out, "... and ", CountOfJobs(done, "left_out"), " more\n");
  const bool dry = At(done, "dry_run") == Json(true);
  StrAppend(&out, CountOfJobs(done, "changed"), " of ", CountOfJobs(done, "matched"), " matching jobs ",
            dry ? "would be changed" : "were changed", dry && any ? "; add --yes to apply" : "", "\n");
  return out;
}

std::string SettingsText(const Json& settings, const std::vector<std::string>& keys) {
  TextTable table({"setting", "value", "from"});
  for (const Json& v : At(settings, "values")) {
    const std::string key = SettingText(v, "key");
    if (!keys.empty() && std::find(keys.begin(), keys.end(), key) == keys.end()) continue;
    const std::string value = SettingText(v, "value");
    table.Add({key, value.empty() ? "(none)" : value, SettingText(v, "source")});
  }
  return table.Render();
}

}  // namespace taut::tools
