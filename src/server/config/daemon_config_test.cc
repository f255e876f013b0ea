// Tests the daemon's file: its defaults, valid contents, and errors for invalid contents.
#include "server/config/daemon_config.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

DaemonConfig Parse(std::string_view yaml) {
  absl::StatusOr<DaemonConfig> config = ParseDaemonConfig(yaml, "t.yaml");
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *std::move(config) : DaemonConfig();
}
std::string ErrorOf(std::string_view yaml) {
  const absl::StatusOr<DaemonConfig> config = ParseDaemonConfig(yaml, "t.yaml");
  return config.ok() ? "fine" : std::string(Message(config.status()));
}

TEST(DaemonConfig, ASecondDocumentIsNotIgnored) {
  const auto config = ParseDaemonConfig("clock: samples\n---\nclock: wall\n", "f");
  EXPECT_NE(config.status().message().find("a second YAML document"), std::string::npos) << config.status();
  EXPECT_TRUE(ParseDaemonConfig("---\nclock: samples\n---\n", "f").ok()) << "an empty one says nothing";
}

TEST(DaemonConfig, AStrayCommaIsNoEndlessFile) {
  EXPECT_EQ(ErrorOf(std::string("\0,", 2)), "t.yaml: not YAML: a stray comma");
  EXPECT_EQ(ErrorOf(","), "t.yaml: not YAML: a stray comma");
}

TEST(DaemonConfig, NamesAreText) {
  for (const char* yaml :
       {"cell: {name: \"a\\0b\"}\n", "cell: {name: \"\\x00\"}\n", "cell: {name: \xff\xfe}\n"}) {
    const auto config = ParseDaemonConfig(yaml, "f");
    EXPECT_TRUE(absl::IsInvalidArgument(config.status())) << yaml;
    EXPECT_NE(config.status().message().find("f:1: "), std::string::npos) << config.status();
  }
  EXPECT_TRUE(ParseDaemonConfig("cell: {name: Zürich}\n", "f").ok());
  EXPECT_TRUE(ParseDaemonConfig("cell: {name: \"\\x1b[31m\"}\n", "f").ok()) << "escaped where it is printed";
}

TEST(DaemonConfig, NeedsNothing) {
  for (const std::string_view yaml : {"", "# nothing\n", "server:\nrules:\ndefaults: {}\n"}) {
    const DaemonConfig config = Parse(yaml);
    EXPECT_EQ(config.server.options.listen.at(0).host, "127.0.0.1");
    EXPECT_EQ(config.server.options.listen.at(0).port, 7070);
    EXPECT_EQ(config.machine.of[kMemoryIndex], 64 * kGiB);
    EXPECT_EQ(config.clock, ClockSource::kWall);
    EXPECT_EQ(MappingRulesOf(config.ingest).size(), BuiltinRules().size());
    EXPECT_EQ(config.rules.Resolve("any", {}, {}).mode, Mode::kObserve);
    EXPECT_TRUE(OpenServerOptions(config.server).ok());
  }
}

