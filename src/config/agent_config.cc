// tautlet's file: plain values by the table, the list of task rules by hand.
#include "config/agent_config.h"

#include <algorithm>
#include <set>

#include "base/byte_units.h"
#include "base/name_template.h"
#include "base/nearest.h"
#include "base/strings.h"
#include "config/yaml_walk.h"
#include "model/units.h"

namespace taut {
namespace {

constexpr std::string_view kTasks = "tasks";
constexpr int64_t kMaxGraceS = 86'400;

#define TAUT_FIELD(name) +[](AgentConfig& c) -> ConfigField { return &c.name; }
using enum FieldUnit;
const AgentSetting kAgentSettings[] = {
    {"name", "agent ID; empty: the host name", kPlain, 0, 0, TAUT_FIELD(name)},
    {"host", "value of {host} in task names; empty: the host name", kPlain, 0, 0, TAUT_FIELD(host)},
    {"state", "directory of the ledger and the message queue", kPlain, 0, 0, TAUT_FIELD(state)},
    {"observe", "measure and report; change no limit", kPlain, 0, 0, TAUT_FIELD(observe)},
    {"sample_ms", "sampling interval of each task, milliseconds", kPlain, 10, 60'000, TAUT_FIELD(sample_ms)},
    {"find", "interval of task discovery; Docker events are handled immediately", kDuration, 1, 3600,
     TAUT_FIELD(find_s)},
    {"speed", "clock speed-up factor, for demonstrations with one agent", kPlain, 0.001, 100'000,
     TAUT_FIELD(speed)},
    {"cgroup_root",
     "only cgroup hierarchies mounted at or below this directory are used, as /host/sys/fs/cgroup in a "
     "container; empty: all that /proc/self/mountinfo lists",
     kPlain, 0, 0, TAUT_FIELD(cgroup_root)},
    {"log_level", "debug, info, warning or error", kPlain, 0, 0, TAUT_FIELD(log_level)},
    {"log_format", "text (key=value) or json, one line per event", kPlain, 0, 0, TAUT_FIELD(log_format)},
    {"docker_socket", "socket of the Docker engine, used by rules with docker", kPlain, 0, 0,
     TAUT_FIELD(docker_socket)},
    {"daemon.address", "HOST:PORT of tautd's agents.listen; empty: run standalone", kPlain, 0, 0,
     TAUT_FIELD(daemon_address)},
    {"daemon.token_file", "file with the token for tautd", kPlain, 0, 0, TAUT_FIELD(token_file)},
    {"daemon.tls", "use TLS", kPlain, 0, 0, TAUT_FIELD(tls)},
    {"daemon.ca_file", "PEM file of the CA of tautd's certificate; empty: the system's", kPlain, 0, 0,
     TAUT_FIELD(ca_file)},
    {"daemon.certificate", "PEM file of this agent's certificate, for mutual TLS", kPlain, 0, 0,
     TAUT_FIELD(certificate_file)},
    {"daemon.key", "PEM file of its key", kPlain, 0, 0, TAUT_FIELD(key_file)},
    {"daemon.server_name", "name expected in tautd's certificate; empty: the host of daemon.address", kPlain,
     0, 0, TAUT_FIELD(server_name)},
    {"daemon.queue", "on-disk queue limit while tautd is unreachable; the oldest messages are dropped first",
     kBytes, 65'536, 64 * kGiB, TAUT_FIELD(queue_bytes)},
    {"limits.shrink_share", "a memory limit is lowered by at most this share per second", kPlain, 0.01, 1,
     TAUT_FIELD(moves.shrink_share)},
    {"limits.margin_share", "a memory limit is never lowered below usage plus this share of it", kPlain, 0,
     10, TAUT_FIELD(moves.margin_share)},
    {"limits.margin", "plus this many bytes", kBytes, 0, 1e12, TAUT_FIELD(moves.margin_bytes)},
    {"limits.oom_ratio", "after an OOM kill the limit is multiplied by this immediately", kPlain, 1, 10,
     TAUT_FIELD(moves.oom_ratio)},
    {"limits.oom_plus", "or raised by this many bytes, whichever is more", kBytes, 0, 1e13,
     TAUT_FIELD(moves.oom_plus_bytes)},
    {"limits.throttled_share",
     "a hard CPU limit is raised immediately if more than this share of its periods is throttled", kPlain, 0,
     1, TAUT_FIELD(moves.throttled_share)},
    {"limits.throttle_ratio", "factor of that raise", kPlain, 1, 10, TAUT_FIELD(moves.throttle_ratio)},
};
#undef TAUT_FIELD

constexpr TaskRuleKey kRuleKeys[] = {
    {"name", "name of the rule, for logs"},
    {"cgroup", "path from the hierarchy's root; `*` is any text within one component: `/apps/*/worker-*`"},
    {"systemd", "or: pattern of unit names, `web-*.service|batch.slice`"},
    {"docker", "or: pattern of container names"},
    {"job", "template of the job's name; empty: `{base}`, `systemd/{prefix|unit}`, `docker/{service}`"},
    {"task", "template of the task's name; empty: the host and a name that is unique there"},
    {"manage", "true: limits may be changed; false: only measured"},
    {"startup_grace",
     "no limit is lowered in this time after a task's start (raises apply immediately); absent: the job's "
     "startup_grace, of which tautd tells"},
    {"cpu", "none; soft: cpu.weight, only effective under CPU contention; hard: cpu.max"},
    {"memory", "none; hard: memory.max; soft: memory.high at the limit, memory.max a tenth above it"},
    {"cpu_lower", "lowest CPU limit, cores; lower orders are raised to it"},
    {"cpu_upper", "highest CPU limit, cores"},
    {"memory_lower", "lowest memory limit"},
    {"memory_upper", "highest memory limit, also after an OOM kill"},
};

class AgentReader {
 public:
  AgentReader(std::string_view name, AgentConfig& config) : name_(name), config_(config) {}

  absl::Status Read(const YAML::Node& root) {
    absl::Status read = WalkSections(root, name_, KeysOf(AgentSettingsTable()),
                                     [this](const YAML::Node& at, const std::string& key,
                                            const YAML::Node& value) { return ReadEntry(at, key, value); });
    if (!read.ok()) return read;
    if (config_.state.empty()) return Plain("state is empty: expected a directory that only this agent uses");
    if (config_.certificate_file.empty() != config_.key_file.empty()) {
      return Plain("daemon.certificate and daemon.key must be set together");
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Plain(std::string_view what) const {
    return absl::InvalidArgumentError(StrCat(name_, ": ", what));
  }
  absl::Status ReadEntry(const YAML::Node& at, const std::string& key, const YAML::Node& value) {
    if (key == kTasks) return ReadTasks(value);
    std::set<std::string_view> known = {kTasks};
    for (const AgentSetting& s : AgentSettingsTable()) {
      known.insert(s.key);
      if (s.key != key) continue;
      const absl::StatusOr<std::vector<std::string>> texts = TextsOf(value, name_, key);
      if (!texts.ok()) return texts.status();
      const absl::Status set = SetField(s.spec(), s.field(config_), *texts);
      return set.ok() ? set : ErrorAt(name_, at, Message(set));
    }
    const std::vector<std::string_view> all(known.begin(), known.end());
    return UnknownKeyAt(name_, at, key, all);
  }

  absl::Status ReadTasks(const YAML::Node& list) {
    return ForEachItem(list, name_, "tasks", [this](const YAML::Node& item) { return ReadTask(item); });
  }
  absl::Status ReadTask(const YAML::Node& node) {
    if (!node.IsMap())
      return ErrorAt(name_, node, "expected a task rule with cgroup, systemd or docker, and a job");
    TaskRule rule;
    int sources = 0;
    absl::Status s = ForEachEntry(
        node, name_, "a task rule", [&](const YAML::Node& key, const YAML::Node& value) -> absl::Status {
          const absl::StatusOr<std::string> text = TextOf(value, name_, key.Scalar());
          if (!text.ok()) return text.status();
          const absl::Status set = SetRule(key.Scalar(), *text, rule, sources);
          return set.ok() ? set : ErrorAt(name_, key, Message(set));
        });
    if (!s.ok()) return s;
    if (sources != 1) return ErrorAt(name_, node, "expected exactly one of cgroup, systemd and docker");
    if (rule.cpu_lower > rule.cpu_upper && rule.cpu_upper.has_value()) {
      return ErrorAt(name_, node, "cpu_lower is above cpu_upper");
    }
    if (rule.memory_lower > rule.memory_upper && rule.memory_upper.has_value()) {
      return ErrorAt(name_, node, "memory_lower is above memory_upper");
    }
    config_.tasks.push_back(std::move(rule));
    return absl::OkStatus();
  }

  static absl::Status SetRule(std::string_view key, const std::string& text, TaskRule& rule, int& sources) {
    const auto bad = [&](std::string_view what) {
      return absl::InvalidArgumentError(StrCat(key, ": ", what));
    };
    const auto bytes = [&](std::optional<double>& out) {
      const absl::StatusOr<double> value = ParseBytes(text);
      if (value.ok()) out = *value;
      return value.ok() ? absl::OkStatus() : bad(Message(value.status()));
    };
    const auto cores = [&](std::optional<double>& out) {
      out = ParseDouble(text);
      return out.has_value() && *out >= 0 ? absl::OkStatus()
                                          : bad(StrCat("\"", text, "\" is not a number of cores"));
    };
    const auto source = [&](TaskSource kind) {
      ++sources;
      rule.source = kind;
      rule.match = text;
      if (text.empty()) return bad("empty; * stands for any text");
      if (kind == TaskSource::kCgroup && text.front() != '/') return bad("must be a path that begins with /");
      return absl::OkStatus();
    };
    const auto name = [&](std::string& out) {
      out = text;
      const absl::Status parsed = NameTemplate::Parse(text).status();
      return parsed.ok() ? parsed : bad(Message(parsed));
    };
    if (key == "name") return rule.name = text, absl::OkStatus();
    if (key == "cgroup") return source(TaskSource::kCgroup);
    if (key == "systemd") return source(TaskSource::kSystemd);
    if (key == "docker") return source(TaskSource::kDocker);
    if (key == "job") return name(rule.job);
    if (key == "task") return name(rule.task);
    if (key == "manage") return SetField({key}, &rule.manage, std::span(&text, 1));
    if (key == "startup_grace") {
      const absl::StatusOr<int64_t> seconds = ParseDurationSeconds(text);
      if (!seconds.ok()) return bad(Message(seconds.status()));
      if (*seconds < 0 || *seconds > kMaxGraceS) {
        return bad(StrCat("invalid duration \"", text, "\": expected 0s to 1d"));
      }
      rule.startup_grace_s = *seconds;
      return absl::OkStatus();
    }
    if (key == "cpu" || key == "memory") {
      const int style = text == "none" ? 0 : text == "soft" ? 1 : text == "hard" ? 2 : -1;
      if (style < 0) return bad(StrCat("\"", text, "\": expected none, soft or hard"));
      constexpr CpuStyle kCpu[] = {CpuStyle::kNone, CpuStyle::kSoft, CpuStyle::kHard};
      constexpr MemoryStyle kMemory[] = {MemoryStyle::kNone, MemoryStyle::kSoft, MemoryStyle::kHard};
      if (key == "cpu") rule.cpu = kCpu[style];
      if (key == "memory") rule.memory = kMemory[style];
      return absl::OkStatus();
    }
    if (key == "cpu_lower") return cores(rule.cpu_lower);
    if (key == "cpu_upper") return cores(rule.cpu_upper);
    if (key == "memory_lower") return bytes(rule.memory_lower);
    if (key == "memory_upper") return bytes(rule.memory_upper);
    return absl::InvalidArgumentError(
        StrCat("unknown key \"", key, "\"; did you mean \"", NearestName(key, KeysOf(kRuleKeys)), "\"?"));
  }

  std::string_view name_;
  AgentConfig& config_;
};

}  // namespace

std::span<const AgentSetting> AgentSettingsTable() { return kAgentSettings; }
std::span<const TaskRuleKey> TaskRuleKeys() { return kRuleKeys; }

absl::StatusOr<AgentConfig> ParseAgentConfig(std::string_view yaml, std::string_view name) {
  AgentConfig config;
  const absl::Status s =
      WalkYaml(yaml, name, [&](const YAML::Node& root) { return AgentReader(name, config).Read(root); });
  if (!s.ok()) return s;
  return config;
}

absl::StatusOr<AgentConfig> ReadAgentConfig(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadYamlFile(path, "configuration");
  if (!text.ok()) return text.status();
  return ParseAgentConfig(*text, path);
}

}  // namespace taut
