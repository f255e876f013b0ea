// Tests of the options of all commands: bad values with the option in the error, exclusions, old names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"
#include "tools/cli/run_taut.h"

namespace taut::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Parse, OfTheDaemonBadValuesNameTheirOption) {
  ExpectUsageErrors(
      {{"get jobs --limit 0", "--limit: Value 0 not in range"},
       {"get jobs --limit 1001", "--limit"},
       {"get jobs --limit many", "--limit"},
       {"get jobs --mode on", "--mode: invalid value \"on\": expected off, observe, canary, auto"},
       {"get jobs --order up", "--order: invalid value \"up\": expected asc, desc"},
       {"get jobs -o xml", "--output: invalid value \"xml\": expected table, wide, json, yaml, csv"},
       {"get jobs --output", "--output"},
       {"get decisions --kind sets", "--kind: invalid value \"sets\""},
       {"get machines --order x", "--order"},
       {"get events --limit -1", "--limit"},
       {"export --format toml", "--format: invalid value \"toml\": expected docker, yaml, csv, patch"},
       {"export --cpu all", "--cpu: invalid value \"all\": expected settings, none, requests, limits, both"},
       {"export --memory 1", "--memory"},
       {"get job", "job is required"},
       {"set", "job is required"}});
}

TEST(Parse, OptionsThatContradictEachOther) {
  ExpectUsageErrors({{"get jobs --group-by team --sort name", "--sort excludes --group-by"},
                     {"get jobs --sort name --group-by team", "excludes"},
                     {"get jobs --group-by team --order asc", "--order"},
                     {"get jobs --group-by team --names", "--names"},
                     {"status --alive --ready", "--ready excludes --alive"},
                     {"get quota a.yaml --file b.yaml", "--file"},
                     {"get bills cell.csv --month 2026-11", "--month"},
                     {"get bills cell.csv --group a", "--group"},
                     {"get bills --prices p.yaml", "--prices requires paths"},
                     {"get capacity --use a", "--use requires file"},
                     {"get capacity pool.csv --over 7d", "--over"},
                     {"restore a --config b --store c", "--store excludes --config"}});
}

TEST(Parse, OfReplicasOptionsNeedAndExcludeOthers) {
  ExpectUsageErrors(
      {{"replay load.csv --policies hpa", "--policies requires --replicas"},
       {"replay load.csv --seed 3", "--seed requires --replicas"},
       {"replay load.csv --usage", "--usage requires --replicas"},
       {"replay --replicas load.csv --recommender peak", "--replicas excludes --recommender"},
       {"replay --replicas load.csv --story a", "--replicas excludes --story"},
       {"tune --replicas load.csv --oom-days 0.1", "--replicas excludes --oom-days"},
       {"replay --replicas load.csv --from 3d", "--from requires --usage"},
       {"replay --replicas --usage a.csv --signals q", "--usage excludes --signals"},
       {"replay --replicas --usage a.csv --mean-tasks 3", "--usage excludes --mean-tasks"},
       {"replay --replicas a.csv --capacity 3 --mean-tasks 3", "--capacity excludes --mean-tasks"},
       {"replay --replicas a.csv --overload drop",
        "--overload: invalid value \"drop\": expected shed, queue"},
       {"replay --replicas a.csv --seed -3", "--seed"},
       {"tune a.csv --holdout 0.1", "--holdout requires --replicas"}});
}

TEST(Parse, OfFilesBadValuesNameTheirOption) {
  ExpectUsageErrors(
      {{"replay", "paths is required"},
       {"tune", "paths is required"},
       {"analyze", "paths is required"},
       {"overcommit", "paths is required"},
       {"economy cell.csv", "--prices is required"},
       {"economy cell.csv --prices p --limit 0", "--limit"},
       {"compact --score best", "--score: invalid value \"best\": expected"},
       {"compact --trials many", "--trials"},
       {"simulate --score x", "--score"},
       {"overcommit a.csv --machines real", "--machines: invalid value \"real\": expected made, recorded"},
       {"overcommit a.csv --seed x", "--seed"},
       {"replay a.csv --threads x", "--threads"},
       {"trace fetch http://x", "--out is required"},
       {"trace fetch http://x --out a --baseline usage",
        "--baseline: invalid value \"usage\": expected limit, request"},
       {"trace fetch --out a", "url is required"},
       {"trace generate", "out is required"},
       {"trace generate a.csv --jobs few", "--jobs"},
       {"trace import vpb a.json", "what: invalid value \"vpb\": expected vpa"},
       {"trace import vpa a.json --floor most",
        "--floor: invalid value \"most\": expected lower, target, upper"},
       {"backup", "folder is required"},
       {"completion tcsh", "shell: invalid value \"tcsh\": expected bash, zsh, fish"}});
}