TEST(DaemonConfig, ReadsEverySection) {
  const DaemonConfig config = Parse(R"(
server:
  listen: [0.0.0.0:8080, "[::1]:8081"]
  pages: off
  limits: {body: 4MiB, idle: 5m}
clock: samples
store: {path: memory, history: 1w}
ingest:
  grace: 30s
  builtin_mapping: no
  mapping:
    - {name: a, metric: "m*", kind: memory_bytes, job: "{app}", task: "{pod}", scale: 1024,
       match: {cell: "!test|", app: "web-*"}}
backfill: {prometheus: "http://p:9090", days: 3.5}
machine: {cores: 96, memory: 1TiB}
defaults: {mode: auto, memory: {upper: 4GiB}}
rules:
  - {name: off, match: {job: "tmp-*"}, set: {mode: off, memory.upper: ""}}
migration: {enabled: true, max_cpu: 1.5}
recommenders: {ensemble: {margins: [0, 0.1]}, peak.days: 3}
actuator: {kind: dry_run}
webhook: {url: "http://127.0.0.1:8090/x", secret_file: /s, jobs: "shop/*|web/*", timeout: 5s, give_up_after: 2h}
cell: {name: north, links: ["south=https://south.example:7070/?a=b"]}
)");
  EXPECT_EQ(config.cell.name, "north");
  EXPECT_EQ(ParseCellLink(config.cell.links.at(0))->second, "https://south.example:7070/?a=b");
  EXPECT_EQ(config.server.options.listen.at(1).host, "::1");
  EXPECT_FALSE(config.server.pages);
  EXPECT_EQ(config.server.options.max_body_bytes, size_t{4} << 20);
  EXPECT_EQ(config.server.options.idle_timeout, std::chrono::minutes(5));
  EXPECT_EQ(config.clock, ClockSource::kSamples);
  EXPECT_EQ(config.store.path, "memory");
  EXPECT_EQ(config.ingest.options.windows.grace_seconds, 30);
  const std::vector<MappingRule> mapping = MappingRulesOf(config.ingest);
  ASSERT_EQ(mapping.size(), 1U);
  EXPECT_EQ(mapping[0].scale, 1024);
  EXPECT_EQ(mapping[0].match.at(0).pattern, "test|");
  EXPECT_TRUE(mapping[0].match.at(0).negate);
  EXPECT_FALSE(mapping[0].whole_machine) << "unless the rule says so";
  EXPECT_EQ(config.backfill.days, 3.5);
  EXPECT_EQ(config.machine.of[kCpuIndex], 96);
  EXPECT_EQ(config.rules.Resolve("web", {}, {}).bounds_by[kMemoryIndex].upper, 4 * kGiB);
  EXPECT_EQ(config.rules.Resolve("web", {}, {}).mode, Mode::kAuto);
  EXPECT_EQ(config.rules.Resolve("tmp-1", {}, {}).mode, Mode::kOff);
  EXPECT_FALSE(config.rules.Resolve("tmp-1", {}, {}).bounds_by[kMemoryIndex].upper.has_value());
  EXPECT_EQ(config.migration.max_cpu_cores, 1.5);
  EXPECT_THAT(config.recommenders.ensemble.margins, ElementsAre(0, 0.1));
  EXPECT_EQ(config.recommenders.peak.days, 3);
  EXPECT_EQ(config.webhook.jobs, "shop/*|web/*");
  EXPECT_EQ(config.webhook.timeout_s, 5);
  EXPECT_EQ(config.webhook.give_up_after_s, 7200);
}

TEST(DaemonConfig, SeveralActuatorsMaySetLimits) {
  const auto kinds = [](std::string_view value) {
    return Parse(StrCat("actuator: {kind: ", value, "}")).actuators;
  };
  using enum ActuatorKind;
  EXPECT_THAT(Parse("").actuators, ElementsAre(kDryRun));
  EXPECT_THAT(kinds("kubernetes"), ElementsAre(kKubernetes));
  EXPECT_THAT(kinds("[agents, kubernetes]"), ElementsAre(kAgents, kKubernetes));
  EXPECT_EQ(ErrorOf("actuator: {kind: [agents, nomad]}"),
            "t.yaml:1: actuator.kind: \"nomad\": expected one of dry_run, agents, kubernetes");
  EXPECT_EQ(ErrorOf("actuator: {kind: [agents, agents]}"), "t.yaml: actuator.kind has one kind twice");
  EXPECT_EQ(ErrorOf("actuator: {kind: [dry_run, agents]}"),
            "t.yaml: actuator.kind: dry_run stands alone, since nothing is applied with it");
}

