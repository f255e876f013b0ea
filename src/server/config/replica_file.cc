#include "server/config/replica_file.h"

#include <algorithm>

#include "brain/rollout/rules.h"
#include "common/base/strings.h"
#include "common/settings/yaml_walk.h"

namespace taut::server {
namespace {

constexpr std::string_view kReplicas = "replicas.";

std::vector<std::string_view> ReplicaKeys() {
  std::vector<std::string_view> keys;
  for (const brain::JobSetting& s : brain::JobSettingsTable()) {
    if (s.key.starts_with(kReplicas)) keys.push_back(s.key);
  }
  return keys;
}

}  // namespace

bool ReplicaFile::has(std::string_view key) const { return std::ranges::find(keys, key) != keys.end(); }

absl::StatusOr<ReplicaFile> ParseReplicaFile(std::string_view yaml, std::string_view name,
                                             const brain::JobPolicy& defaults) {
  ReplicaFile file{.policy = defaults, .keys = {}};
  const std::vector<std::string_view> known = ReplicaKeys();
  const auto set = [&](const YAML::Node& at, const std::string& key, const YAML::Node& value) {
    if (std::ranges::find(known, key) == known.end()) return UnknownKeyAt(name, at, key, known);
    const absl::StatusOr<std::string> text = TextOf(value, name, key);
    if (!text.ok()) return text.status();
    const absl::Status s = brain::SetJobSetting(key, *text, file.policy);
    if (!s.ok()) return ErrorAt(name, at, Message(s));
    file.keys.push_back(key);
    return absl::OkStatus();
  };
  const absl::Status s = WalkFilledYaml(
      yaml, name, "settings", [&](const YAML::Node& root) { return WalkSections(root, name, known, set); });
  if (!s.ok()) return s;
  return file;
}

absl::StatusOr<ReplicaFile> ReadReplicaFile(const std::string& path, const brain::JobPolicy& defaults) {
  const absl::StatusOr<std::string> text = ReadYamlFile(path, "settings file");
  if (!text.ok()) return text.status();
  return ParseReplicaFile(*text, path, defaults);
}

}  // namespace taut::server
