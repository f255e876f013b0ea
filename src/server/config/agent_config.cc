// Parses tautlet's file: single values by a table, task rules by code.
#include "server/config/agent_config.h"

#include <algorithm>
#include <set>

#include "common/base/byte_units.h"
#include "common/base/name_template.h"
#include "common/base/nearest.h"
#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/tier_act.h"
#include "common/model/units.h"
#include "common/settings/yaml_walk.h"
#include "server/config/walk_settings.h"

namespace taut::server {
namespace {

constexpr std::string_view kTasks = "tasks", kTierRules = "tiers.rules";
constexpr int64_t kMaxGraceS = 86'400;
constexpr double kMillisecond = 1e-3, kMicrosecond = 1e-6;

constexpr EnumName<Tier> kTierNames[] = {{Tier::kFree, "free"},
                                         {Tier::kBatch, "batch"},
                                         {Tier::kMid, "mid"},
                                         {Tier::kProduction, "production"},
                                         {Tier::kMonitoring, "monitoring"}};
constexpr EnumName<node::MemoryProtection> kProtections[] = {{node::MemoryProtection::kNone, "none"},
                                                             {node::MemoryProtection::kLow, "low"},
                                                             {node::MemoryProtection::kMin, "min"}};

#define TAUT_FIELD(name) +[](AgentConfig& c) -> FieldRef { return &c.name; }
#define TAUT_TIER(name) +[](AgentConfig& c) { return ChoiceOf<kTierNames>(&c.name); }
#define TAUT_PROTECT(name) +[](AgentConfig& c) { return ChoiceOf<kProtections>(&c.name); }
using enum FieldUnit;
const AgentSetting kAgentSettings[] = {
    {kCompatibilityKey, "version whose defaults apply to keys that are not set; empty: this program's",
     kPlain, 0, 0, TAUT_FIELD(compatibility)},
    {"name", "agent ID; empty: the host name", kPlain, 0, 0, TAUT_FIELD(name)},
    {"host", "value of {host} in task names; empty: the host name", kPlain, 0, 0, TAUT_FIELD(host)},
    {"state", "directory of the ledger and the message queue", kPlain, 0, 0, TAUT_FIELD(state)},
    {"observe", "measure and report; change no limit", kPlain, 0, 0, TAUT_FIELD(observe)},
    {"sample", "sampling interval of each task", kDuration, 0.01, 60, TAUT_FIELD(sample_ms),
     Was("sample_ms", kMillisecond, kMillisecond)},
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
    {"tiers.default",
     "tier of a task without one from its rule or tiers.rules: monitoring, production, mid, batch "
     "or free. Tiers act only on tasks of rules with manage: true",
     kPlain, 0, 0, TAUT_TIER(tiers.fallback)},
    {"tiers.cpu_weight.monitoring",
     "cpu.weight of tasks of this tier, 1 to 10,000 (groups without one, such as unmanaged ones, have 100; "
     "on v1 100 is 1,024 cpu.shares); 0: not set",
     kPlain, 0, 10'000, TAUT_FIELD(tiers.cpu_weight[4])},
    {"tiers.cpu_weight.production", "the same. It replaces the weight that tautd orders for cpu: soft",
     kPlain, 0, 10'000, TAUT_FIELD(tiers.cpu_weight[3])},
    {"tiers.cpu_weight.mid", "the same", kPlain, 0, 10'000, TAUT_FIELD(tiers.cpu_weight[2])},
    {"tiers.cpu_weight.batch", "the same", kPlain, 0, 10'000, TAUT_FIELD(tiers.cpu_weight[1])},
    {"tiers.cpu_weight.free", "the same", kPlain, 0, 10'000, TAUT_FIELD(tiers.cpu_weight[0])},
    {"tiers.protect.monitoring",
     "none; low: memory.low, reclaimed last; min: memory.min, never reclaimed. Up to the task's request; low "
     "without a request: up to its memory limit. cgroup v2 only",
     kPlain, 0, 0, TAUT_PROTECT(tiers.protect[4])},
    {"tiers.protect.production", "the same", kPlain, 0, 0, TAUT_PROTECT(tiers.protect[3])},
    {"tiers.protect.mid", "the same", kPlain, 0, 0, TAUT_PROTECT(tiers.protect[2])},
    {"tiers.oom_score_adj.monitoring",
     "oom_score_adj of processes of this tier while tiers.guard.throttle or .kill is on: production and "
     "monitoring get at most this; -1000 is not allowed",
     kPlain, -999, 1000, TAUT_FIELD(tiers.oom_score_adj[4])},
    {"tiers.oom_score_adj.production", "the same", kPlain, -999, 1000, TAUT_FIELD(tiers.oom_score_adj[3])},
    {"tiers.oom_score_adj.mid", "the same; mid, batch and free get at least this", kPlain, -999, 1000,
     TAUT_FIELD(tiers.oom_score_adj[2])},
    {"tiers.oom_score_adj.batch", "the same", kPlain, -999, 1000, TAUT_FIELD(tiers.oom_score_adj[1])},
    {"tiers.oom_score_adj.free", "the same", kPlain, -999, 1000, TAUT_FIELD(tiers.oom_score_adj[0])},
    {"tiers.guard.oom_score_adj",
     "with the guard on, set oom_score_adj by tier, so that the kernel kills the lowest tier first", kPlain,
     0, 0, TAUT_FIELD(tiers.sets_oom_scores)},
    {"tiers.guard.throttle",
     "when memory is short, set memory.high of tasks of the lowest tier (cgroup v2 only)", kPlain, 0, 0,
     TAUT_FIELD(tiers.guard.throttle)},
    {"tiers.guard.kill",
     "when memory is about to end, kill the task of the lowest tier that is furthest over its request; never "
     "one of production or monitoring",
     kPlain, 0, 0, TAUT_FIELD(tiers.guard.kill)},
    {"tiers.guard.of",
     "path of a cgroup with a memory limit, such as /batch.slice: the guard acts on its memory and the "
     "tasks below it; empty: the machine's memory",
     kPlain, 0, 0, TAUT_FIELD(tiers.guard_of)},
    {"tiers.guard.throttle_share", "memory is short when less than this share of it is free", kPlain, 0, 0.9,
     TAUT_FIELD(tiers.guard.throttle_below.share)},
    {"tiers.guard.throttle_free", "or than these bytes, whichever is less", kBytes, 0, 1e15,
     TAUT_FIELD(tiers.guard.throttle_below.bytes)},
    {"tiers.guard.kill_share", "memory is about to end when less than this share is free", kPlain, 0, 0.9,
     TAUT_FIELD(tiers.guard.kill_below.share)},
    {"tiers.guard.kill_free", "or than these bytes, whichever is less", kBytes, 0, 1e15,
     TAUT_FIELD(tiers.guard.kill_below.bytes)},
    {"tiers.guard.last_share",
     "when less than this share is free, a kill does not wait for tiers.guard.after", kPlain, 0, 0.9,
     TAUT_FIELD(tiers.guard.last_below.share)},
    {"tiers.guard.last_free", "or than these bytes, whichever is less", kBytes, 0, 1e15,
     TAUT_FIELD(tiers.guard.last_below.bytes)},
    {"tiers.guard.pressure_some",
     "memory is short at this memory pressure (PSI, some, 10 s) while less than twice the throttle "
     "threshold is free; 0: not considered",
     kPlain, 0, 1, TAUT_FIELD(tiers.guard.pressure_some)},
    {"tiers.guard.pressure_full",
     "memory is about to end at this memory pressure (PSI, full, 10 s) while less than the throttle "
     "threshold is free; 0: not considered",
     kPlain, 0, 1, TAUT_FIELD(tiers.guard.pressure_full)},
    {"tiers.guard.after",
     "time for throttling to take effect, before the next tier is throttled or a task killed", kDuration, 0,
     3600, TAUT_FIELD(guard_after_s)},
    {"tiers.guard.ahead",
     "tasks are killed without a wait if memory will be used up in this time at the rate of the last "
     "second, while less than twice the throttle threshold is free; memory used up within "
     "tiers.guard.after is short; 0: neither",
     kDuration, 0, 60, TAUT_FIELD(guard_ahead_ms), Was("tiers.guard.ahead_ms", kMillisecond, kMillisecond)},
    {"tiers.guard.settle", "time for the memory of a killed task to be freed, before the next kill",
     kDuration, 1, 3600, TAUT_FIELD(guard_settle_s)},
    {"tiers.guard.calm", "throttling ends when 1.5 times the throttle threshold was free for this time",
     kDuration, 0, 86'400, TAUT_FIELD(guard_calm_s)},
    {"tiers.guard.kills_per_minute", "highest number of kills in a minute", kPlain, 1, 600,
     TAUT_FIELD(tiers.guard.kills_per_minute)},
    {"probe.tiers",
     "tasks of these tiers are probed for the memory that they need, cgroup v2 only: memory.high is lowered "
     "until they stall; empty, and no probe.jobs: none",
     kPlain, 0, 0, TAUT_FIELD(probe_tiers)},
    {"probe.jobs", "and tasks whose job fits this pattern: `batch/*|*/nightly`", kPlain, 0, 0,
     TAUT_FIELD(probe.jobs)},
    {"probe.interval", "time between two steps down", kDuration, 1, 3600, TAUT_FIELD(probe_interval_s)},
    {"probe.target", "stall on memory (PSI some) per interval: above it the limit is raised, else lowered",
     kDuration, 1e-6, 1e3, TAUT_FIELD(probe.options.target_us),
     Was("probe.target_us", kMicrosecond, kMicrosecond)},
    {"probe.max_probe", "most by which a step lowers the limit, as a share of it", kPlain, 0, 0.5,
     TAUT_FIELD(probe.options.max_probe)},
    {"probe.max_backoff", "most by which a step raises it", kPlain, 0.01, 10,
     TAUT_FIELD(probe.options.max_backoff)},
    {"probe.coeff_probe", "probe.max_probe is reached at the target divided by this", kPlain, 1, 1e6,
     TAUT_FIELD(probe.options.coeff_probe)},
    {"probe.coeff_backoff", "probe.max_backoff is reached at the target times this", kPlain, 1, 1e6,
     TAUT_FIELD(probe.options.coeff_backoff)},
    {"probe.min", "memory.high is never set lower, and tasks that use less are not probed", kBytes, 1 << 20,
     1e15, TAUT_FIELD(probe.options.min_bytes)},
    {"probe.max", "memory.high is never set higher", kBytes, 1 << 20, 1e15,
     TAUT_FIELD(probe.options.max_bytes)},
    {"probe.rest", "pause after the limit was released because the task stalled at any limit", kDuration, 1,
     86'400, TAUT_FIELD(probe_rest_s)},
};
#undef TAUT_PROTECT
#undef TAUT_TIER
#undef TAUT_FIELD

constexpr TaskRuleKey kRuleKeys[] = {
    {"name", "name of the rule, for logs"},
    {"cgroup", "path from the hierarchy's root; `*` is any text within one component: `/apps/*/worker-*`"},
    {"systemd", "or: pattern of unit names, `web-*.service|batch.slice`"},
    {"docker", "or: pattern of container names"},
    {"job", "template of the job's name; empty: `{base}`, `systemd/{prefix|unit}`, `docker/{service}`"},
    {"task", "template of the task's name; empty: the host and a name that is unique there"},
    {"pods",
     "true: the tasks are containers of Kubernetes' pods, and tautd finds their jobs by its watch of the "
     "cluster; for cgroup and systemd"},
    {"manage", "true: limits may be changed; false: only measured"},
    {"add_limits",
     "true: a task without an owner's CPU quota (cpu: hard) or memory limit may get one; false: it gets "
     "none"},
    {"startup_grace",
     "no limit is lowered in this time after a task's start (raises apply immediately); absent: the job's "
     "startup_grace, from tautd"},
    {"cpu", "none; soft: cpu.weight, only effective under CPU contention; hard: cpu.max"},
    {"memory", "none; hard: memory.max; soft: memory.high at the limit, memory.max a tenth above it"},
    {"cpu_lower", "lowest CPU limit, cores; lower orders are raised to it"},
    {"cpu_upper", "highest CPU limit, cores"},
    {"memory_lower", "lowest memory limit"},
    {"memory_upper", "highest memory limit, also after an OOM kill"},
    {"tier", "monitoring, production, mid, batch or free; absent: tiers.default"},
    {"memory_request", "memory that the task is entitled to; absent: the owner's memory.low, if it has one"},
};

constexpr TaskRuleKey kTierRuleKeys[] = {
    {"job", "pattern of the job's name: `batch/*|*/nightly`"},
    {"label", "and: `KEY=PATTERN`, a label of the task and the pattern of its value: `app=crawler-*`"},
    {"tier", "tier of the task"},
    {"memory_request", "memory request of the task"},
};

class AgentReader {
 public:
  AgentReader(std::string_view name, AgentConfig& config) : name_(name), config_(config) {}

  absl::Status Read(const YAML::Node& root, std::span<const ChangedDefault> changes) {
    if (absl::Status s = RestoreOlderDefaults(root, changes); !s.ok()) return s;
    absl::Status read = WalkSections(root, name_, KeysOf(AgentSettingsTable()),
                                     [this](const YAML::Node& at, const std::string& key,
                                            const YAML::Node& value) { return ReadEntry(at, key, value); });
    if (!read.ok()) return read;
    if (config_.state.empty()) return Plain("state is empty: expected a directory that only this agent uses");
    if (config_.certificate_file.empty() != config_.key_file.empty()) {
      return Plain("daemon.certificate and daemon.key must be set together");
    }
    if (absl::Status s = CheckGuard(); !s.ok()) return s;
    return CheckProbe();
  }

 private:
  absl::Status Plain(std::string_view what) const {
    return absl::InvalidArgumentError(StrCat(name_, ": ", what));
  }
  absl::Status RestoreOlderDefaults(const YAML::Node& root, std::span<const ChangedDefault> changes) {
    const absl::StatusOr<std::string> version = CompatibilityOf(root, name_);
    if (!version.ok()) return version.status();
    const auto set = [this](std::string_view key, std::string_view value) {
      const AgentSetting* row = FindSetting(AgentSettingsTable(), key);
      if (row == nullptr) return absl::InternalError(StrCat("no setting ", key));
      return SetSetting(*row, key, value, config_);
    };
    const absl::Status s = RestoreDefaults(*version, kScopeAgent, changes, set);
    if (s.ok()) return s;
    return ErrorAt(name_, root[std::string(kCompatibilityKey)], StrCat(kCompatibilityKey, ": ", Message(s)));
  }
  absl::Status CheckGuard() {
    node::GuardOptions& guard = config_.tiers.guard;
    guard.after_us = config_.guard_after_s * kMicrosPerSecond;
    guard.ahead_us = config_.guard_ahead_ms * kMicrosPerSecond / 1000;
    guard.settle_us = config_.guard_settle_s * kMicrosPerSecond;
    guard.calm_us = config_.guard_calm_s * kMicrosPerSecond;
    const std::string& of = config_.tiers.guard_of;
    if (!of.empty() && (of.front() != '/' || of == "/")) {
      return Plain(StrCat("tiers.guard.of: \"", of, "\": expected a path of a cgroup below /, or nothing"));
    }
    const auto in_order = [](double a, double b, double c) { return a >= b && b >= c; };
    if (!in_order(guard.throttle_below.share, guard.kill_below.share, guard.last_below.share) ||
        !in_order(guard.throttle_below.bytes, guard.kill_below.bytes, guard.last_below.bytes)) {
      return Plain(
          "tiers.guard: expected throttle_share >= kill_share >= last_share, and the same of throttle_free, "
          "kill_free and last_free");
    }
    const node::ByTier<int>& scores = config_.tiers.oom_score_adj;
    if (!std::is_sorted(scores.rbegin(), scores.rend())) {
      return Plain("tiers.oom_score_adj: expected monitoring <= production <= mid <= batch <= free");
    }
    return absl::OkStatus();
  }
  absl::Status CheckProbe() {
    node::ProbeOptions& probe = config_.probe.options;
    probe.interval_us = config_.probe_interval_s * kMicrosPerSecond;
    probe.rest_us = config_.probe_rest_s * kMicrosPerSecond;
    for (const std::string& name : config_.probe_tiers) {
      const std::optional<Tier> tier = ParseTier(name);
      if (!tier.has_value()) {
        return Plain(
            StrCat("probe.tiers: \"", name, "\": expected free, batch, mid, production or monitoring"));
      }
      config_.probe.tiers[static_cast<size_t>(*tier)] = true;
    }
    if (config_.probe.is_on() && config_.sample_ms * int64_t{2'000} > probe.interval_us) {
      return Plain(StrCat("probe.interval is ", config_.probe_interval_s, " s and sample ", config_.sample_ms,
                          " ms: expected an interval of at least two samples"));
    }
    if (probe.min_bytes > probe.max_bytes) return Plain("probe.min is above probe.max");
    return absl::OkStatus();
  }
  absl::Status ReadEntry(const YAML::Node& at, const std::string& key, const YAML::Node& value) {
    if (key == kTasks) return ReadTasks(value);
    if (key == kTierRules) {
      return ForEachItem(value, name_, kTierRules,
                         [this](const YAML::Node& item) { return ReadTierRule(item); });
    }
    const AgentSetting* row = FindSetting(AgentSettingsTable(), key);
    if (row != nullptr) return SetSettingAt(*row, {name_, at, key, value}, config_, config_.notices);
    std::set<std::string_view> known = {kTasks, kTierRules};
    for (const AgentSetting& s : AgentSettingsTable()) known.insert(s.key);
    const std::vector<std::string_view> all(known.begin(), known.end());
    return UnknownKeyAt(name_, at, key, all);
  }

  absl::Status ReadTasks(const YAML::Node& list) {
    return ForEachItem(list, name_, "tasks", [this](const YAML::Node& item) { return ReadTask(item); });
  }
  absl::Status ReadTierRule(const YAML::Node& node) {
    if (!node.IsMap()) return ErrorAt(name_, node, "expected a rule with job or label, and a tier");
    node::TaskTierRule rule;
    const auto set = [&rule](std::string_view key, const std::string& text) -> absl::Status {
      if (key == "job") return rule.job = text, absl::OkStatus();
      if (key == "tier") return SetTier(text, rule.tier);
      if (key == "memory_request") return SetRequest(text, rule.memory_request);
      if (key == "label") {
        const size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0) {
          return absl::InvalidArgumentError(StrCat("label: \"", text, "\": expected KEY=PATTERN"));
        }
        rule.label = text.substr(0, equals);
        rule.label_is = text.substr(equals + 1);
        return absl::OkStatus();
      }
      return absl::InvalidArgumentError(StrCat("unknown key \"", key, "\"; did you mean \"",
                                               NearestName(key, KeysOf(kTierRuleKeys)), "\"?"));
    };
    absl::Status s = ForEachEntry(
        node, name_, "a rule of tiers", [&](const YAML::Node& key, const YAML::Node& value) -> absl::Status {
          const absl::StatusOr<std::string> text = TextOf(value, name_, key.Scalar());
          if (!text.ok()) return text.status();
          const absl::Status entry = set(key.Scalar(), *text);
          return entry.ok() ? entry : ErrorAt(name_, key, Message(entry));
        });
    if (!s.ok()) return s;
    if (rule.job.empty() && rule.label.empty()) return ErrorAt(name_, node, "expected job or label");
    if (!rule.tier.has_value() && !rule.memory_request.has_value()) {
      return ErrorAt(name_, node, "expected tier or memory_request");
    }
    config_.tiers.rules.push_back(std::move(rule));
    return absl::OkStatus();
  }
  static absl::Status SetTier(const std::string& text, std::optional<Tier>& out) {
    return SetField({"tier"}, ChoiceOf<kTierNames>(&out.emplace()), text);
  }
  static absl::Status SetRequest(const std::string& text, std::optional<double>& out) {
    return SetField({"memory_request", FieldUnit::kBytes, 0, 1e15}, &out.emplace(), text);
  }
  absl::Status ReadTask(const YAML::Node& node) {
    if (!node.IsMap())
      return ErrorAt(name_, node, "expected a task rule with cgroup, systemd or docker, and a job");
    node::TaskRule rule;
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
    if (rule.pods && rule.source == node::TaskSource::kDocker)
      return ErrorAt(name_, node, "pods: expected a rule with cgroup or systemd");
    if (rule.cpu_lower > rule.cpu_upper && rule.cpu_upper.has_value()) {
      return ErrorAt(name_, node, "cpu_lower is above cpu_upper");
    }
    if (rule.memory_lower > rule.memory_upper && rule.memory_upper.has_value()) {
      return ErrorAt(name_, node, "memory_lower is above memory_upper");
    }
    config_.tasks.push_back(std::move(rule));
    return absl::OkStatus();
  }

  static absl::Status SetRule(std::string_view key, const std::string& text, node::TaskRule& rule,
                              int& sources) {
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
    const auto source = [&](node::TaskSource kind) {
      ++sources;
      rule.source = kind;
      rule.match = text;
      if (text.empty()) return bad("empty; * stands for any text");
      if (kind == node::TaskSource::kCgroup && text.front() != '/')
        return bad("must be a path that begins with /");
      return absl::OkStatus();
    };
    const auto name = [&](std::string& out) {
      out = text;
      const absl::Status parsed = NameTemplate::Parse(text).status();
      return parsed.ok() ? parsed : bad(Message(parsed));
    };
    if (key == "name") return rule.name = text, absl::OkStatus();
    if (key == "cgroup") return source(node::TaskSource::kCgroup);
    if (key == "systemd") return source(node::TaskSource::kSystemd);
    if (key == "docker") return source(node::TaskSource::kDocker);
    if (key == "job") return name(rule.job);
    if (key == "task") return name(rule.task);
    if (key == "pods") return SetField({key}, &rule.pods, text);
    if (key == "manage") return SetField({key}, &rule.manage, text);
    if (key == "add_limits") return SetField({key}, &rule.add_limits, text);
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
      constexpr node::CpuStyle kCpu[] = {node::CpuStyle::kNone, node::CpuStyle::kSoft, node::CpuStyle::kHard};
      constexpr node::MemoryStyle kMemory[] = {node::MemoryStyle::kNone, node::MemoryStyle::kSoft,
                                               node::MemoryStyle::kHard};
      if (key == "cpu") rule.cpu = kCpu[style];
      if (key == "memory") rule.memory = kMemory[style];
      return absl::OkStatus();
    }
    if (key == "cpu_lower") return cores(rule.cpu_lower);
    if (key == "cpu_upper") return cores(rule.cpu_upper);
    if (key == "memory_lower") return bytes(rule.memory_lower);
    if (key == "memory_upper") return bytes(rule.memory_upper);
    if (key == "tier") return SetTier(text, rule.tier);
    if (key == "memory_request") return SetRequest(text, rule.memory_request);
    return absl::InvalidArgumentError(
        StrCat("unknown key \"", key, "\"; did you mean \"", NearestName(key, KeysOf(kRuleKeys)), "\"?"));
  }

  std::string_view name_;
  AgentConfig& config_;
};

}  // namespace

std::span<const AgentSetting> AgentSettingsTable() { return kAgentSettings; }
std::span<const TaskRuleKey> TaskRuleKeys() { return kRuleKeys; }
std::span<const TaskRuleKey> TierRuleKeys() { return kTierRuleKeys; }

absl::StatusOr<AgentConfig> ParseAgentConfig(std::string_view yaml, std::string_view name,
                                             std::span<const ChangedDefault> changes) {
  AgentConfig config;
  const absl::Status s = WalkYaml(
      yaml, name, [&](const YAML::Node& root) { return AgentReader(name, config).Read(root, changes); });
  if (!s.ok()) return s;
  return config;
}

absl::StatusOr<AgentConfig> ReadAgentConfig(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadYamlFile(path, "configuration");
  if (!text.ok()) return text.status();
  return ParseAgentConfig(*text, path);
}

}  // namespace taut::server