TEST(DaemonConfig, SaysAllThatIsWrongAtOnce) {
  EXPECT_EQ(
      ErrorOf("sever: {}\n"
              "clock: wal\n"
              "server:\n"
              "  lissten: x\n"
              "  limits: {body: 4 gigs}\n"
              "defaults: {mode: fast, memory.uppr: 1}\n"
              "rules:\n"
              "  - {match: {namespace: a}}\n"
              "  - {sets: 1}\n"),
      "t.yaml:1: unknown key \"sever\"; did you mean \"server\"?\n"
      "t.yaml:2: clock: \"wal\": expected one of wall, samples\n"
      "t.yaml:4: unknown key \"server.lissten\"; did you mean \"server.listen\"?\n"
      "t.yaml:5: server.limits.body: \"4 gigs\" is not an amount of memory; expected one such as 512MiB or "
      "256GiB\n"
      "t.yaml:6: mode: \"fast\": expected one of off, observe, canary, auto\n"
      "t.yaml:6: unknown job setting \"memory.uppr\"; did you mean \"memory.upper\"?\n"
      "t.yaml:8: a rule without set or cap\n"
      "t.yaml:9: unknown key \"sets\"; did you mean \"set\"?");
  EXPECT_EQ(ErrorOf("nothing_like_it: 1\n"), "t.yaml:1: unknown key \"nothing_like_it\"");
}

