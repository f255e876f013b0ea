// Walks YAML so that errors contain file and line. For the .cc files of rooms that read settings; the public
// headers of these rooms do not expose YAML. In all functions `name` is the file's name, for errors.
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

// Returns the file's bytes. NotFound if the file cannot be read, InvalidArgument above kMaxYamlBytes. `what`
// names the kind of the file in errors.
absl::StatusOr<std::string> ReadYamlFile(const std::string& path, std::string_view what);
// Parses `yaml` and passes its root to `walk`; the root of an empty text is null. Rejects a second document,
// invalid UTF-8, NUL, nesting above 64 and more than a million nodes. Exceptions of the parser, also during
// the walk, become InvalidArgument "name:line: ...".
absl::Status WalkYaml(std::string_view yaml, std::string_view name,
                      absl::FunctionRef<absl::Status(const YAML::Node&)> walk);
// Calls WalkYaml, and returns InvalidArgument "name: there are no `what`" for an empty file.
absl::Status WalkFilledYaml(std::string_view yaml, std::string_view name, std::string_view what,
                            absl::FunctionRef<absl::Status(const YAML::Node&)> walk);

// Returns InvalidArgument "name:line: what" with the line of `node`.
absl::Status ErrorAt(std::string_view name, const YAML::Node& node, std::string_view what);

// Appends `found` to `all`, each notice as "name:line: notice".
void NoticesAt(std::string_view name, const YAML::Node& node, const SettingNotices& found,
               SettingNotices& all);

// Calls `fn` for each entry of a map, in order; null counts as an empty map. Other nodes, a key that is not
// text and a repeated key are errors. Continues after errors and returns all messages, one per line, up to
// 50.
absl::Status ForEachEntry(const YAML::Node& map, std::string_view name, std::string_view what,
                          absl::FunctionRef<absl::Status(const YAML::Node& key, const YAML::Node& value)> fn);
// Calls `fn` for each item of a list, in order; null counts as an empty list. Other nodes are errors. Continues
// after errors and returns up to 50 messages, one per line.
absl::Status ForEachItem(const YAML::Node& list, std::string_view name, std::string_view what,
                         absl::FunctionRef<absl::Status(const YAML::Node& item)> fn);
// Calls ForEachItem, and returns an error for each item that is not a map.
absl::Status ForEachMap(const YAML::Node& list, std::string_view name, std::string_view what,
                        absl::FunctionRef<absl::Status(const YAML::Node& item)> fn);
// Returns InvalidArgument with the nearest of the known keys, if a known key is similar. REQUIRES: known is
// not empty.
absl::Status UnknownKeyAt(std::string_view name, const YAML::Node& at, std::string_view key,
                          std::span<const std::string_view> known);
// Returns one text for a scalar, one text per item for a list of scalars, and no text for null.
absl::StatusOr<std::vector<std::string>> TextsOf(const YAML::Node& node, std::string_view name,
                                                 std::string_view key);
// Walks nested maps. `keys` contains their keys in dotted form ("a.b"). Calls `set` with the dotted key of each
// entry that is not a section, whether or not the key is known.
absl::Status WalkSections(
    const YAML::Node& map, std::string_view name, std::span<const std::string_view> keys,
    absl::FunctionRef<absl::Status(const YAML::Node& at, const std::string& key, const YAML::Node& value)>
        set);
// Returns the text of a scalar; "" for null.
absl::StatusOr<std::string> TextOf(const YAML::Node& node, std::string_view name, std::string_view key);

// One entry of a file: its key and its value.
struct EntryAt {
  std::string_view file;
  const YAML::Node& at;
  const std::string& key;
  const YAML::Node& value;
};
// Sets a row's value from an entry with the row's current or former key. Returns InvalidArgument "file:line: ..."
// for an invalid value.
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

// Moves the value into `out`, or returns the error.
template <typename T>
absl::Status Take(absl::StatusOr<T> value, T& out) {
  if (!value.ok()) return value.status();
  out = *std::move(value);
  return absl::OkStatus();
}

}  // namespace taut
