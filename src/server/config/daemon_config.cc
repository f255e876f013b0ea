// Parses tautd's configuration file: single values by a table, lists of rules by code.
#include "server/config/daemon_config.h"

#include <set>

#include "common/base/strings.h"
#include "common/settings/file_text.h"
#include "common/settings/yaml_walk.h"
#include "server/config/daemon_section.h"
#include "server/config/settings_file.h"
#include "server/config/walk_settings.h"

namespace taut::server {
namespace {

// Keys whose values this file parses without the table.
constexpr std::string_view kDefaults = "defaults", kRules = "rules", kRecommenders = "recommenders",
                           kMapping = "ingest.mapping";

constexpr std::string_view kOldStartupGrace = "kubernetes.startup_grace";

class DaemonReader {
 public:
  DaemonReader(std::string_view name, std::span<const ChangedDefault> changes, DaemonConfig& config)
      : name_(name), changes_(changes), config_(config) {}

  absl::Status Read(const YAML::Node& root) {
    // Signals are collected first, because an expression may name the signal of a mapping rule that follows the
    // expression in the file.
    if (absl::Status s = FindSignals(root); !s.ok()) return s;
    defaults_.replicas.signals = signals_;
    if (absl::Status s = RestoreOlderDefaults(root); !s.ok()) return s;
    absl::Status read = WalkSections(root, name_, KeysOf(DaemonSettingsTable()),
                                     [this](const YAML::Node& at, const std::string& key,
                                            const YAML::Node& value) { return ReadEntry(at, key, value); });
    if (!read.ok()) return read;
    absl::StatusOr<brain::PolicyRules> rules = brain::PolicyRules::Compile(std::move(rules_), defaults_);
    // Only errors that concern several lines remain, so the error contains no line number.
    if (!rules.ok()) return absl::InvalidArgumentError(StrCat(name_, ": ", Message(rules.status())));
    config_.rules = *std::move(rules);
    for (const DaemonSection& section : DaemonSections()) {
      const absl::Status s = section.check == nullptr ? absl::OkStatus() : section.check(config_);
      if (!s.ok()) return absl::InvalidArgumentError(StrCat(name_, ": ", Message(s)));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status RestoreOlderDefaults(const YAML::Node& root);
  absl::Status ReadEntry(const YAML::Node& at, const std::string& key, const YAML::Node& value);
  absl::Status UnknownKey(const YAML::Node& at, std::string_view key) const;
  absl::Status ReadJobSettings(const YAML::Node& map, std::string_view what, brain::JobPolicy& policy,
                               std::vector<brain::KeyValue>* pairs);
  absl::Status FindSignals(const YAML::Node& root);
  absl::Status ReadRules(const YAML::Node& list);
  absl::Status ReadRule(const YAML::Node& node);
  absl::Status ReadMapping(const YAML::Node& list);
  absl::StatusOr<MappingRule> ReadMappingRule(const YAML::Node& node);
  absl::StatusOr<LabelMatch> ReadLabelMatch(const YAML::Node& key, const YAML::Node& value);
  absl::Status Error(const YAML::Node& at, std::string_view what) const { return ErrorAt(name_, at, what); }
  absl::Status NoSuchKey(const YAML::Node& at, std::span<const std::string_view> keys) const {
    return UnknownKeyAt(name_, at, at.Scalar(), keys);
  }

  std::string_view name_;
  std::span<const ChangedDefault> changes_;
  DaemonConfig& config_;
  brain::JobPolicy defaults_;
  std::vector<brain::JobRule> rules_;
  std::vector<std::string> signals_;  // names of signals that the mapping rules define
};

absl::Status DaemonReader::RestoreOlderDefaults(const YAML::Node& root) {
  const absl::StatusOr<std::string> version = CompatibilityOf(root, name_);
  if (!version.ok()) return version.status();
  const auto set_plain = [this](std::string_view key, std::string_view value) {
    const DaemonSetting* row = FindSetting(DaemonSettingsTable(), key);
    if (row == nullptr) return absl::InternalError(StrCat("no setting ", key));
    return SetSetting(*row, key, value, config_);
  };
  const auto set_of_jobs = [this](std::string_view key, std::string_view value) {
    return brain::SetJobSetting(key, value, defaults_);
  };
  for (const absl::Status& s : {RestoreDefaults(*version, kScopeDaemon, changes_, set_plain),
                                RestoreDefaults(*version, kScopeJobs, changes_, set_of_jobs),
                                RestoreVerticalDefaults(*version, config_.recommenders, changes_)}) {
    if (!s.ok())
      return Error(root[std::string(kCompatibilityKey)], StrCat(kCompatibilityKey, ": ", Message(s)));
  }
  return absl::OkStatus();
}

absl::Status DaemonReader::ReadEntry(const YAML::Node& at, const std::string& key, const YAML::Node& value) {
  if (key == kDefaults) return ReadJobSettings(value, key, defaults_, nullptr);
  if (key == kRules) return ReadRules(value);
  if (key == kMapping) return ReadMapping(value);
  if (key == kRecommenders) return WalkVerticalSettings(value, name_, config_.recommenders, config_.notices);
  const DaemonSetting* row = FindSetting(DaemonSettingsTable(), key);
  if (row == nullptr) return UnknownKey(at, key);
  return SetSettingAt(*row, {name_, at, key, value}, config_, config_.notices);
}

absl::Status DaemonReader::UnknownKey(const YAML::Node& at, std::string_view key) const {
  if (key == kOldStartupGrace) {
    return Error(
        at, StrCat(key, " is now the job setting startup_grace: set it under ", kDefaults, " or in a rule"));
  }
  std::set<std::string_view> keys = {kDefaults, kRules, kMapping, kRecommenders};
  for (const DaemonSetting& s : DaemonSettingsTable()) {
    for (size_t dot = s.key.find('.'); dot != std::string_view::npos; dot = s.key.find('.', dot + 1)) {
      keys.insert(s.key.substr(0, dot));
    }
    keys.insert(s.key);
  }
  const std::vector<std::string_view> all(keys.begin(), keys.end());
  return UnknownKeyAt(name_, at, key, all);
}

// Accepts "memory.upper: 4GiB", and "memory:" with "upper: 4GiB" below "memory:".
absl::Status DaemonReader::ReadJobSettings(const YAML::Node& map, std::string_view what,
                                           brain::JobPolicy& policy, std::vector<brain::KeyValue>* pairs) {
  const auto set = [&](const YAML::Node& at, const std::string& key, const YAML::Node& value) {
    const absl::StatusOr<std::string> text = TextOf(value, name_, key);
    if (!text.ok()) return text.status();
    const absl::Status s = brain::SetJobSetting(key, *text, policy);
    if (!s.ok()) return Error(at, Message(s));
    brain::KeyValue now = brain::JobSettingNow(key, *text);
    if (now.first != key) {
      NoticesAt(name_, at, {StrCat(key, " is now ", now.first, "; write ", now.first, ": ", now.second)},
                config_.notices);
    }
    if (pairs != nullptr) pairs->push_back(std::move(now));
    return absl::OkStatus();
  };
  absl::Status s = ForEachEntry(map, name_, what, [&](const YAML::Node& key, const YAML::Node& value) {
    if (!value.IsMap()) return set(key, key.Scalar(), value);
    return ForEachEntry(value, name_, key.Scalar(), [&](const YAML::Node& inner, const YAML::Node& text) {
      return set(inner, StrCat(key.Scalar(), ".", inner.Scalar()), text);
    });
  });
  if (!s.ok()) return s;
  s = brain::CheckJobPolicy(policy);
  return s.ok() ? s : Error(map, StrCat(what, ": ", Message(s)));
}

absl::Status DaemonReader::ReadRules(const YAML::Node& list) {
  return ForEachItem(list, name_, kRules, [this](const YAML::Node& item) { return ReadRule(item); });
}

absl::Status DaemonReader::ReadRule(const YAML::Node& node) {
  static constexpr std::string_view kKeys[] = {"name", "match", "set", "cap"};
  brain::JobRule rule;
  if (!node.IsMap()) return Error(node, "expected a rule with name, match, and set or cap");
  absl::Status s = ForEachEntry(node, name_, "a rule", [&](const YAML::Node& key, const YAML::Node& value) {
    if (key.Scalar() == "name") {
      return Take(TextOf(value, name_, "name"), rule.name);
    }
    if (key.Scalar() == "set") {
      brain::JobPolicy policy;
      policy.replicas.signals = signals_;
      return ReadJobSettings(value, "set", policy, &rule.set);
    }
    if (key.Scalar() == "cap") {
      brain::JobPolicy policy;
      return ReadJobSettings(value, "cap", policy, &rule.cap);
    }
    if (key.Scalar() != "match") return NoSuchKey(key, kKeys);
    return ForEachEntry(value, name_, "match", [&](const YAML::Node& label, const YAML::Node& pattern) {
      const absl::StatusOr<std::string> text = TextOf(pattern, name_, label.Scalar());
      if (!text.ok()) return text.status();
      if (label.Scalar().empty()) return Error(label, "match: a label without a name");
      rule.match.emplace_back(label.Scalar(), *text);
      return absl::OkStatus();
    });
  });
  if (s.ok() && rule.set.empty() && rule.cap.empty()) return Error(node, "a rule without set or cap");
  if (s.ok()) rules_.push_back(std::move(rule));
  return s;
}

absl::Status DaemonReader::FindSignals(const YAML::Node& root) {
  const auto look = [this](const YAML::Node&, const std::string& key,
                           const YAML::Node& value) -> absl::Status {
    if (key != kMapping || !value.IsSequence()) return absl::OkStatus();
    for (const YAML::Node& rule : value) {
      if (!rule.IsMap() || !rule["signal"].IsDefined() || !rule["signal"].IsScalar()) continue;
      signals_.push_back(rule["signal"].Scalar());
    }
    return absl::OkStatus();
  };
  return WalkSections(root, name_, KeysOf(DaemonSettingsTable()), look);
}

absl::Status DaemonReader::ReadMapping(const YAML::Node& list) {
  return ForEachItem(list, name_, kMapping, [this](const YAML::Node& item) {
    absl::StatusOr<MappingRule> rule = ReadMappingRule(item);
    if (!rule.ok()) return rule.status();
    if (absl::Status s = MappingRules::Compile({*rule}).status(); !s.ok()) return Error(item, Message(s));
    config_.ingest.mapping.push_back(*std::move(rule));
    return absl::OkStatus();
  });
}

absl::StatusOr<LabelMatch> DaemonReader::ReadLabelMatch(const YAML::Node& key, const YAML::Node& value) {
  const absl::StatusOr<std::string> text = TextOf(value, name_, key.Scalar());
  if (!text.ok()) return text.status();
  const bool negate = !text->empty() && text->front() == '!';
  return LabelMatch{key.Scalar(), negate ? text->substr(1) : *text, negate};
}

absl::StatusOr<MappingRule> DaemonReader::ReadMappingRule(const YAML::Node& node) {
  static constexpr std::string_view kKeys[] = {"name", "metric", "match", "kind",   "job",
                                               "task", "part",   "scale", "signal", "whole_machine"};
  MappingRule rule;
  if (!node.IsMap()) return Error(node, "expected a mapping rule with name, metric, kind, job and task");
  const auto read = [&](const YAML::Node& at, const YAML::Node& value) -> absl::Status {
    const std::string& key = at.Scalar();
    if (key == "match") {
      return ForEachEntry(value, name_, key, [&](const YAML::Node& label, const YAML::Node& pattern) {
        absl::StatusOr<LabelMatch> match = ReadLabelMatch(label, pattern);
        if (match.ok()) rule.match.push_back(*std::move(match));
        return match.status();
      });
    }
    const absl::StatusOr<std::string> text = TextOf(value, name_, key);
    if (!text.ok()) return text.status();
    if (key == "kind") {
      const absl::StatusOr<SeriesKind> kind = ParseSeriesKind(*text);
      if (!kind.ok()) return Error(at, Message(kind.status()));
      rule.kind = *kind;
    } else if (key == "scale") {
      const std::optional<double> scale = ParseDouble(*text);
      if (!scale.has_value()) return Error(at, StrCat("scale: \"", *text, "\" is not a number"));
      rule.scale = *scale;
    } else if (key == "whole_machine") {
      if (*text != "true" && *text != "false") return Error(at, "whole_machine: expected true or false");
      rule.whole_machine = *text == "true";
    } else if (key == "name" || key == "metric" || key == "job" || key == "task" || key == "part" ||
               key == "signal") {
      std::string& target = key == "name"     ? rule.name
                            : key == "metric" ? rule.metric
                            : key == "job"    ? rule.job
                            : key == "task"   ? rule.task
                            : key == "part"   ? rule.part
                                              : rule.signal;
      target = *text;
    } else {
      return NoSuchKey(at, kKeys);
    }
    return absl::OkStatus();
  };
  if (absl::Status s = ForEachEntry(node, name_, "a mapping rule", read); !s.ok()) return s;
  return rule;
}

}  // namespace

absl::StatusOr<DaemonConfig> ParseDaemonConfig(std::string_view yaml, std::string_view name,
                                               std::span<const ChangedDefault> changes) {
  DaemonConfig config;
  const absl::Status s = WalkYaml(
      yaml, name, [&](const YAML::Node& root) { return DaemonReader(name, changes, config).Read(root); });
  if (!s.ok()) return s;
  return config;
}

absl::StatusOr<DaemonConfig> ReadDaemonConfig(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadYamlFile(path, "configuration");
  if (!text.ok()) return text.status();
  return ParseDaemonConfig(*text, path);
}

absl::StatusOr<std::vector<MappingRule>> ReadMappingRules(const std::string& path) {
  if (path.empty()) return MappingRulesOf(IngestConfig());
  absl::StatusOr<DaemonConfig> file = ReadDaemonConfig(path);
  if (!file.ok()) return file.status();
  return MappingRulesOf(file->ingest);
}

}  // namespace taut::server
