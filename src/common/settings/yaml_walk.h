// YAML with places: errors name the file and the line. For the .cc files of rooms that read settings; their
// public headers know no YAML.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/row_named.h"
#include "common/settings/setting_row.h"
#include "yaml-cpp/yaml.h"

namespace taut {

inline constexpr size_t kMaxYamlBytes = size_t{1} << 20;

// The whole file. NotFound, or InvalidArgument above kMaxYamlBytes; `what` says in errors what it is.
absl::StatusOr<std::string> ReadYamlFile(const std::string& path, std::string_view what);
// Loads `yaml` and walks its root; an empty text has a null root. Whatever the parser throws, also during the
// walk, becomes InvalidArgument "name:line: ...".
absl::Status WalkYaml(std::string_view yaml, std::string_view name,
                      absl::FunctionRef<absl::Status(const YAML::Node&)> walk);
// The same for a file that must have something in it: else InvalidArgument "name: there are no `what`".
absl::Status WalkFilledYaml(std::string_view yaml, std::string_view name, std::string_view what,
                            absl::FunctionRef<absl::Status(const YAML::Node&)> walk);

// InvalidArgument "name:line: what", the line being the node's.
absl::Status ErrorAt(std::string_view name, const YAML::Node& node, std::string_view what);

// Appends the notices of a node to those of its file, each as "name:line: notice".
void NoticesAt(std::string_view name, const YAML::Node& node, const SettingNotices& found,
               SettingNotices& all);

// The entries of a map in their order; null has none. Anything else, a key that is not text, or one that is
// there twice is an error. Of several entries with errors the status has all messages, a line each.
absl::Status ForEachEntry(const YAML::Node& map, std::string_view name, std::string_view what,
                          absl::FunctionRef<absl::Status(const YAML::Node& key, const YAML::Node& value)> fn);
// The items of a list in their order; null has none. Anything else is an error. Errors as of ForEachEntry.
absl::Status ForEachItem(const YAML::Node& list, std::string_view name, std::string_view what,
                         absl::FunctionRef<absl::Status(const YAML::Node& item)> fn);
// The same where each item is a map.
absl::Status ForEachMap(const YAML::Node& list, std::string_view name, std::string_view what,
                        absl::FunctionRef<absl::Status(const YAML::Node& item)> fn);
// InvalidArgument with the nearest of the known keys, if one is like it. REQUIRES: known is not empty.
absl::Status UnknownKeyAt(std::string_view name, const YAML::Node& at, std::string_view key,
                          std::span<const std::string_view> known);
// One text for a scalar, one for each item of a list of scalars, none for null.
absl::StatusOr<std::vector<std::string>> TextsOf(const YAML::Node& node, std::string_view name,
                                                 std::string_view key);
// A tree whose keys stand with dots in `keys`: `set` is called for each entry that is no section of them,
// with its whole key.
absl::Status WalkSections(
    const YAML::Node& map, std::string_view name, std::span<const std::string_view> keys,
    absl::FunctionRef<absl::Status(const YAML::Node& at, const std::string& key, const YAML::Node& value)>
        set);
// "" for null.
absl::StatusOr<std::string> TextOf(const YAML::Node& node, std::string_view name, std::string_view key);

// A key of a file and what stands under it.
struct EntryAt {
  std::string_view file;
  const YAML::Node& at;
  const std::string& key;
  const YAML::Node& value;
};
// Sets a row's value from an entry with its key or its old one. InvalidArgument "file:line: ...".
template <typename Owner>
absl::Status SetSettingAt(const SettingRow<Owner>& row, const EntryAt& entry, Owner& owner,
                          SettingNotices& notices) {
  const absl::StatusOr<std::vector<std::string>> texts = TextsOf(entry.value, entry.file, entry.key);
  if (!texts.ok()) return texts.status();
  SettingNotices found;
  const absl::Status set = SetSetting(row, entry.key, std::span<const std::string>(*texts), owner, &found);
  NoticesAt(entry.file, entry.at, found, notices);
  return set.ok() ? set : ErrorAt(entry.file, entry.at, Message(set));
}

// Puts a value where it belongs, or says why there is none.
template <typename T>
absl::Status Take(absl::StatusOr<T> value, T& out) {
  if (!value.ok()) return value.status();
  out = *std::move(value);
  return absl::OkStatus();
}

}  // namespace taut
