// The command line of taut. Only this file, parse_*, command_table.*, typed_words.* and own_commands.* may include
// CLI11.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "common/base/strings.h"
#include "common/base/version.h"
#include "tools/cli/analyze_command.h"
#include "tools/cli/cli.h"
#include "tools/cli/command_table.h"
#include "tools/cli/commands.h"
#include "tools/cli/compact_command.h"
#include "tools/cli/economy_command.h"
#include "tools/cli/embedded.h"
#include "tools/cli/import_command.h"
#include "tools/cli/own_commands.h"
#include "tools/cli/parse_backup.h"
#include "tools/cli/parse_daemon.h"
#include "tools/cli/parse_fetch.h"
#include "tools/cli/parse_money.h"
#include "tools/cli/parse_overcommit.h"
#include "tools/cli/parse_replay.h"
#include "tools/cli/simulate_command.h"
#include "tools/cli/terminal.h"
#include "tools/cli/typed_words.h"

namespace taut::tools {
namespace {

constexpr const char* kAbout =
    "Recommends CPU and memory limits from measured usage, and replays recorded usage to evaluate them.\n"
    "Commands with a trace or a file need no daemon; the others query tautd (--server or TAUT_SERVER).\n\n"
    "Examples:\n"
    "  taut get jobs\n"
    "  taut explain --job shop/web\n"
    "  taut replay cell.csv.gz --report report.html";
constexpr const char* kExitCodes =
    "Results go to standard output; progress, warnings and errors to standard error.\n"
    "Exit codes: 0 success, 1 failed, 2 invalid arguments or settings, 3 interrupted (the result is "
    "partial).";

struct ListArgs {
  std::string what = "recommenders";
};

// Returns a function that adds the trace options, the command's own options and the output options, in this order.
template <typename Args, typename Options>
auto OfTrace(const Options& own) {
  return [own](CLI::App& command, Args& args) {
    AddTrace(command, args.trace);
    own(command, args);
    AddOutput(command, args.output, args.quiet);
  };
}

// Returns a function that adds the command's own options and then the output options.
template <typename Args, typename Options>
auto WithOutput(const Options& own) {
  return [own](CLI::App& command, Args& args) {
    own(command, args);
    AddOutput(command, args.output, args.quiet);
  };
}

constexpr CommandGroup kLab = CommandGroup::kLab;

void AddAnalysisCommands(CommandTable& commands) {
  commands.Add<AnalyzeArgs>(
      {"analyze", kLab, "Analyses a trace: inequality, tiers, slack, delays, shapes", kAnalyzeHelp},
      OfTrace<AnalyzeArgs>(AddAnalyze), RunAnalyze);
  commands.Add<OvercommitArgs>(
      {"overcommit", kLab, "Predicts the usage peaks of machines and compares them with what came",
       kOvercommitHelp},
      OfTrace<OvercommitArgs>(AddOvercommit), RunOvercommit);
  commands.Add<CompactArgs>(
      {"compact", kLab, "Computes how many machines the workload of a cell needs", kCompactHelp},
      WithOutput<CompactArgs>(AddCompact), RunCompact);
  commands.Add<SimulateArgs>(
      {"simulate", kLab, "Runs a cell over time: waits, preemptions, evictions, utilisation", kSimulateHelp},
      WithOutput<SimulateArgs>(AddSimulate), RunSimulate);
  commands.Add<EconomyArgs>(
      {"economy", kLab, "Runs a shared pool over a trace: sales, promises, bills", kEconomyHelp},
      OfTrace<EconomyArgs>(AddEconomy), RunEconomy);
}

void AddTraceCommands(CommandTable& commands) {
  commands.AddWord({"trace", kLab, "Gets traces: fetch, import, generate",
                    "Gets traces: from a Prometheus, from a Vertical Pod Autoscaler, or generated.\n\n"
                    "Examples:\n"
                    "  taut trace fetch http://prometheus:9090 --out history.csv.gz\n"
                    "  taut trace generate cell.csv.gz --jobs 200 --days 28"});
  commands.Add<FetchArgs>(
      {"trace fetch", kLab, "Reads usage from a Prometheus into a file", kFetchHelp, {"fetch"}}, AddFetch,
      RunFetch);
  commands.Add<ImportArgs>(
      {"trace import", kLab, "Reads the checkpoints of a Vertical Pod Autoscaler", kImportHelp, {"import"}},
      AddImport, RunImport);
  AddGenerateCommand(commands);
}

void AddOperateCommands(CommandTable& commands) {
  constexpr CommandGroup kOperate = CommandGroup::kOperate;
  commands.Add<BackupArgs>(
      {"backup", kOperate, "Copies tautd's store into a new folder, also while it runs", kBackupHelp},
      AddBackup, RunBackup);
  commands.Add<BackupArgs>({"restore", kOperate, "Copies a backup to where tautd's store is", kRestoreHelp},
                           AddBackup, RunRestore);
}

void AddListCommand(CommandTable& commands) {
  commands.Add<ListArgs>(
      {"list", kLab, "Lists recommenders, settings, policies, experiments",
       "Lists the recommenders, the settings with their defaults, the replica policies or peak predictors "
       "with theirs, the compaction experiments, or the setups of a simulated cell."},
      [](CLI::App& command, ListArgs& args) {
        command
            .add_option("what", args.what,
                        "recommenders, settings, replicas, overcommit, experiments or setups")
            ->capture_default_str();
      },
      [](const ListArgs& args) { return RunList(args.what); });
}

// Returns `code`, or kExitFailed if standard output could not be written.
int Flushed(int code) {
  if (CurrentConsole() != nullptr) return code;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  PrintError("cannot write the output: is the disk full?");
  return kExitFailed;
}

// Parses the command line. Returns nullopt if a command is to run, else the exit code.
std::optional<int> Parse(const CommandTable& commands, int argc, char** argv) {
  CLI::App& app = commands.program();
  if (argc <= 1) {
    Print(commands.ShortHelp());
    return Flushed(kExitOk);
  }
  std::string renamed;
  std::vector<std::string> words = CommandFirst(commands, argc, argv, renamed);
  if (!renamed.empty()) Warn(StrCat("warning: ", renamed));
  const std::vector<std::string> typed = words;
  try {
    std::ranges::reverse(words);  // CLI11 expects the words in reverse order
    app.parse(words);
  } catch (const CLI::Success& e) {
    return app.exit(e);  // the user passed --help or --version
  } catch (const CLI::ParseError& e) {
    const std::string suggestion = Suggestion(app, typed);
    PrintError(suggestion.empty() ? std::string_view(e.what()) : suggestion);
    if (CurrentConsole() == nullptr)
      std::fputs(StrCat("Run `taut ", NameOfCommand(app, typed), "--help`.\n").c_str(), stderr);
    return kExitUsage;
  }
  return std::nullopt;
}

// The program of all commands.
struct Program {
  explicit Program(const std::string& command_line) {
    app.set_version_flag("-V,--version", StrCat("taut ", kVersion));
    app.require_subcommand(1);
    AddDaemonCommands(commands);
    AddMoneyCommands(commands);
    AddReplayCommands(commands, command_line);
    AddAnalysisCommands(commands);
    AddListCommand(commands);
    AddTraceCommands(commands);
    AddOperateCommands(commands);
    AddOwnCommands(commands);
    app.footer(kExitCodes);  // set after the commands are added, because they would inherit the footer
  }

