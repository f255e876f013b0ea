// Tests that options set the arguments of their commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"
#include "tools/cli/compact_command.h"
#include "tools/cli/economy_command.h"
#include "tools/cli/import_command.h"
#include "tools/cli/parse_backup.h"
#include "tools/cli/parse_daemon.h"
#include "tools/cli/parse_fetch.h"
#include "tools/cli/parse_money.h"
#include "tools/cli/parse_overcommit.h"
#include "tools/cli/parse_replay.h"
#include "tools/cli/parse_replicas.h"
#include "tools/cli/simulate_command.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename Args, typename Options>
Args Parsed(const Options& options, const std::string& line) {
  CLI::App app;
  Args args{};
  options(app, args);
  app.parse(line);
  return args;
}

TEST(ParseValues, OutputForms) {
  const auto form = [](const std::string& line) { return Parsed<OutputForm>(AddOutputForm, line); };
  EXPECT_EQ(form(""), OutputForm::kTable);
  EXPECT_EQ(form("-o json"), OutputForm::kJson);
  EXPECT_EQ(form("--output=yaml"), OutputForm::kYaml);
  EXPECT_EQ(form("-o csv"), OutputForm::kCsv);
  EXPECT_FALSE(KeepsNamesWhole());
  EXPECT_EQ(form("-o wide"), OutputForm::kTable);
  EXPECT_TRUE(KeepsNamesWhole());
  KeepNamesWhole(false);
}