// CLI11 would read "-1" as the largest number of 64 bits.
TEST(Parse, NumbersThatMayNotBeNegativeNameTheirRange) {
  const std::string of_64_bits = "expected a whole number from 0 to 18446744073709551615",
                    of_32_bits = "expected a whole number from 0 to 4294967295";
  for (const char* command : {"overcommit a.csv", "compact", "simulate", "trace generate a.csv",
                              "replay --replicas a.csv", "tune --replicas a.csv"}) {
    for (const char* value : {"-1", "1.5", "0x10", "18446744073709551616", "+1"})
      ExpectUsageErrors({{StrCat(command, " --seed ", value),
                          StrCat("--seed: invalid value \"", value, "\": ", of_64_bits)}});
  }
  for (const char* line :
       {"overcommit a.csv --machine-tasks", "overcommit a.csv --placements", "compact --machines",
        "compact --trials", "simulate --machines", "simulate --enough"}) {
    for (const char* value : {"-1", "4294967296", "few"})
      ExpectUsageErrors({{StrCat(line, " ", value), StrCat("invalid value \"", value, "\": ", of_32_bits)}});
  }
  ExpectUsageErrors({{"economy a.csv --prices p --threads -1", "--threads: invalid value \"-1\": expected a"},
                     {"compact --threads -1", "--threads: expected 0 (one per core) or more"},
                     {"simulate --threads -1", "--threads: expected 0 (one per core) or more"},
                     {"replay a.csv --threads -1", "--threads: expected 0 (one per core) or more"}});
}

TEST(Parse, TimesAndAmountsNameTheirOption) {
  ExpectUsageErrors({{"replay a.csv --from soon", "taut: --from: \"soon\" is not a time"},
                     {"replay a.csv --to soon", "taut: --to: \"soon\" is not a time"},
                     {"analyze a.csv --from -1", "taut: --from: "},
                     {"replay a.csv --unit-memory big", "taut: --unit-memory: \"big\" is not an amount"},
                     {"replay a.csv --spill-memory -1", "taut: --spill-memory: \"-1\" is not an amount"},
                     {"trace generate a.csv --start soon", "taut: --start: \"soon\" is not a time"},
                     {"trace generate a --format google2019 --unit-memory x", "taut: --unit-memory: \"x\""},
                     {"explain a.csv --job web --at soon", "taut: --at: \"soon\" is not a time"}});
}

TEST(Parse, HelpListsExcludedOptionsInOneOrder) {
  const std::string help = RunTaut("get jobs --help").out;
  EXPECT_THAT(help, HasSubstr("Excludes: --names --order --sort\n"));
  EXPECT_THAT(RunTaut("status --help").out, HasSubstr("--alive Excludes: --ready "));
}

TEST(Parse, OfMoneyBadValuesNameTheirOption) {
  ExpectUsageErrors({{"get costs --days 0", "--days"},
                     {"get costs --days 4001", "--days"},
                     {"get requests --state done",
                      "--state: invalid value \"done\": expected queued, admitted, running, ended"},
                     {"get requests --limit 10001", "--limit"},
                     {"budget spend", "action: invalid value \"spend\": expected list, show, ledger"},
                     {"budget --limit x", "--limit"},
                     {"get bills cell.csv", "a trace requires --prices FILE"}});
}

TEST(Parse, OfBudgetsTheWordsAreCheckedBeforeAnyRequest) {
  ExpectUsageErrors(
      {{"budget grant retail 5", "grant: --why is missing: the ledger keeps the reason"},
       {"budget grant retail --why x", "grant: expected `taut budget grant HOLDER AMOUNT --why ...`"},
       {"budget transfer a b --why x", "transfer: expected `taut budget transfer FROM TO AMOUNT --why"},
       {"budget split a 5 --why x", "split: expected `taut budget split FROM AMOUNT TO=SHARE%... --why"},
       {"budget split a 5 b --why x", "FROM AMOUNT TO=SHARE%..."},
       {"budget split a 5 b=50% b=50% --why x", "split: \"b\" is there twice"},
       {"budget freeze --why x", "freeze: expected `taut budget freeze HOLDER --why"},
       {"budget unfreeze a b --why x", "unfreeze: expected"},
       {"budget override a 5 --why x", "override: --until is missing"},
       {"budget show", "show: expected one business or group"},
       {"budget ledger a b", "ledger: expected one business or group"},
       {"budget list a", "list: expected no argument"}});
}

TEST(Parse, MistypedWordsAreSuggestedWithTheHelpToRead) {
  ExpectUsageErrors(
      {{"get jbos", "unknown command \"jbos\"; did you mean \"jobs\"?\nRun `taut get --help`.\n"},
       {"repaly a.csv", "did you mean \"replay\"?\nRun `taut --help`.\n"},
       {"get jobs --lmit 3",
        "unknown option \"--lmit\"; did you mean \"--limit\"?\nRun `taut get jobs --help`.\n"},
       {"get", "`taut get` requires one of: jobs, job, decisions"},
       {"bench-write", "run `taut-dev bench-write`"},
       {"help get jbos", "unknown command \"jbos\"; did you mean \"jobs\"?"}});
  EXPECT_THAT(RunTaut("evil\x1b[2J").error,
              AllOf(HasSubstr("unknown command \"evil\\x1b[2J\""), Not(HasSubstr("\x1b[2J"))));
}

