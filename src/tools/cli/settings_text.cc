// Formats settings as text for users.
#include "tools/cli/settings_text.h"

#include <algorithm>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "tools/cli/answer.h"
#include "tools/cli/answer_fields.h"
#include "tools/cli/terminal.h"

namespace taut::tools {

std::string ManySettingsText(const Json& done) {
  const auto table_of = [&](size_t width) {
    TextTable table({"job", "setting", "now", "then"});
    for (const Json& c : At(done, "changes")) {
      const std::string after = FieldText(c, "after");
      table.Add({ShortenedName(FieldText(c, "job"), width), FieldText(c, "key"),
                 Shortened(FieldText(c, "before"), width),
                 after.empty() ? "(by the rules)" : Shortened(after, width)});
    }
    return table.Render();
  };
  const bool any = At(done, "changes").is_array() && !At(done, "changes").empty();
  std::string out = any ? FittedTable(60, 10, table_of) : "";
  if (FieldNumber(done, "left_out") > 0.0)
    StrAppend(&out, "... and ", FieldCount(done, "left_out"), " more\n");
  const bool dry = At(done, "dry_run") == Json(true);
  StrAppend(&out, FieldCount(done, "changed"), " of ", FieldCount(done, "matched"), " matching jobs ",
            dry ? "would be changed" : "were changed", dry && any ? "; add --yes to apply" : "", "\n");
  return out;
}

std::string SettingsText(const Json& settings, const std::vector<std::string>& keys) {
  const auto table_of = [&](size_t width) {
    TextTable table({"setting", "value", "from"});
    for (const Json& v : At(settings, "values")) {
      const std::string key = FieldText(v, "key");
      if (!keys.empty() && std::find(keys.begin(), keys.end(), key) == keys.end()) continue;
      const std::string value = FieldText(v, "value");
      table.Add({key, value.empty() ? "(none)" : Shortened(value, width),
                 Shortened(FieldText(v, "source"), width)});
    }
    return table.Render();
  };
  return FittedTable(60, 10, table_of);
}

}  // namespace taut::tools
