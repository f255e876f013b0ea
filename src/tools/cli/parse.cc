// The options of the verbs and their help. This file and tools/cli/parse_daemon.* alone know CLI11.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>

#include "CLI/CLI.hpp"
#include "common/base/did_you_mean.h"
#include "common/base/strings.h"
#include "tools/cli/actuary_command.h"
#include "tools/cli/analyze_command.h"
#include "tools/cli/bill_command.h"
#include "tools/cli/cli.h"
#include "tools/cli/commands.h"
#include "tools/cli/compact_command.h"
#include "tools/cli/economy_command.h"
#include "tools/cli/import_command.h"
#include "tools/cli/parse_backup.h"
#include "tools/cli/parse_daemon.h"
#include "tools/cli/parse_fetch.h"
#include "tools/cli/parse_help.h"
#include "tools/cli/parse_overcommit.h"
#include "tools/cli/parse_replicas.h"
#include "tools/cli/quota_command.h"
#include "tools/cli/simulate_command.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

constexpr const char* kVersion = "taut 0.1.0";

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

constexpr const char* kReplayHelp =
    "Replays a trace through every recommender and prints slack, footprint, OOMs and limit changes.\n\n"
    "Examples:\n"
    "  taut replay 2013-07.csv.gz 2013-08.csv.gz --warmup 14d --report report.html\n"
    "  taut replay instance_usage-*.json.gz instance_events-*.json.gz --recommender vpa,ensemble,analogs\n"
    "  taut replay cell.csv.gz --recommender combined,moving_window+analogs   (CPU by moving_window, memory "
    "by "
    "analogs)\n"
    "  taut replay usage.csv --feedback oom-restart --decisions decisions.csv.gz --json result.json\n"
    "  taut replay usage.csv --mode auto --policy min_change=10%\n"
    "  taut replay --replicas load.csv --policies hpa,forecast --set hpa.target=0.6\n"
    "  taut replay --replicas load.csv --policies hpa,forecast --report replicas.html\n"
    "  taut replay --replicas load.csv --settings scaling.yaml   (as `taut tune --replicas` writes it)\n"
    "  taut replay --replicas load.csv --mode auto --policy replicas.change_period=1h   (as tautd orders)\n"
    "  taut replay --replicas load.csv --capacity 250 --startup 90s --overload queue --output json\n"
    "  taut replay --replicas --usage 2013-07.csv.gz 2013-08.csv.gz --policies hpa,forecast";

constexpr const char* kExplainHelp =
    "Explains the limits of one job: its usage, the candidates and their costs, and each step from the raw\n"
    "statistic to the final limit. With a trace: at one time of it. Without: the current limits in tautd.\n\n"
    "Examples:\n"
    "  taut explain --job shop/web\n"
    "  taut explain cell.csv.gz --job job-17\n"
    "  taut explain 2013-07.csv.gz --job 42 --at 2013-07-20T12:00 --recommender ensemble --resource memory";

constexpr const char* kTuneHelp =
    "Replays a trace with every combination of the swept settings and prints the frontier of footprint "
    "against\n"
    "OOM-days and changes; writes the cheapest settings within the targets for `taut replay --settings`. Of "
    "one "
    "resource:\n"
    "memory, or that of --resource.\n\n"
    "Examples:\n"
    "  taut tune cell.csv.gz --recommender ensemble --sweep ensemble.w_over=30,100,300 --out settings.yaml\n"
    "  taut tune cell.csv.gz --recommender moving_window --weights weights.csv   (CSV of job,weight)\n"
    "  taut tune --replicas load.csv --policies hpa,forecast --overloaded 0.002 --out scaling.yaml";

constexpr const char* kGenerateHelp =
    "Writes a synthetic trace; the same seed gives the same trace. For demonstrations and tests only.\n\n"
    "Examples:\n"
    "  taut generate cell.csv.gz\n"
    "  taut generate cell-v3 --format google2019 --jobs 50 --days 7 --seed 3";

