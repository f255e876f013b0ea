// The command line of taut. With parse_*.*, verb_list.h, typed_words.* and own_verbs.* the only code that
// knows CLI11.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "common/base/strings.h"
#include "common/base/version.h"
#include "tools/cli/actuary_command.h"
#include "tools/cli/analyze_command.h"
#include "tools/cli/bill_command.h"
#include "tools/cli/cli.h"
#include "tools/cli/commands.h"
#include "tools/cli/compact_command.h"
#include "tools/cli/economy_command.h"
#include "tools/cli/import_command.h"
#include "tools/cli/own_verbs.h"
#include "tools/cli/parse_backup.h"
#include "tools/cli/parse_daemon.h"
#include "tools/cli/parse_fetch.h"
#include "tools/cli/parse_money.h"
#include "tools/cli/parse_overcommit.h"
#include "tools/cli/parse_replay.h"
#include "tools/cli/quota_command.h"
#include "tools/cli/simulate_command.h"
#include "tools/cli/terminal.h"
#include "tools/cli/typed_words.h"
#include "tools/cli/verb_list.h"

namespace taut::tools {
namespace {

constexpr const char* kAbout =
    "Recommends CPU and memory limits from measured usage, and replays recorded usage to evaluate them.\n"
    "replay, explain TRACE, tune, analyze, overcommit, compact, simulate, bill, economy, quota, admit,\n"
    "actuary, import and generate need no daemon; fetch asks a Prometheus. The other commands query\n"
    "tautd, to which taut-dev feed sends the metrics of a simulated cluster.\n\n"
    "Examples:\n"
    "  taut fetch http://prometheus:9090 --out history.csv.gz   (then: taut replay history.csv.gz)\n"
    "  taut generate cell.csv.gz --jobs 200 --days 28\n"
    "  taut replay cell.csv.gz --report report.html\n"
    "  taut explain cell.csv.gz --job job-17 --at 20d\n"
    "  taut tune cell.csv.gz --recommender ensemble --out settings.yaml\n"
    "  taut-dev feed --history 21d    (then: taut top)\n"
    "  taut explain --job shop/web --server http://127.0.0.1:7070\n\n"
    "Results go to standard output; progress, warnings and errors to standard error. Colours only on a "
    "terminal, and\n"
    "not where NO_COLOR is set or TERM is dumb.\n"
    "Exit codes: 0 success, 1 failed, 2 invalid arguments or settings, 3 interrupted (the result is "
    "partial).";

struct ListArgs {
  std::string what = "recommenders";
};

// Options of a command that reads a trace and prints a result, about its own in between.
template <typename Args, typename Options>
auto OfTrace(const Options& own) {
  return [own](CLI::App& verb, Args& args) {
    AddTrace(verb, args.trace);
    own(verb, args);
    AddOutput(verb, args.output, args.quiet);
  };
}

// The same of one that reads no trace.
template <typename Args, typename Options>
auto WithOutput(const Options& own) {
  return [own](CLI::App& verb, Args& args) {
    own(verb, args);
    AddOutput(verb, args.output, args.quiet);
  };
}

void AddAnalysisVerbs(VerbList& verbs) {
  verbs.Add<AnalyzeArgs>("analyze", kAnalyzeHelp, OfTrace<AnalyzeArgs>(AddAnalyze), RunAnalyze);
  verbs.Add<OvercommitArgs>("overcommit", kOvercommitHelp, OfTrace<OvercommitArgs>(AddOvercommit),
                            RunOvercommit);
  verbs.Add<CompactArgs>("compact", kCompactHelp, WithOutput<CompactArgs>(AddCompact), RunCompact);
  verbs.Add<SimulateArgs>("simulate", kSimulateHelp, WithOutput<SimulateArgs>(AddSimulate), RunSimulate);
  verbs.Add<BillArgs>("bill", kBillHelp, OfTrace<BillArgs>(AddBill), RunBill);
  verbs.Add<EconomyArgs>("economy", kEconomyHelp, OfTrace<EconomyArgs>(AddEconomy), RunEconomy);
}

void AddFileVerbs(VerbList& verbs) {
  verbs.Add<ActuaryArgs>("actuary", kActuaryHelp, AddActuary, RunActuary);
  verbs.Add<FetchArgs>("fetch", kFetchHelp, AddFetch, RunFetch);
  verbs.Add<BackupArgs>("backup", kBackupHelp, AddBackup, RunBackup);
  verbs.Add<BackupArgs>("restore", kRestoreHelp, AddBackup, RunRestore);
  verbs.Add<ImportArgs>("import", kImportHelp, AddImport, RunImport);
  AddGenerateVerb(verbs);
}

void AddListVerb(VerbList& verbs) {
  verbs.Add<ListArgs>(
      "list",
      "Lists the recommenders, the settings with their defaults, the "
      "replica policies or peak predictors with "
      "theirs, the compaction experiments, or the setups of a simulated cell.",
      [](CLI::App& verb, ListArgs& args) {
        verb.add_option("what", args.what,
                        "recommenders, settings, replicas, overcommit, experiments or setups")
            ->capture_default_str();
      },
      [](const ListArgs& args) { return RunList(args.what); });
}

// The verb's exit code, or failure if what it printed did not arrive.
int Flushed(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  PrintError("cannot write the output: is the disk full?");
  return kExitFailed;
}

// absent: it was read, and a command is to run; else the exit code.
std::optional<int> Parse(CLI::App& app, int argc, char** argv) {
  if (argc <= 1) {
    Print(ShortHelp());
    return Flushed(kExitOk);
  }
  try {
    std::vector<std::string> words = VerbFirst(app, argc, argv);
    std::ranges::reverse(words);  // as CLI11 takes them
    app.parse(std::move(words));
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help, --version
  } catch (const CLI::ParseError& e) {
    const std::string suggestion = Suggestion(app, argc, argv);
    PrintError(suggestion.empty() ? std::string_view(e.what()) : suggestion);
    std::fputs("Run `taut --help` or `taut COMMAND --help`.\n", stderr);
    return kExitUsage;
  }
  return std::nullopt;
}

}  // namespace

int RunCli(int argc, char** argv) {
  KeepNamesWhole(!StdoutIsTerminal());
  CLI::App app{kAbout, "taut"};
  app.set_version_flag("-V,--version", StrCat("taut ", kVersion));
  app.require_subcommand(1);
  VerbList verbs(app);
  AddReplayVerbs(verbs, CommandLine(argc, argv));
  AddAnalysisVerbs(verbs);
  const QuotaVerbs quota(app);
  AddFileVerbs(verbs);
  const DaemonVerbs daemon(app);
  AddMoneyVerbs(verbs);
  AddListVerb(verbs);
  const OwnVerbs own(app);
  GroupVerbs(app);
  if (const std::optional<int> code = Parse(app, argc, argv); code.has_value()) return *code;
  std::optional<int> code = own.Run();
  if (!code.has_value()) code = verbs.Run();
  if (!code.has_value()) code = quota.Run();
  if (!code.has_value()) code = daemon.Run();
  return Flushed(code.value_or(kExitUsage));
}

}  // namespace taut::tools