TEST(ParseValues, Traces) {
  const auto trace = [](const std::string& line) {
    return Parsed<TraceArgs>([](CLI::App& app, TraceArgs& args) { AddTrace(app, args); }, line);
  };
  const TraceArgs args = trace(
      "a.csv b.csv --format bitbrains --group 3 --from 1d --to 2d --unit-cpu 32 --unit-memory 1TiB --strict");
  EXPECT_THAT(args.paths, ElementsAre("a.csv", "b.csv"));
  EXPECT_EQ(args.group, 3);
  EXPECT_EQ(args.unit_cpu_cores, 32);
  EXPECT_TRUE(args.strict);
  const auto options = ToTraceOptions(args);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->from_s, 86'400);
  EXPECT_EQ(options->to_s, 2 * 86'400);
  EXPECT_EQ(options->unit_memory_bytes, 1024.0 * 1024 * 1024 * 1024);
  EXPECT_FALSE(ToTraceOptions(trace("a.csv"))->from_s.has_value()) << "no time is not the time 0";
  const auto error = [&](const std::string& line) {
    return std::string(Message(ToTraceOptions(trace("a.csv " + line)).status()));
  };
  EXPECT_EQ(error("--from 2d --to 1d"), "--from must be before --to");
  EXPECT_EQ(error("--group 0"), "--group: expected 1 or more");
  EXPECT_THAT(error("--from soon"), testing::StartsWith("--from: \"soon\" is not a time"));
  EXPECT_THAT(error("--to never"), testing::StartsWith("--to: \"never\" is not a time"));
  EXPECT_THAT(error("--unit-memory big"),
              testing::StartsWith("--unit-memory: \"big\" is not an amount of memory"));
  EXPECT_THAT(error("--format xml"), HasSubstr("xml"));
}

TEST(ParseValues, FetchBackupAndImport) {
  const auto fetch = Parsed<FetchArgs>(
      AddFetch, "http://p:9090 --out a.gz --last 42d --until 2026-03-01 --baseline request -q");
  EXPECT_EQ(fetch.connection.server, "http://p:9090");
  EXPECT_EQ(fetch.last, "42d");
  EXPECT_EQ(fetch.until, "2026-03-01");
  EXPECT_EQ(fetch.baseline, "request");
  EXPECT_TRUE(fetch.quiet);
  EXPECT_EQ(Parsed<FetchArgs>(AddFetch, "http://p --out a").last, "28d");
  EXPECT_EQ(Parsed<BackupArgs>(AddBackup, "copy").store, "tautd.db");
  EXPECT_EQ(Parsed<BackupArgs>(AddBackup, "copy --config a.yaml").config, "a.yaml");
  const auto import = Parsed<ImportArgs>(AddImport, "vpa - --floor upper --cluster east --rules r.yaml");
  EXPECT_EQ(import.file, "-");
  EXPECT_EQ(import.floor, "upper");
  EXPECT_EQ(import.cluster, "east");
}

TEST(ParseValues, ListsAreDividedByCommas) {
  const auto compact = Parsed<CompactArgs>(
      AddCompact,
      "m.csv j.csv --recommender peak,vpa --predictors a:k=1,b --trials 3 --pending 0.5 --set a=b --set c=d");
  EXPECT_THAT(compact.files.paths, ElementsAre("m.csv", "j.csv"));
  EXPECT_THAT(compact.engine.recommenders, ElementsAre("peak", "vpa"));
  EXPECT_THAT(compact.predictors, ElementsAre("a:k=1", "b"));
  EXPECT_THAT(compact.engine.set, ElementsAre("a=b", "c=d"));
  EXPECT_EQ(compact.trials, 3U);
  EXPECT_EQ(compact.pending_percent, 0.5);
  const auto simulate = Parsed<SimulateArgs>(
      AddSimulate, "--machines 10 --load 0.6 --compare best-fit,vpa --seed 7 --enough 5");
  EXPECT_EQ(simulate.made.cell.machines, 10U);
  EXPECT_EQ(simulate.made.cell.other_cpu, 0.6);
  EXPECT_EQ(simulate.made.cell.seed, 7U);
  EXPECT_THAT(simulate.compare, ElementsAre("best-fit", "vpa"));
  const auto of_trace = [](const auto& own) {
    return [own](CLI::App& app, auto& args) {
      AddTrace(app, args.trace);
      own(app, args);
    };
  };
  const auto economy = Parsed<EconomyArgs>(
      of_trace(AddEconomy),
      "a.csv --prices p --tiers a=slack,b=spare --capacity cpu=1,memory=2TiB --penalty 0.1");
  EXPECT_THAT(economy.tiers, ElementsAre("a=slack", "b=spare"));
  EXPECT_THAT(economy.capacity, ElementsAre("cpu=1", "memory=2TiB"));
  EXPECT_EQ(economy.penalty, "0.1");
  const auto overcommit = Parsed<OvercommitArgs>(
      of_trace(AddOvercommit),
      "a.csv --machines recorded --tiers a=0.6,b=0.4 --soft --kills k.csv --resource memory");
  EXPECT_EQ(overcommit.machines, kRecordedMachines);
  EXPECT_THAT(overcommit.tiers, ElementsAre("a=0.6", "b=0.4"));
  EXPECT_TRUE(overcommit.soft);
  EXPECT_THAT(overcommit.resources, ElementsAre("memory"));
}

TEST(ParseValues, ReplicasAreAbsentUnlessTyped) {
  struct Both {
    ReplayArgs replay;
    ReplicasArgs replicas;
  };
  const auto both = [](const std::string& line) {
    Both args;
    CLI::App app;
    for (const char* other : {"--settings", "--mode", "--policy"}) app.add_option(other);
    AddReplicas(app, args.replicas);
    app.parse(line);
    return args.replicas;
  };
  EXPECT_FALSE(both("").replicas);
  EXPECT_FALSE(both("--replicas").max_utilization.has_value())
      << "the default is no value: a settings file may say otherwise";
  const ReplicasArgs args = both(
      "--replicas --policies hpa,keda --target-utilization 0.7 --startup 90s --overload queue --signals q,r --capacity 250");
  EXPECT_THAT(args.policies, ElementsAre("hpa", "keda"));
  EXPECT_THAT(args.signals, ElementsAre("q", "r"));
  EXPECT_EQ(args.max_utilization, 0.7);
  EXPECT_EQ(args.startup, "90s");
  EXPECT_EQ(args.capacity, 250.0);
  EXPECT_FALSE(args.mean_tasks.has_value());
}

// Parses the commands that query a tautd. Their arguments are not accessible, so tests read the parsed options.
struct DaemonOptions {
  DaemonOptions() {
    AddDaemonCommands(commands);
    AddMoneyCommands(commands);
  }
  template <typename T = std::string>
  T Value(const std::string& line, const std::string& command, const std::string& option) {
    app.clear();
    app.parse(line);
    const CLI::App* at = &app;
    for (const std::string_view word : Split(std::string_view(command), ' ')) at = FindCommand(*at, word);
    return at->get_option(option)->as<T>();
  }
  CLI::App app{"", "taut"};
  CommandTable commands{app};
};

TEST(ParseValues, OfTheDaemon) {
  DaemonOptions o;
  EXPECT_EQ(o.Value<int>("get jobs --limit 1000", "get jobs", "--limit"), 1000);
  EXPECT_EQ(o.Value<int>("get jobs", "get jobs", "--limit"), 30);
  EXPECT_EQ(o.Value("get jobs -n shop", "get jobs", "--namespace"), "shop");
  EXPECT_EQ(o.Value("get jobs --group-by :class", "get jobs", "--group-by"), ":class");
  EXPECT_EQ(o.Value("get jobs", "get jobs", "--server"), "http://127.0.0.1:7070");
  EXPECT_EQ(o.Value("get decisions shop/web --kind oom_raise", "get decisions", "--job"), "shop/web");
  EXPECT_EQ(o.Value("get machines node-1 --sort memory_reclaimable", "get machines", "--sort"),
            "memory_reclaimable");
  EXPECT_EQ(o.Value("export", "export", "--format"), "yaml");
  EXPECT_EQ(o.Value("export --format report --by namespace,team", "export", "--by"), "namespace,team");
  EXPECT_EQ(o.Value("export", "export", "--values-path"), "{workload}.{container}.resources");
  EXPECT_THAT(o.Value<std::vector<std::string>>("set web mode=auto risk=0.01", "set", "changes"),
              ElementsAre("mode=auto", "risk=0.01"));
}

TEST(ParseValues, OfMoney) {
  DaemonOptions o;
  EXPECT_EQ(o.Value<int>("get costs --days 7", "get costs", "--days"), 7);
  EXPECT_EQ(o.Value("get capacity --over 30d --step 1d", "get capacity", "--over"), "30d");
  EXPECT_EQ(o.Value<int>("get bills --limit 1000000", "get bills", "--limit"), 1'000'000);
  EXPECT_EQ(o.Value("get requests --state queued --all", "get requests", "--state"), "queued");
  EXPECT_EQ(o.Value("budget", "budget", "action"), "list");
  EXPECT_THAT(
      o.Value<std::vector<std::string>>("budget split retail 10 a=60% b=40% --why x", "budget", "words"),
      ElementsAre("retail", "10", "a=60%", "b=40%"));
  EXPECT_THAT(o.Value<std::vector<std::string>>("admit cpu=2 memory=4GiB --group a", "admit", "words"),
              ElementsAre("cpu=2", "memory=4GiB"));
}

}  // namespace
}  // namespace taut::tools