void AddTrace(CLI::App& app, TraceArgs& a) {
  app.add_option("paths", a.paths, "files, directories or archives of the trace")->type_name("PATH");
  app.add_option("--format", a.format,
                 "auto, bitbrains, bitbrains-compact, google2019, google2011, alibaba2018, azure, csv")
      ->capture_default_str();
  app.add_option("--group", a.group, "group each N consecutive series as the tasks of one job")
      ->capture_default_str();
  app.add_option("--from", a.from, "skip usage before this time (seconds, 14d, or 2013-07-15[T12:00])");
  app.add_option("--to", a.to, "skip usage from this time on");
  app.add_option("--unit-cpu", a.unit_cpu_cores,
                 "cores of a trace's CPU unit, where it is normalised to a machine")
      ->capture_default_str();
  app.add_option("--unit-memory", a.unit_memory,
                 "memory of a trace's unit, where it is normalised to a machine")
      ->capture_default_str();
  app.add_option("--spill-memory", a.spill_memory,
                 "keep this much usage in memory, the rest in temporary files")
      ->capture_default_str();
  app.add_flag("--strict", a.strict, "stop at the first bad row");
}

void AddEngine(CLI::App& app, EngineArgs& a) {
  app.add_option(
         "--recommender", a.recommenders,
         "comma-separated: static, peak, vpa, moving_window, ensemble, analogs, work_function, combined "
         "(these by default), krr, crane; or one a resource as CPU+MEMORY, such as moving_window+analogs")
      ->delimiter(',')
      ->type_name("NAME,...");
  app.add_option("--resource", a.resources, "comma-separated: cpu, memory")
      ->delimiter(',')
      ->type_name("NAME,...");
  app.add_option("--warmup", a.warmup, "time at the start of the trace that is not scored (7d, 24h)")
      ->capture_default_str();
  app.add_option("--feedback", a.feedback,
                 "none: usage as recorded; oom-restart: a task over its memory limit is killed and restarted")
      ->capture_default_str();
  app.add_option("--restart-delay", a.restart_delay, "time until a killed task runs again")
      ->capture_default_str();
  app.add_flag("--cap-at-owner", a.cap_at_owner,
               "no recommender's limit is above the owner's limit (by default none is capped)");
  app.add_option("--settings", a.settings_file, "settings file (YAML); `taut list settings` lists the keys")
      ->type_name("FILE");
  app.add_option("--set", a.set, "one setting: key=value; may be repeated")->type_name("KEY=VALUE");
  app.add_option("--threads", a.threads, "threads; 0: one per core; the result does not depend on it")
      ->capture_default_str();
}

// What stands between a recommendation and a limit.
void AddMode(CLI::App& app, EngineArgs& a) {
  app.add_option(
         "--mode", a.mode,
         "recommend: every recommendation is a limit at once; observe, canary, auto: limits as tautd would "
         "show, try or set them")
      ->capture_default_str();
  app.add_option("--policy", a.policy,
                 "with --mode: a job setting that limits changes (min_change, change_period, maintenance, "
                 "version, watch_version, canary.*); may be repeated")
      ->type_name("KEY=VALUE");
}

void AddOutput(CLI::App& app, OutputForm& form, bool& quiet) {
  app.add_option_function<std::string>(
         "--output",
         [&form](const std::string& word) { form = word == "json" ? OutputForm::kJson : OutputForm::kTable; },
         "table or json")
      ->check(OneOf({"table", "json"}))
      ->default_str("table");
  app.add_flag("-q,--quiet", quiet, "no progress line");
}

void AddReplay(CLI::App& app, ReplayArgs& a) {
  AddTrace(app, a.trace);
  app.get_option("paths")->required();
  AddEngine(app, a.engine);
  AddMode(app, a.engine);
  app.add_flag(
      "--details", a.details,
      "also print which jobs have the OOM-days, what was promised and delivered, and what columns mean");
  app.add_option("--report", a.report, "write a self-contained HTML report")->type_name("FILE");
  app.add_option("--json", a.json, "write the result with figures for every job")->type_name("FILE");
  app.add_option("--decisions", a.decisions,
                 "write every limit and limit change: ts_s,job,resource,recommender,limit; with "
                 "--replicas: every step with its load, counts and reason")
      ->type_name("FILE");
  app.add_option("--story", a.stories, "show this job in detail in the report; may be repeated")
      ->type_name("JOB");
  app.add_option("--show", a.shown, "the recommender that the report shows first")->capture_default_str();
  AddOutput(app, a.output, a.quiet);
}

