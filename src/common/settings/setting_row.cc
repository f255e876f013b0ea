#include "common/settings/setting_row.h"

#include "common/base/strings.h"

namespace taut {

std::vector<std::string> FromOldKey(const FieldSpec& spec, const OldKey& old,
                                    std::span<const std::string> values) {
  std::vector<std::string> out;
  for (const std::string& value : values) {
    std::vector<std::string> parts;
    for (const std::string& item : ShownItems(StripSpace(value))) {
      for (const std::string_view part : Split(item, ',')) {
        const std::optional<double> number = ParseDouble(StripSpace(part));
        parts.push_back(number.has_value() ? QuantityText(spec.unit, *number * old.unit) : std::string(part));
      }
    }
    out.insert(out.end(), parts.begin(), parts.end());
  }
  return out;
}

std::string OldKeyNotice(const FieldSpec& spec, const OldKey& old, std::span<const std::string> values) {
  return StrCat(old.key, " is now ", spec.key, "; write ", spec.key, ": ", ItemsText(values));
}

}  // namespace taut
