#include "common/settings/yaml_walk.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "common/base/did_you_mean.h"
#include "common/base/short_text.h"
#include "common/base/strings.h"
#include "common/base/utf8.h"
#include "common/settings/file_text.h"
#include "yaml-cpp/eventhandler.h"

namespace taut {
namespace {

using SetEntry =
    absl::FunctionRef<absl::Status(const YAML::Node& at, const std::string& key, const YAML::Node& value)>;

bool IsSection(std::string_view key, std::span<const std::string_view> keys) {
  return std::ranges::any_of(keys, [&](std::string_view k) {
    return k.size() > key.size() && k.starts_with(key) && k[key.size()] == '.';
  });
}

// Collects errors, one per line.
class AllErrors {
 public:
  void Add(const absl::Status& status) {
    if (status.ok()) return;
    if (!status_.ok() && ++more_ >= kMostErrors) return;
    status_ =
        status_.ok() ? status : absl::Status(status_.code(), StrCat(Message(status_), "\n", Message(status)));
  }
  absl::Status status() const { return status_; }

 private:
  static constexpr int kMostErrors = 50;  // limit for one map or list
  absl::Status status_;
  int more_ = 0;
};

absl::Status WalkSection(const YAML::Node& map, std::string_view name, std::string_view section,
                         std::span<const std::string_view> keys, SetEntry set) {
  const std::string_view what = section.empty() ? name : section;
  return ForEachEntry(map, name, what, [&](const YAML::Node& at, const YAML::Node& value) {
    const std::string key = section.empty() ? at.Scalar() : StrCat(section, ".", at.Scalar());
    return IsSection(key, keys) ? WalkSection(value, name, key, keys, set) : set(at, key, value);
  });
}

// Returns true for UTF-8 without NUL, which would end the text in C interfaces. Other control characters are
// escaped when they are printed.
bool IsText(std::string_view bytes) {
  while (!bytes.empty()) {
    const Utf8Character c = DecodeUtf8(bytes);
    if (c.bytes == 0 || c.code == 0) return false;
    bytes.remove_prefix(c.bytes);
  }
  return true;
}

// Checks all scalars, since names and values are printed, sent and compared as text.
absl::Status CheckText(const YAML::Node& node, std::string_view name, int depth, int& nodes) {
  constexpr int kDeepest = 64, kMost = 1'000'000;
  // A short text with aliases of aliases expands to more nodes than it has bytes.
  if (++nodes > kMost) return ErrorAt(name, node, StrCat("more than ", kMost, " values"));
  if (depth > kDeepest) return ErrorAt(name, node, StrCat("nested deeper than ", kDeepest));
  if (node.IsScalar()) {
    if (IsText(node.Scalar())) return absl::OkStatus();
    return ErrorAt(name, node,
                   StrCat("\"", ShortText(node.Scalar()), "\" is not text: expected UTF-8 without NUL"));
  }
  for (const auto& entry : node) {
    if (node.IsSequence()) {
      if (absl::Status s = CheckText(entry, name, depth + 1, nodes); !s.ok()) return s;
    } else {
      if (absl::Status s = CheckText(entry.first, name, depth + 1, nodes); !s.ok()) return s;
      if (absl::Status s = CheckText(entry.second, name, depth + 1, nodes); !s.ok()) return s;
    }
  }
  return absl::OkStatus();
}

// Records whether a document has any content.
class AnyContent final : public YAML::EventHandler {
 public:
  std::optional<YAML::Mark> first() const { return first_; }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { Note(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& /*value*/) override {
    Note(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {
    Note(mark);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    Note(mark);
  }
  void OnMapEnd() override {}

 private:
  void Note(const YAML::Mark& mark) {
    if (!first_.has_value()) first_ = mark;
  }
  std::optional<YAML::Mark> first_;
};

// Returns an error if a document after the first document has content.
absl::Status CheckIsOneDocument(const std::string& yaml, std::string_view name) {
  std::istringstream in(yaml);
  YAML::Parser parser(in);
  AnyContent first, others;
  if (!parser.HandleNextDocument(first)) return absl::OkStatus();
  // yaml-cpp 0.7 does not consume a stray comma and returns empty documents forever: bound the loop by the text's
  // length.
  for (size_t i = 0; parser.HandleNextDocument(others); ++i) {
    if (i > yaml.size()) return absl::InvalidArgumentError(StrCat(name, ": not YAML: a stray comma"));
    if (others.first().has_value())
      return absl::InvalidArgumentError(
          StrCat(name, ":", others.first()->line + 1, ": a second YAML document (after ---): expected one"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadYamlFile(const std::string& path, std::string_view what) {
  std::optional<std::string> text = ReadFileText(path, kMaxYamlBytes);
  if (!text.has_value()) return absl::NotFoundError(StrCat("cannot read the ", what, " ", path));
  if (text->size() > kMaxYamlBytes) {
    return absl::InvalidArgumentError(StrCat(path, ": larger than 1 MiB; is this the ", what, "?"));
  }
  return *std::move(text);
}

absl::Status WalkYaml(std::string_view yaml, std::string_view name,
                      absl::FunctionRef<absl::Status(const YAML::Node&)> walk) {
  if (yaml.size() > kMaxYamlBytes) return absl::InvalidArgumentError(StrCat(name, ": larger than 1 MiB"));
  try {
    const std::string text(yaml);
    if (absl::Status s = CheckIsOneDocument(text, name); !s.ok()) return s;
    const YAML::Node root = YAML::Load(text);
    int nodes = 0;
    if (absl::Status s = CheckText(root, name, 0, nodes); !s.ok()) return s;
    return walk(root);
  } catch (const YAML::Exception& e) {
    return absl::InvalidArgumentError(StrCat(name, ":", e.mark.line + 1, ": ", e.msg));
  } catch (const std::exception& e) {
    return absl::InvalidArgumentError(StrCat(name, ": not YAML: ", e.what()));
  }
}

absl::Status WalkFilledYaml(std::string_view yaml, std::string_view name, std::string_view what,
                            absl::FunctionRef<absl::Status(const YAML::Node&)> walk) {
  return WalkYaml(yaml, name, [&](const YAML::Node& root) {
    return root.IsNull() ? absl::InvalidArgumentError(StrCat(name, ": there are no ", what)) : walk(root);
  });
}

absl::Status ErrorAt(std::string_view name, const YAML::Node& node, std::string_view what) {
  return absl::InvalidArgumentError(StrCat(name, ":", node.Mark().line + 1, ": ", what));
}

void NoticesAt(std::string_view name, const YAML::Node& node, const SettingNotices& found,
               SettingNotices& all) {
  for (const std::string& notice : found)
    all.push_back(StrCat(name, ":", node.Mark().line + 1, ": ", notice));
}

absl::Status ForEachEntry(
    const YAML::Node& map, std::string_view name, std::string_view what,
    absl::FunctionRef<absl::Status(const YAML::Node& key, const YAML::Node& value)> fn) {
  if (map.IsNull()) return absl::OkStatus();
  if (!map.IsMap()) return ErrorAt(name, map, StrCat(what, " must be a mapping: lines of key: value"));
  std::set<std::string> seen;
  AllErrors errors;
  for (const auto& entry : map) {
    if (!entry.first.IsScalar()) {
      errors.Add(ErrorAt(name, entry.first, StrCat(what, ": a key that is not text")));
    } else if (!seen.insert(entry.first.Scalar()).second) {
      errors.Add(ErrorAt(name, entry.first, StrCat(what, " has \"", entry.first.Scalar(), "\" twice")));
    } else {
      errors.Add(fn(entry.first, entry.second));
    }
  }
  return errors.status();
}

absl::Status ForEachItem(const YAML::Node& list, std::string_view name, std::string_view what,
                         absl::FunctionRef<absl::Status(const YAML::Node& item)> fn) {
  if (list.IsNull()) return absl::OkStatus();
  if (!list.IsSequence())
    return ErrorAt(name, list, StrCat(what, " must be a list: lines that begin with -"));
  AllErrors errors;
  for (const YAML::Node& item : list) errors.Add(fn(item));
  return errors.status();
}

absl::Status ForEachMap(const YAML::Node& list, std::string_view name, std::string_view what,
                        absl::FunctionRef<absl::Status(const YAML::Node& item)> fn) {
  return ForEachItem(list, name, what, [&](const YAML::Node& item) {
    return item.IsMap() ? fn(item) : ErrorAt(name, item, StrCat(what, ": expected keys and values"));
  });
}

absl::Status WalkSections(const YAML::Node& map, std::string_view name,
                          std::span<const std::string_view> keys, SetEntry set) {
  return WalkSection(map, name, "", keys, set);
}

absl::Status UnknownKeyAt(std::string_view name, const YAML::Node& at, std::string_view key,
                          std::span<const std::string_view> known) {
  return ErrorAt(name, at, StrCat("unknown key \"", key, "\"", DidYouMean(key, known)));
}

absl::StatusOr<std::vector<std::string>> TextsOf(const YAML::Node& node, std::string_view name,
                                                 std::string_view key) {
  if (node.IsNull()) return std::vector<std::string>();
  if (node.IsScalar()) return std::vector<std::string>{node.Scalar()};
  const std::string wants = StrCat(key, " must be a value or a list of values");
  if (!node.IsSequence()) return ErrorAt(name, node, wants);
  std::vector<std::string> texts;
  for (const YAML::Node& item : node) {
    if (!item.IsScalar()) return ErrorAt(name, item, wants);
    texts.push_back(item.Scalar());
  }
  return texts;
}

absl::StatusOr<std::string> TextOf(const YAML::Node& node, std::string_view name, std::string_view key) {
  if (node.IsNull()) return std::string();
  if (!node.IsScalar()) return ErrorAt(name, node, StrCat(key, " must be one value"));
  return node.Scalar();
}

}  // namespace taut