void AddExplain(CLI::App& app, ExplainArgs& a) {
  AddTrace(app, a.trace);
  AddEngine(app, a.engine);
  app.add_option("--job", a.job, "the job's name, or a part of it that no other job's has");
  app.add_flag("--all", a.all,
               "with a trace: explain every recommender (default: combined, which tautd uses)");
  app.add_option("--at", a.at, "the time (default: the end of the trace)");
  AddConnection(app, a.connection);
  AddOutputForm(app, a.output);
  app.add_flag("-q,--quiet", a.quiet, "no progress line");
}

// `taut explain JOB --server URL`: a lone word is the job. "" or what is missing.
std::string CompleteExplain(const CLI::App& app, ExplainArgs& a) {
  if (!a.job.empty()) return {};
  std::error_code none;
  const bool is_job = app.count("--server") > 0 && a.trace.paths.size() == 1 &&
                      !std::filesystem::exists(a.trace.paths.front(), none);
  if (!is_job) return "--job is required";
  a.job = a.trace.paths.front();
  a.trace.paths.clear();
  return {};
}

void AddTune(CLI::App& app, TuneArgs& a) {
  AddTrace(app, a.trace);
  app.get_option("paths")->required();
  AddEngine(app, a.engine);
  AddMode(app, a.engine);
  app.add_option("--sweep", a.sweep,
                 "key=value,value,...; may be repeated: all combinations are tried (default: a "
                 "grid for the recommender)")
      ->type_name("KEY=VALUES");
  app.add_option("--weights", a.weights, "CSV of job,weight; the weight of other jobs is 1")
      ->type_name("FILE");
  app.add_option("--oom-days", a.oom_days, "maximum share of OOM-days (CPU: throttled days)")
      ->capture_default_str();
  app.add_option("--changes", a.changes, "maximum of limit changes per job-day")->capture_default_str();
  app.add_option("--out", a.out,
                 "write the chosen settings to this file; where none are within the targets, the nearest")
      ->type_name("FILE");
  AddOutput(app, a.output, a.quiet);
}

void AddGenerate(CLI::App& app, GenerateArgs& a) {
  app.add_option("out", a.out, "file to write, .csv or .csv.gz; for google2019 a directory")->required();
  app.add_option("--format", a.format, "csv or google2019")->capture_default_str();
  app.add_option("--jobs", a.jobs, "jobs")->capture_default_str();
  app.add_option("--days", a.days, "days")->capture_default_str();
  app.add_option("--seed", a.seed, "seed; the same seed gives the same trace")->capture_default_str();
  app.add_option("--start", a.start, "time of the first window: seconds or a date")->capture_default_str();
  app.add_option("--unit-cpu", a.unit_cpu_cores, "cores of the CPU unit of google2019")
      ->capture_default_str();
  app.add_option("--unit-memory", a.unit_memory, "memory of the memory unit of google2019")
      ->capture_default_str();
  app.add_flag("-q,--quiet", a.quiet, "no output but errors");
}

// The command as typed, for the report.
std::string CommandLine(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  if (!words.empty()) words[0] = "taut";
  return Join(words, " ");
}

// `taut --help` has a line per command; `taut COMMAND --help` all of its help.
class ShortVerbs final : public CLI::Formatter {
 public:
  std::string make_subcommand(const CLI::App* verb) const override {
    const std::string all = verb->get_description();
    std::stringstream out;
    CLI::detail::format_help(out, verb->get_name(), all.substr(0, all.find("\n\n")), 14);
    return out.str();
  }
};

// What was probably meant, for a verb or an option that there is not; "" if all of them are known.
std::string Suggestion(const CLI::App& app, int argc, char** argv) {
  const CLI::App* verb = nullptr;
  std::vector<std::string> verbs;
  for (const CLI::App* s : app.get_subcommands(nullptr)) verbs.push_back(s->get_name());
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = std::string_view(argv[i]).substr(0, std::string_view(argv[i]).find('='));
    if (verb == nullptr && !word.starts_with("-")) {
      if (std::find(verbs.begin(), verbs.end(), word) == verbs.end()) {
        if (word == "feed" || word == "bench-write")
          return StrCat("\"", word, "\" is a command of taut-dev: run `taut-dev ", word, "`");
        const std::vector<std::string_view> names(verbs.begin(), verbs.end());
        return StrCat("unknown command \"", word, "\"", DidYouMean(word, names));
      }
      verb = app.get_subcommand(std::string(word));
    } else if (verb != nullptr && word == "test" && verb->get_name() == "mapping") {
      verb = verb->get_subcommand("test");
    } else if (verb != nullptr && word.starts_with("--")) {
      std::vector<std::string> options;
      for (const CLI::Option* o : verb->get_options()) {
        for (const std::string& name : o->get_lnames()) options.push_back("--" + name);
      }
      if (std::find(options.begin(), options.end(), word) != options.end()) continue;
      const std::vector<std::string_view> names(options.begin(), options.end());
      return StrCat("unknown option \"", word, "\"", DidYouMean(word, names));
    }
  }
  return {};
}