TEST(DaemonConfig, SaysWhereAndWhatIsWrong) {
  EXPECT_EQ(ErrorOf("server:\n  lissten: x\n"),
            "t.yaml:2: unknown key \"server.lissten\"; did you mean \"server.listen\"?");
  EXPECT_EQ(ErrorOf("sever: {}\n"), "t.yaml:1: unknown key \"sever\"; did you mean \"server\"?");
  EXPECT_EQ(ErrorOf("clock: wal\n"), "t.yaml:1: clock: \"wal\": expected one of wall, samples");
  EXPECT_EQ(ErrorOf("\nserver:\n  limits:\n    body: 4 gigs\n"),
            "t.yaml:4: server.limits.body: \"4 gigs\" is not an amount of memory; expected one such as "
            "512MiB or 256GiB");
  EXPECT_EQ(ErrorOf("kubernetes: {usage: summary}"),
            "t.yaml:1: kubernetes.usage: \"summary\": expected one of cadvisor, resource, "
            "metrics_api");
  EXPECT_EQ(ErrorOf("store: {history: 0}"), "t.yaml:1: store.history: 0 is outside 1d .. 3650d");
  EXPECT_EQ(ErrorOf("store: {history: 36h}"), "t.yaml:1: store.history: \"36h\" is not a multiple of 1d");
  EXPECT_EQ(ErrorOf("ingest: {grace: 2h}"), "t.yaml:1: ingest.grace: 2h is outside 0s .. 1h");
  EXPECT_EQ(ErrorOf("\nkubernetes: {startup_grace: 0s}"),
            "t.yaml:2: kubernetes.startup_grace is now the job setting startup_grace: set it under defaults "
            "or in a rule");
  EXPECT_EQ(ErrorOf("kubernetes: {lease: tautd}"),
            "t.yaml: kubernetes.lease is 'tautd': expected NAMESPACE/NAME, such as tautline/tautd");
  EXPECT_EQ(ErrorOf("kubernetes: {fallback: restart}"),
            "t.yaml:1: kubernetes.fallback: \"restart\": expected one of wait, evict");
  EXPECT_EQ(ErrorOf("kubernetes: {admission: {quota: deny}}"),
            "t.yaml:1: kubernetes.admission.quota: \"deny\": expected one of off, warn, refuse");
  for (const std::string_view missing :
       {"kubernetes: {kubeconfig: k, admission: {quota: warn}}\nquota: {file: q}",
        "kubernetes: {kubeconfig: k, admission: {quota: warn, listen: \"127.0.0.1:1\"}}",
        "kubernetes: {admission: {quota: warn, listen: \"127.0.0.1:1\"}}\nquota: {file: q}"}) {
    EXPECT_THAT(ErrorOf(missing), HasSubstr("kubernetes.admission.quota requires kubernetes.kubeconfig, "))
        << missing;
  }
  EXPECT_THAT(ErrorOf("kubernetes: {kubeconfig: k, admission: {listen: \"127.0.0.1:1\"}}"),
              HasSubstr("kubernetes.admission.listen requires kubernetes.kubeconfig and actuator.kind"));
  EXPECT_TRUE(ParseDaemonConfig("kubernetes: {kubeconfig: k, admission: {quota: refuse, listen: "
                                "\"127.0.0.1:1\"}}\nquota: {file: q}",
                                "t.yaml")
                  .ok());
  EXPECT_EQ(
      ErrorOf("kubernetes: {fallback: evict}"),
      "t.yaml: kubernetes.fallback: evict requires kubernetes.admission.listen, which gives the pod that "
      "replaces an evicted one its limit");
  EXPECT_EQ(ErrorOf("clock: [wall, samples]"), "t.yaml:1: clock: must be one value, not a list");
  EXPECT_EQ(ErrorOf("store: {path: }"), "t.yaml: store.path is empty: expected a file, or memory");
  for (const std::string_view link : {"south", "=http://a", "south=javascript:alert(1)", "south="}) {
    EXPECT_THAT(ErrorOf(StrCat("cell: {links: [\"", link, "\"]}")), HasSubstr("is not NAME=URL with http"))
        << link;
  }
  const std::string priced = "prices: {core_hour: 1, budgets: [";
  for (const std::string_view budget : {"shop", "team=: 5", "=shop: 5", "team=shop: 0", "team=shop: -1",
                                        "all", "all: x", "some: 5", "team=shop: inf"}) {
    EXPECT_THAT(ErrorOf(StrCat(priced, "\"", budget, "\"]}")), HasSubstr("expected LABEL=VALUE: AMOUNT"))
        << budget;
  }
  EXPECT_THAT(ErrorOf(StrCat(priced, "\"all: 5\", \"all: 6\"]}")), HasSubstr("two budgets of all"));
  EXPECT_THAT(ErrorOf("prices: {budgets: [\"all: 5\"]}"),
              HasSubstr("prices.core_hour and prices.gib_hour are 0"));
  const absl::StatusOr<BudgetLine> line = ParseBudget("url=http://a:80: 12.5");
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(line->value, "http://a:80");
  EXPECT_EQ(line->per_month, 12.5);
  EXPECT_EQ(ErrorOf("webhook: {url: 'https://host/'}"),
            "t.yaml: webhook.secret_file is empty: expected a file with the secret that signs the requests");
  EXPECT_EQ(ErrorOf("webhook: {url: 'https://host/', secret_file: s, targets: replica}"),
            "t.yaml: invalid webhook.targets \"replica\": expected all, limits or replicas");
  EXPECT_EQ(ErrorOf("webhook: {url: 'https://host/', secret_file: s, timeout: 2m}"),
            "t.yaml:1: webhook.timeout: 2m is outside 1s .. 1m");
  EXPECT_EQ(ErrorOf("clock: {a: b}"), "t.yaml:1: clock must be a value or a list of values");
  EXPECT_EQ(ErrorOf("server: 7070"), "t.yaml:1: server must be a mapping: lines of key: value");
  EXPECT_EQ(ErrorOf("clock: wall\nclock: wall"), "t.yaml:2: t.yaml has \"clock\" twice");
  EXPECT_EQ(ErrorOf("backfill: {prometheus: p:9090}"),
            "t.yaml:1: backfill.prometheus: \"p:9090\" is not a URL; expected http://prometheus:9090");
  EXPECT_EQ(ErrorOf("defaults:\n  mode: on\n"),
            "t.yaml:2: mode: \"on\": expected one of off, observe, canary, auto");
  EXPECT_EQ(ErrorOf("defaults:\n  memory:\n    uppr: 1GiB\n"),
            "t.yaml:3: unknown job setting \"memory.uppr\"; did you mean \"memory.upper\"?");
  EXPECT_EQ(ErrorOf("defaults: {cpu: {lower: 4, upper: 2}}"),
            "t.yaml:1: defaults: cpu.lower 4 is above cpu.upper 2");
  EXPECT_EQ(ErrorOf("rules:\n  - name: a\n    sets: {mode: off}\n"),
            "t.yaml:3: unknown key \"sets\"; did you mean \"set\"?");
  EXPECT_THAT(ErrorOf("backfill: {labels: [\"cluster\"]}"), HasSubstr("\"cluster\" is not NAME=VALUE"));
  EXPECT_THAT(ErrorOf("backfill: {labels: [\"__x=1\"]}"), HasSubstr("is not NAME=VALUE"));
  EXPECT_EQ(ErrorOf("rules:\n  - name: a\n"), "t.yaml:2: a rule without set or cap");
  EXPECT_EQ(ErrorOf("rules: {a: b}"), "t.yaml:1: rules must be a list: lines that begin with -");
  EXPECT_EQ(
      ErrorOf("ingest:\n  mapping:\n    - metric: a\n      kind: cpu\n"),
      "t.yaml:4: unknown kind \"cpu\": expected cpu_seconds_total, cpu_cores, memory_bytes, "
      "cpu_limit_cores, memory_limit_bytes, oom_total, owner, restarts_total, oom_reason, oom_ended, "
      "init_container, pod_labels, cpu_request_cores, memory_request_bytes, load, load_total, "
      "cpu_periods_total, cpu_throttled_periods_total, replicas, replicas_ready, start_time, last_ended, "
      "memory_peak or waiting");
  EXPECT_THAT(ErrorOf("ingest:\n  mapping:\n    - metric: a\n      name: x\n"),
              HasSubstr("t.yaml:3: mapping rule 'x': job and task are required"));
  const std::string signal = "ingest: {mapping: [{metric: q, job: a, task: t, kind: load, signal: queue}]}\n";
  EXPECT_THAT(ErrorOf(signal + "defaults: {replicas.function.target: queu / 5}\n"),
              HasSubstr("t.yaml:2: replicas.function.target: character 1: unknown "
                        "name \"queu\"; did you "
                        "mean \"queue\"?"));
  EXPECT_THAT(ErrorOf("ingest: {mapping: [{metric: q, job: a, task: t, kind: load, signal: load}]}"),
              HasSubstr("invalid signal \"load\": expressions of function.target know this name already"));
  EXPECT_THAT(ErrorOf("ingest: {mapping: [{metric: q, job: a, task: t, kind: cpu_cores, signal: q}]}"),
              HasSubstr("signal is only allowed with kind load or load_total"));
  EXPECT_EQ(ErrorOf("recommenders:\n  vpa:\n    margn: 1\n"),
            "t.yaml:3: unknown setting \"vpa.margn\"; did you mean \"vpa.margin\"?");
  EXPECT_THAT(ErrorOf("server: [\n"), HasSubstr("t.yaml:2: "));
  EXPECT_THAT(ErrorOf("server: *nowhere\n"), HasSubstr("t.yaml:1: "));
  EXPECT_THAT(ErrorOf(std::string(100'000, '[')), HasSubstr("t.yaml:1: "));
  EXPECT_THAT(ErrorOf("recommenders: &a\n  vpa: *a\n"), HasSubstr("t.yaml:"));
  EXPECT_EQ(ErrorOf(std::string(2'000'000, ' ')), "t.yaml: larger than 1 MiB");
}

TEST(DaemonConfig, SignalsOfMappingRulesMayBeNamed) {
  const DaemonConfig config = Parse(R"yaml(
defaults: {replicas.policy: function, replicas.function.target: "ceil(max(queue, 10m) / 50) + avg(cpu, 5m)"}
rules:
  - {match: {job: "*/web"}, set: {replicas.function.target: "queue / 5"}}
ingest:
  mapping:
    - {metric: queue_messages, kind: load, signal: queue, job: "{app}", task: "{pod}"}
)yaml");
  EXPECT_EQ(config.ingest.mapping.at(0).signal, "queue");
  EXPECT_EQ(config.rules.Resolve("shop/web", {}, {}).replicas.function.target, "queue / 5");
  EXPECT_EQ(config.rules.Resolve("shop/web", {}, {}).replicas.signals, std::vector<std::string>{"queue"});
}

TEST(DaemonConfig, TheExampleIsRead) {
  const absl::StatusOr<DaemonConfig> config = ReadDaemonConfig("docs/tautd.example.yaml");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->rules.rules().size(), 2U);
  EXPECT_EQ(config->ingest.mapping.size(), 2U);
  const std::vector<brain::KeyValue> labels = {{"namespace", "shop"}};
  EXPECT_EQ(config->rules.Resolve("shop/web", labels, {}).canary.share, 0.05);
  EXPECT_EQ(ReadDaemonConfig("no/such.yaml").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(ReadDaemonConfig("docs").ok());
}

// Parses a file of an earlier version, with units in keys.
TEST(DaemonSettings, OldKeysAreReadWithANoticeEach) {
  const DaemonConfig config = Parse(
      "store: {history_days: 7}\nrecommenders: {oom: {hold_h: 12}}\n"
      "rules:\n- match: {job: web}\n  set: {replicas.hpa.down_window_s: 120}\n");
  EXPECT_EQ(config.store.history_days, 7);
  EXPECT_EQ(config.recommenders.oom.hold_s, 12 * 3600);
  EXPECT_EQ(config.rules.Resolve("web", {}, {}).replicas.hpa.down.stabilization_s, 120);
  EXPECT_THAT(config.notices,
              ElementsAre("t.yaml:1: store.history_days is now store.history; write store.history: 1w",
                          "t.yaml:2: oom.hold_h is now oom.hold; write oom.hold: 12h",
                          "t.yaml:5: replicas.hpa.down_window_s is now replicas.hpa.down_window; write "
                          "replicas.hpa.down_window: 2m"));
}

// Each displayed value parses to the same value.
RC_GTEST_PROP(DaemonSettings, AreReadBackAsTheyAreShown, ()) {
  const auto table = DaemonSettingsTable();
  const DaemonSetting& s = table[static_cast<size_t>(*rc::gen::inRange(0, static_cast<int>(table.size())))];
  DaemonConfig once, twice;
  const std::string text =
      StrCat(*rc::gen::inRange(0, 100'000), *rc::gen::element<std::string>("", "m", "MiB"));
  if (!SetSetting(s, s.key, text, once).ok()) return;
  const std::string shown = GetSetting(s, once);
  if (!shown.empty() && shown.front() == '[') return;
  RC_ASSERT(SetSetting(s, s.key, shown, twice).ok());
  RC_ASSERT(GetSetting(s, twice) == shown);
}

TEST(DaemonSettings, AllDefaultsMakeAFileThatChangesNothing) {
  DaemonConfig config;
  for (const DaemonSetting& s : DaemonSettingsTable()) {
    const std::string shown = GetSetting(s, config);
    std::string yaml;
    std::string indent;
    for (const std::string_view part : Split(s.key, '.')) {
      StrAppend(&yaml, yaml.empty() ? "" : "\n", indent, part, ":");
      indent += "  ";
    }
    StrAppend(&yaml, " ", shown.empty() ? "\"\"" : shown, "\n");
    EXPECT_EQ(GetSetting(s, Parse(yaml)), shown) << yaml;
  }
}

class SecretsTest : public ::testing::Test {
 protected:
  SecretsTest() : path_(std::filesystem::temp_directory_path() / StrCat("taut_secret_", ::getpid())) {}
  ~SecretsTest() override { std::filesystem::remove(path_); }
  std::string Write(std::string_view text) {
    std::ofstream(path_) << text;
    return path_.string();
  }
  std::filesystem::path path_;
};

TEST_F(SecretsTest, TokensComeFromFilesAndStayOutOfErrors) {
  ServerConfig config;
  config.options.listen = {{"0.0.0.0", 7070}};
  EXPECT_THAT(std::string(Message(OpenServerOptions(config).status())), HasSubstr("refusing to listen"));
  config.operator_tokens_file = Write("# anna\n0123456789abcdef0123\n\nfedcba98765432100123  # bob\n");
  const absl::StatusOr<ServerOptions> options = OpenServerOptions(config);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_THAT(options->operator_tokens,
              ElementsAre(AccessToken("0123456789abcdef0123"), AccessToken("fedcba98765432100123")));

  config.writer_tokens_file = config.operator_tokens_file;
  config.operator_tokens_file = "";
  Write("0123456789abcdef:123  prometheus of cell a  # since May\n");
  const absl::StatusOr<ServerOptions> named = OpenServerOptions(config);
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_THAT(named->writer_tokens, ElementsAre(AccessToken("0123456789abcdef:123", "prometheus of cell a")));
  Write("0123456789abcdef:123 \x1b[2J\n");
  EXPECT_THAT(std::string(Message(OpenServerOptions(config).status())),
              HasSubstr("invalid name after a token"));
  EXPECT_EQ(ReadTokenFile(Write("0123456789abcdef0 node-7\n")).value(),
            std::vector<std::string>{"0123456789abcdef0"});
  config.writer_tokens_file = "";

  config.operator_tokens_file = Write("hunter2\n");
  const std::string error(Message(OpenServerOptions(config).status()));
  EXPECT_THAT(error, HasSubstr("at least 16"));
  EXPECT_THAT(error, HasSubstr(config.operator_tokens_file + ":1: "));
  EXPECT_THAT(error, Not(HasSubstr("hunter2")));
  config.operator_tokens_file = Write("\n");
  EXPECT_THAT(std::string(Message(OpenServerOptions(config).status())), HasSubstr("contains no token"));
  config.operator_tokens_file = "no/such/file";
  EXPECT_EQ(OpenServerOptions(config).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadSecretFile(Write(" s3cret \n")).value(), "s3cret");
  EXPECT_EQ(ReadSecretFile("").value(), "");
  EXPECT_FALSE(ReadSecretFile(Write("a\nb\n")).ok());
}

TEST_F(SecretsTest, TokensOfGroupsHaveARoleGroupsAndAName) {
  ServerConfig config;
  config.group_tokens_file = Write(
      "0123456789abcdef0  owner shop,media  olga of shop # since May\nfedcba9876543210f member lab mia\n"
      "0123456789abcdef0 budget_holder lab olga of shop\n");
  const absl::StatusOr<ServerOptions> options = OpenServerOptions(config);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_THAT(options->group_tokens,
              ElementsAre(AccessToken("0123456789abcdef0", "olga of shop",
                                      {{"shop", GroupRole::kOwner},
                                       {"media", GroupRole::kOwner},
                                       {"lab", GroupRole::kBudgetHolder}}),
                          AccessToken("fedcba9876543210f", "mia", {{"lab", GroupRole::kMember}})));
  const std::vector<std::string> groups = {"shop", "media", "labs"};
  const std::string unknown(Message(CheckBoundGroups(config, *options, "quota.yaml", groups)));
  EXPECT_THAT(unknown, HasSubstr("the token of olga of shop binds to group \"lab\", which is not in "
                                 "quota.yaml; did you mean \"labs\"?"));
  EXPECT_THAT(std::string(Message(CheckBoundGroups(config, *options, "", {}))),
              HasSubstr("quota.file is empty"));
  for (const auto& [line, what] :
       {std::pair{"0123456789abcdef0 king shop x",
                  ":1: no role after the token: expected member, owner, budget_holder"},
        {"\n0123456789abcdef0 owner , x", ":2: no group"},
        {"0123456789abcdef0 owner shop", "no name"},
        {"0123456789abcdef0", "no role"}}) {
    Write(line);
    const std::string error(Message(OpenServerOptions(config).status()));
    EXPECT_THAT(error, HasSubstr(what));
    EXPECT_THAT(error, Not(HasSubstr("0123456789abcdef0")));
    EXPECT_THAT(error, Not(HasSubstr("king"))) << "it may be a token in the wrong place";
  }
  config.reader_tokens_file = config.group_tokens_file;
  Write("0123456789abcdef0 owner shop olga");
  EXPECT_THAT(std::string(Message(OpenServerOptions(config).status())), HasSubstr("use different tokens"));
}

TEST(Markdown, IsWhatTheDocumentSays) {
  const std::string wanted = DaemonSettingsMarkdown();
  const char* path = "docs/reference/configuration.md";
  if (std::getenv("TAUT_WRITE_DOCS") != nullptr) std::ofstream(path) << wanted;
  std::stringstream document;
  document << std::ifstream(path).rdbuf();
  EXPECT_EQ(document.str(), wanted) << "run this test with TAUT_WRITE_DOCS=1 to make " << path << " anew";
}

}  // namespace
}  // namespace taut::server
