#include "server/config/settings_file.h"

#include <string_view>
#include <vector>

#include "common/base/strings.h"
#include "common/settings/yaml_walk.h"
#include "server/config/walk_settings.h"

namespace taut::server {

absl::Status WalkVerticalSettings(const YAML::Node& map, std::string_view name,
                                  brain::VerticalSettings& settings, SettingNotices& notices) {
  return ForEachEntry(map, name, "the settings", [&](const YAML::Node& group, const YAML::Node& values) {
    const auto set = [&](const YAML::Node& at, const std::string& key, const YAML::Node& value) {
      const absl::StatusOr<std::vector<std::string>> texts = TextsOf(value, name, key);
      if (!texts.ok()) return texts.status();
      SettingNotices found;
      const absl::Status s = brain::SetVerticalSetting(key, ItemsText(*texts), settings, &found);
      NoticesAt(name, at, found, notices);
      return s.ok() ? s : ErrorAt(name, at, Message(s));
    };
    if (!values.IsMap()) return set(group, group.Scalar(), values);
    return ForEachEntry(values, name, group.Scalar(), [&](const YAML::Node& key, const YAML::Node& value) {
      return set(key, StrCat(group.Scalar(), ".", key.Scalar()), value);
    });
  });
}

absl::StatusOr<std::string> CompatibilityOf(const YAML::Node& root, std::string_view name) {
  if (!root.IsMap()) return std::string();
  const YAML::Node version = root[std::string(kCompatibilityKey)];
  return version.IsDefined() ? TextOf(version, name, kCompatibilityKey) : std::string();
}

absl::Status RestoreVerticalDefaults(std::string_view version, brain::VerticalSettings& settings,
                                     std::span<const ChangedDefault> changes) {
  return RestoreDefaults(version, kScopeRecommenders, changes,
                         [&settings](std::string_view key, std::string_view value) {
                           return brain::SetVerticalSetting(key, value, settings);
                         });
}

absl::Status ParseSettings(std::string_view yaml, std::string_view name, SettingsFile& file,
                           std::span<const ChangedDefault> changes) {
  SettingsFile result = file;
  const absl::Status s = WalkYaml(yaml, name, [&](const YAML::Node& root) {
    const absl::StatusOr<std::string> version = CompatibilityOf(root, name);
    if (!version.ok()) return version.status();
    const absl::Status restored = RestoreVerticalDefaults(*version, result.settings, changes);
    if (!restored.ok())
      return ErrorAt(name, root[std::string(kCompatibilityKey)],
                     StrCat(kCompatibilityKey, ": ", Message(restored)));
    YAML::Node others = root;
    if (root.IsMap()) others.remove(std::string(kCompatibilityKey));
    return WalkVerticalSettings(others, name, result.settings, result.notices);
  });
  if (s.ok()) file = std::move(result);
  return s;
}

absl::StatusOr<SettingsFile> ReadSettingsFile(const std::string& path, brain::VerticalSettings defaults) {
  const absl::StatusOr<std::string> text = ReadYamlFile(path, "settings file");
  if (!text.ok()) return text.status();
  SettingsFile file{std::move(defaults), {}};
  if (absl::Status s = ParseSettings(*text, path, file); !s.ok()) return s;
  return file;
}

std::string WriteSettings(const brain::VerticalSettings& settings, bool only_changed) {
  const brain::VerticalSettings defaults;
  std::string out;
  std::string_view group;
  for (const brain::VerticalSetting& s : brain::VerticalSettingRows()) {
    const std::string value = GetSetting(s, settings);
    if (only_changed && value == GetSetting(s, defaults)) continue;
    const size_t dot = s.key.find('.');
    if (s.key.substr(0, dot) != group) {
      group = s.key.substr(0, dot);
      StrAppend(&out, group, ":\n");
    }
    StrAppend(&out, "  ", s.key.substr(dot + 1), ": ", value, "  # ", s.help, "\n");
  }
  return out;
}

}  // namespace taut::server