// The options that take a value of their own word, of any verb.
bool TakesValue(const CLI::App& app, std::string_view option) {
  for (const CLI::App* verb : app.get_subcommands(nullptr)) {
    for (const CLI::Option* o : verb->get_options()) {
      if (o->get_items_expected_max() > 0 && o->check_name(std::string(option))) return true;
    }
  }
  return false;
}

// The arguments with options that stand before the verb moved behind it: `taut --server URL jobs` is
// `taut jobs --server URL`. Without a verb they stay.
std::vector<std::string> VerbFirst(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  size_t at = 0;
  while (at < words.size() && words[at].starts_with("-")) {
    const bool has_value = words[at].find('=') == std::string::npos && TakesValue(app, words[at]);
    at += has_value ? 2 : 1;
  }
  if (at == 0 || at >= words.size()) return words;
  const auto verbs = app.get_subcommands(nullptr);
  const bool is_verb =
      std::ranges::any_of(verbs, [&](const CLI::App* v) { return v->get_name() == words[at]; });
  const auto about = [](const std::string& w) {
    return w == "-h" || w == "--help" || w == "-V" || w == "--version";
  };
  if (!is_verb || std::any_of(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at), about))
    return words;
  const auto verb = words.begin() + static_cast<std::ptrdiff_t>(at);
  std::rotate(words.begin(), verb, verb + 1);
  return words;
}

struct VerbGroup {
  const char* name;
  std::vector<std::string_view> verbs;
};
const std::vector<VerbGroup>& VerbGroups() {
  static const std::vector<VerbGroup> kGroups = {
      {"Ask a running tautd, and copy its store",
       {"jobs", "job", "explain", "set", "decisions", "export", "top", "status", "events", "promises",
        "agents", "machines", "capacity", "mapping", "confirm-clock", "backup", "restore"}},
      {"Money and quota of a running tautd", {"costs", "bills", "budget", "requests"}},
      {"Replay recorded usage",
       {"fetch", "replay", "tune", "analyze", "overcommit", "generate", "import", "list"}},
      {"Simulate a cell and its economy",
       {"compact", "simulate", "bill", "economy", "quota", "admit", "actuary"}},
      {"Help", {"help", "version", "completion"}}};
  return kGroups;
}

void GroupVerbs(CLI::App& app) {
  for (const VerbGroup& group : VerbGroups()) {
    for (const std::string_view name : group.verbs) app.get_subcommand(std::string(name))->group(group.name);
  }
}

// What `taut` alone prints.
std::string ShortHelp() {
  std::string out =
      "Recommends CPU and memory limits from measured usage, and replays recorded usage to evaluate "
      "them.\n\n";
  for (const VerbGroup& group : VerbGroups()) {
    std::string verbs;
    for (const std::string_view verb : group.verbs) StrAppend(&verbs, verbs.empty() ? "" : " ", verb);
    StrAppend(&out, group.name, ":\n", Wrapped(verbs, "  "));
  }
  return out +
         "\n`taut --help` has a line for each command, `taut COMMAND --help` its options and examples.\n";
}

// help, version, completion and man: about the command line itself.
class OwnVerbs {
 public:
  explicit OwnVerbs(CLI::App& app) : app_(app) {
    help_ = app.add_subcommand("help", "Prints the help of a command, as `taut COMMAND --help` does.");
    help_->add_option("command", about_, "the command; `mapping test` too")->type_name("COMMAND");
    version_ = app.add_subcommand("version", "Prints the version, as --version and -V do.");
    completion_ = app.add_subcommand("completion",
                                     "Prints the completion of taut for a shell.\n\nExamples:\n"
                                     "  source <(taut completion bash)\n"
                                     "  taut completion zsh > ~/.zfunc/_taut    (a folder of $fpath)");
    completion_->add_option("shell", shell_, "bash or zsh")->required()->check(OneOf({"bash", "zsh"}));
    man_ = app.add_subcommand("man", "Writes the man pages of taut and its commands into a folder.");
    man_->group("");  // for packages
    man_->add_option("folder", folder_, "existing folder")->required();
  }
  // nullopt: it is none of these.
  std::optional<int> Run() const {
    if (help_->parsed()) return Help();
    if (version_->parsed()) Print(StrCat(kVersion, "\n"));
    if (completion_->parsed()) Print(shell_ == "zsh" ? ZshCompletion(app_) : BashCompletion(app_));
    if (man_->parsed()) return WriteMan();
    return version_->parsed() || completion_->parsed() ? std::optional(kExitOk) : std::nullopt;
  }