TEST(Parse, OldNamesWarnWithTheNewName) {
  for (const auto& [old_name, now] : {std::pair{"jobs", "get jobs"},
                                      {"job", "get job"},
                                      {"decisions", "get decisions"},
                                      {"events", "get events"},
                                      {"promises", "get promises"},
                                      {"agents", "get agents"},
                                      {"machines", "get machines"},
                                      {"capacity", "get capacity"},
                                      {"actuary", "get capacity"},
                                      {"costs", "get costs"},
                                      {"bill", "get bills"},
                                      {"quota", "get quota"},
                                      {"requests list", "get requests"},
                                      {"fetch", "trace fetch"},
                                      {"import", "trace import"},
                                      {"generate", "trace generate"}}) {
    const Ran ran = RunTaut(StrCat(old_name, " --help"));
    EXPECT_EQ(ran.code, kExitOk) << old_name;
    EXPECT_EQ(ran.error, StrCat("taut: warning: `taut ", old_name, "` is now `taut ", now,
                                "`; the next release removes the old name\n"));
    EXPECT_THAT(ran.out, HasSubstr(StrCat("Usage: taut ", now, " "))) << old_name;
  }
  for (const auto& [other, now] : {std::pair{"get nodes", "get machines"},
                                   {"describe", "get job"},
                                   {"why", "explain"},
                                   {"recommend", "export"}}) {
    const Ran ran = RunTaut(StrCat(other, " --help"));
    EXPECT_EQ(ran.error, "") << other;
    EXPECT_THAT(ran.out, HasSubstr(StrCat("Usage: taut ", now, " "))) << other;
  }
}

TEST(Parse, HelpAndVersionGoToStandardOutput) {
  EXPECT_THAT(RunTaut(std::vector<std::string>{}).out,
              AllOf(HasSubstr("Ask a running tautd:"), HasSubstr("Help:\n  help version completion\n")));
  EXPECT_THAT(RunTaut("--version").out, StartsWith("taut "));
  EXPECT_EQ(RunTaut("version").out, RunTaut("-V").out);
  EXPECT_THAT(RunTaut("--help").out, AllOf(HasSubstr("Exit codes: 0 success"), HasSubstr("replay")));
  const Ran help = RunTaut("get jobs --help");
  EXPECT_EQ(help.code, kExitOk);
  EXPECT_THAT(help.out,
              AllOf(HasSubstr("--group-by LABEL"), HasSubstr("TAUT_SERVER"), Not(HasSubstr("Exit codes"))));
  EXPECT_THAT(RunTaut("--help get jobs").out, HasSubstr("Usage: taut get jobs "));
  EXPECT_EQ(RunTaut("help jobs").code, kExitOk) << "old names, too";
}

TEST(Parse, ListsAreOnStandardOutput) {
  for (const auto& [what, has] : {std::pair{"recommenders", "moving_window"},
                                  {"settings", "ensemble."},
                                  {"replicas", "hpa"},
                                  {"overcommit", "n-sigma"},
                                  {"experiments", "segregate"},
                                  {"setups", "base"}}) {
    const Ran ran = RunTaut(StrCat("list ", what));
    EXPECT_EQ(ran.code, kExitOk) << what << ran.error;
    EXPECT_THAT(ran.out, HasSubstr(has));
  }
  EXPECT_EQ(RunTaut("list nonsense").code, kExitUsage);
  EXPECT_THAT(RunTaut("completion zsh").out, StartsWith("#compdef taut"));
}

TEST(Parse, ATokenFileThatIsAbsentIsAnErrorBeforeAnyRequest) {
  for (const char* command : {"get jobs", "get costs", "status", "budget", "export"})
    ExpectUsageErrors({{StrCat(command, " --token-file /nonexistent/token"), "--token-file: "}});
  EXPECT_THAT(RunTaut("--token-file /nonexistent/token get jobs").error, HasSubstr("/nonexistent/token"))
      << "options may come first";
  EXPECT_EQ(RunTaut("get jobs --server ftp://x").code, kExitUsage);
}

TEST(Parse, ExplainNeedsAJob) {
  EXPECT_THAT(RunTaut("explain").error, HasSubstr("--job is required"));
  EXPECT_THAT(RunTaut("explain cell.csv.gz").error, HasSubstr("--job is required")) << "a file is no job";
  EXPECT_THAT(RunTaut("explain shop/web --token-file /nonexistent/token").error, HasSubstr("--token-file"))
      << "a word is a job";
}

}  // namespace
}  // namespace taut::tools