  CLI::App app{kAbout, "taut"};
  CommandTable commands{app};
};

}  // namespace

int RunCli(int argc, char** argv) {
  KeepNamesWhole(!StdoutIsTerminal());
  const Program program(CommandLine(argc, argv));
  if (const std::optional<int> code = Parse(program.commands, argc, argv); code.has_value()) return *code;
  return Flushed(program.commands.Run().value_or(kExitUsage));
}

int RunCli(std::vector<std::string> words) {
  words.insert(words.begin(), "taut");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  const bool whole = KeepsNamesWhole();
  const int code = RunCli(static_cast<int>(argv.size()), argv.data());
  KeepNamesWhole(whole);
  return code;
}

int RunEmbedded(const std::vector<std::string>& words, Console& console) {
  const UseConsole use(console);
  return RunCli(words);
}

std::vector<CommandOption> OptionsOf(std::string_view command) {
  const Program program("");
  const CLI::App* at = &program.app;
  for (const std::string_view word : Split(command, ' ')) {
    if (at != nullptr) at = FindCommand(*at, word);
  }
  std::vector<CommandOption> out;
  if (at == nullptr) return out;
  for (const CLI::Option* option : at->get_options()) {
    if (option->get_group().empty()) continue;
    out.push_back({.name = option->get_single_name(),
                   .type = option->get_type_name(),
                   .help = option->get_description(),
                   .default_value = option->get_default_str(),
                   .is_flag = option->get_items_expected_max() == 0,
                   .is_list = option->get_items_expected_max() > 1});
  }
  return out;
}

}  // namespace taut::tools