 private:
  int Help() const {
    CLI::App* at = &app_;
    std::string name = "taut";
    for (const std::string& word : about_) {
      std::vector<std::string> names;
      CLI::App* next = nullptr;
      for (CLI::App* verb : at->get_subcommands(nullptr)) {
        names.push_back(verb->get_name());
        if (verb->get_name() == word) next = verb;
      }
      if (next == nullptr) {
        const std::vector<std::string_view> views(names.begin(), names.end());
        PrintError(StrCat("unknown command \"", Printable(word), "\"", DidYouMean(word, views)));
        return kExitUsage;
      }
      at = next;
      StrAppend(&name, " ", word);
    }
    Print(at->get_formatter()->make_help(at, name, CLI::AppFormatMode::Normal));
    return kExitOk;
  }
  bool WritePage(const CLI::App& app, const std::string& name, const std::string& command,
                 std::vector<std::string> see_also) const {
    const std::string path = StrCat(folder_, "/", name, ".1");
    const std::string text = ManPage(app, {name, command, kVersion, 1, std::move(see_also)});
    std::FILE* file = std::fopen(path.c_str(), "w");
    bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (file != nullptr) written = std::fclose(file) == 0 && written;
    if (!written) PrintError(StrCat("cannot write ", path));
    return written;
  }
  int WriteMan() const {
    std::vector<std::string> pages;
    for (const CLI::App* verb : app_.get_subcommands(nullptr)) {
      if (verb->get_group().empty()) continue;
      const std::string name = "taut-" + verb->get_name();
      if (!WritePage(*verb, name, "taut " + verb->get_name(), {"taut(1)"})) return kExitFailed;
      pages.push_back(name + "(1)");
    }
    return WritePage(app_, "taut", "taut", pages) ? kExitOk : kExitFailed;
  }

  CLI::App& app_;
  CLI::App *help_, *version_, *completion_, *man_;
  std::vector<std::string> about_;
  std::string shell_, folder_;
};

// The verb's exit code, or failure if what it printed did not arrive.
int Flushed(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  PrintError("cannot write the output: is the disk full?");
  return kExitFailed;
}

}  // namespace

int RunCli(int argc, char** argv) {
  KeepNamesWhole(!StdoutIsTerminal());
  CLI::App app{kAbout, "taut"};
  app.set_version_flag("-V,--version", kVersion);
  app.require_subcommand(1);
  ReplayArgs replay;
  ReplicasArgs replicas;
  OvercommitArgs overcommit;
  BillArgs bill;
  AnalyzeArgs analyze;
  ExplainArgs explain;
  TuneArgs tune;
  GenerateArgs generate;
  std::string listed = "recommenders";
  CLI::App* replay_app = app.add_subcommand("replay", kReplayHelp);
  AddReplay(*replay_app, replay);
  AddReplicas(*replay_app, replicas);
  CLI::App* explain_app = app.add_subcommand("explain", kExplainHelp);
  AddExplain(*explain_app, explain);
  CLI::App* tune_app = app.add_subcommand("tune", kTuneHelp);
  AddTune(*tune_app, tune);
  ReplicasArgs tune_replicas;
  AddTuneReplicas(*tune_app, tune, tune_replicas);
  CLI::App* analyze_app = app.add_subcommand("analyze", kAnalyzeHelp);
  AddTrace(*analyze_app, analyze.trace);
  AddAnalyze(*analyze_app, analyze);
  AddOutput(*analyze_app, analyze.output, analyze.quiet);
  CLI::App* overcommit_app = app.add_subcommand("overcommit", kOvercommitHelp);
  AddTrace(*overcommit_app, overcommit.trace);
  AddOvercommit(*overcommit_app, overcommit);
  AddOutput(*overcommit_app, overcommit.output, overcommit.quiet);
  CompactArgs compact;
  CLI::App* compact_app = app.add_subcommand("compact", kCompactHelp);
  AddCompact(*compact_app, compact);
  AddOutput(*compact_app, compact.output, compact.quiet);
  SimulateArgs simulate;
  CLI::App* simulate_app = app.add_subcommand("simulate", kSimulateHelp);
  AddSimulate(*simulate_app, simulate);
  AddOutput(*simulate_app, simulate.output, simulate.quiet);
  CLI::App* bill_app = app.add_subcommand("bill", kBillHelp);
  AddTrace(*bill_app, bill.trace);
  AddBill(*bill_app, bill);
  AddOutput(*bill_app, bill.output, bill.quiet);
  EconomyArgs economy;
  CLI::App* economy_app = app.add_subcommand("economy", kEconomyHelp);
  AddTrace(*economy_app, economy.trace);
  AddEconomy(*economy_app, economy);
  AddOutput(*economy_app, economy.output, economy.quiet);
  const QuotaVerbs quota_verbs(app);
  ActuaryArgs actuary;
  CLI::App* actuary_app = app.add_subcommand("actuary", kActuaryHelp);
  AddActuary(*actuary_app, actuary);
  FetchArgs fetch;
  CLI::App* fetch_app = app.add_subcommand("fetch", kFetchHelp);
  AddFetch(*fetch_app, fetch);
  BackupArgs backup, restore;
  CLI::App* backup_app = app.add_subcommand("backup", kBackupHelp);
  AddBackup(*backup_app, backup);
  CLI::App* restore_app = app.add_subcommand("restore", kRestoreHelp);
  AddBackup(*restore_app, restore);
  ImportArgs imported;
  CLI::App* import_app = app.add_subcommand("import", kImportHelp);
  AddImport(*import_app, imported);
  CLI::App* generate_app = app.add_subcommand("generate", kGenerateHelp);
  AddGenerate(*generate_app, generate);
  DaemonVerbs daemon_verbs(app);
  CLI::App* list_app =
      app.add_subcommand("list",
                         "Lists the recommenders, the settings with their defaults, the "
                         "replica policies or peak predictors with "
                         "theirs, the compaction experiments, or the setups of a simulated cell.");
  list_app->add_option("what", listed, "recommenders, settings, replicas, overcommit, experiments or setups")
      ->capture_default_str();
  OwnVerbs own(app);
  GroupVerbs(app);
  app.formatter(std::make_shared<ShortVerbs>());
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
  if (const std::optional<int> code = own.Run(); code.has_value()) return Flushed(*code);
  if (explain_app->parsed()) {
    if (const std::string missing = CompleteExplain(*explain_app, explain); !missing.empty()) {
      PrintError(missing);
      return kExitUsage;
    }
  }
  replay.command_line = CommandLine(argc, argv);
  if (replay_app->parsed())
    return Flushed(replicas.replicas ? RunReplicas(replay, replicas) : RunReplay(replay));
  if (explain_app->parsed()) return Flushed(RunExplain(explain));
  if (tune_app->parsed())
    return Flushed(tune_replicas.replicas ? RunTuneReplicas(tune, tune_replicas) : RunTune(tune));
  if (analyze_app->parsed()) return Flushed(RunAnalyze(analyze));
  if (overcommit_app->parsed()) return Flushed(RunOvercommit(overcommit));
  if (compact_app->parsed()) return Flushed(RunCompact(compact));
  if (simulate_app->parsed()) return Flushed(RunSimulate(simulate));
  if (bill_app->parsed()) return Flushed(RunBill(bill));
  if (economy_app->parsed()) return Flushed(RunEconomy(economy));
  if (const std::optional<int> code = quota_verbs.Run(); code.has_value()) return Flushed(*code);
  if (actuary_app->parsed()) return Flushed(RunActuary(actuary));
  if (fetch_app->parsed()) return Flushed(RunFetch(fetch));
  if (backup_app->parsed()) return Flushed(RunBackup(backup));
  if (restore_app->parsed()) return Flushed(RunRestore(restore));
  if (import_app->parsed()) return Flushed(RunImport(imported));
  if (generate_app->parsed()) return Flushed(RunGenerate(generate));
  if (const std::optional<int> code = daemon_verbs.Run(); code.has_value()) return Flushed(*code);
  return Flushed(RunList(listed));
}

}  // namespace taut::tools
