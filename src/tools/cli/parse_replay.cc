#include "tools/cli/parse_replay.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "tools/cli/cli.h"
#include "tools/cli/parse_daemon.h"
#include "tools/cli/parse_help.h"
#include "tools/cli/parse_replicas.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

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
    "  taut explain shop/web\n"
    "  taut explain cell.csv.gz --job job-17\n"
    "  taut explain 2013-07.csv.gz --job 42 --at 2013-07-20T12:00 --recommender ensemble --resource memory";

constexpr const char* kTuneHelp =
    "Replays a trace with every combination of the swept settings and prints the frontier of footprint "
    "against\n"
    "OOM-days and changes; writes the cheapest settings within the targets for `taut replay --settings`. "
    "Tunes\n"
    "one resource: memory, or --resource.\n\n"
    "Examples:\n"
    "  taut tune cell.csv.gz --recommender ensemble --sweep ensemble.w_over=30,100,300 --out "
    "settings.yaml\n"
    "  taut tune cell.csv.gz --recommender moving_window --weights weights.csv   (CSV of job,weight)\n"
    "  taut tune --replicas load.csv --policies hpa,forecast --overloaded 0.002 --out scaling.yaml";

constexpr const char* kGenerateHelp =
    "Writes a synthetic trace; the same seed gives the same trace. For demonstrations and tests only.\n\n"
    "Examples:\n"
    "  taut trace generate cell.csv.gz\n"
    "  taut trace generate cell-v3 --format google2019 --jobs 50 --days 7 --seed 3";

void AddEngine(CLI::App& app, EngineArgs& a) {
  app.add_option(
         "--recommender", a.recommenders,
         "comma-separated: static, peak, vpa, moving_window, ensemble, analogs, work_function, combined "
         "(these by default), boosted, krr, crane, recorded; or one per resource as CPU+MEMORY, such as "
         "moving_window+analogs")
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
  app.add_option("--compatibility", a.compatibility,
                 "version whose defaults apply to settings that are not given, such as 0.1.0; "
                 "docs/reference/configuration.md")
      ->type_name("VERSION");
  app.add_option("--settings", a.settings_file, "settings file (YAML); `taut list settings` lists the keys")
      ->type_name("FILE");
  app.add_option("--set", a.set, "one setting: key=value; may be repeated")->type_name("KEY=VALUE");
  app.add_option("--threads", a.threads, "threads; 0: one per core; the result does not depend on it")
      ->capture_default_str();
}

// Adds the options about the mode and the gate, which decide when a recommendation becomes a limit.
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

void AddReplay(CLI::App& app, ReplayArgs& a) {
  AddTrace(app, a.trace);
  app.get_option("paths")->required();
  AddEngine(app, a.engine);
  AddMode(app, a.engine);
  app.add_flag(
      "--details", a.details,
      "also print the jobs with the OOM-days, promised and delivered risk, and the meaning of columns");
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
  app.add_option("--job", a.job, "the job's name, or a unique part of it");
  app.add_flag("--all", a.all,
               "with a trace: explain every recommender (default: combined, which tautd uses)");
  app.add_option("--at", a.at, "the time (default: the end of the trace)");
  AddConnection(app, a.connection);
  AddOutputForm(app, a.output);
  app.add_flag("-q,--quiet", a.quiet, "no progress line");
}

// Returns true if `word` may be the name of a job, and false if it looks like a trace file.
bool MayBeJob(const CLI::App& app, const std::string& word) {
  std::error_code none;
  if (std::filesystem::exists(word, none)) return false;
  if (app.count("--server") > 0) return true;
  return std::ranges::none_of(std::array{".csv", ".gz", ".json", ".zip", ".tar", ".zst"},
                              [&](const char* ending) { return word.ends_with(ending); });
}

// Completes the arguments of explain, where `taut explain JOB` has the job as its only word. Returns the name of a
// missing argument; "" if the arguments are complete.
std::string CompleteExplain(const CLI::App& app, ExplainArgs& a) {
  if (!a.job.empty()) return {};
  const bool is_job = a.trace.paths.size() == 1 && MayBeJob(app, a.trace.paths.front());
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
                 "write the chosen settings to this file; if none are within the targets, the nearest ones")
      ->type_name("FILE");
  AddOutput(app, a.output, a.quiet);
}

void AddGenerate(CLI::App& app, GenerateArgs& a) {
  app.add_option("out", a.out, "file to write, .csv or .csv.gz; for google2019 a directory")->required();
  app.add_option("--format", a.format, "csv or google2019")->capture_default_str();
  app.add_option("--jobs", a.jobs, "jobs")->capture_default_str();
  app.add_option("--days", a.days, "days")->capture_default_str();
  app.add_option("--seed", a.seed, "seed; the same seed gives the same trace")
      ->check(NotNegative())
      ->capture_default_str();
  app.add_option("--start", a.start, "time of the first window: seconds or a date")->capture_default_str();
  app.add_option("--unit-cpu", a.unit_cpu_cores, "cores of the CPU unit of google2019")
      ->capture_default_str();
  app.add_option("--unit-memory", a.unit_memory, "memory of the memory unit of google2019")
      ->capture_default_str();
  app.add_flag("-q,--quiet", a.quiet, "no output but errors");
}

struct ReplayCommand {
  ReplayArgs replay;
  ReplicasArgs replicas;
};

struct TuneCommand {
  TuneArgs tune;
  ReplicasArgs replicas;
};

// Arguments of explain, with the parsed command, in which CompleteExplain() looks up the typed options.
struct ExplainCommand {
  ExplainArgs explain;
  const CLI::App* command = nullptr;
};

}  // namespace

void AddTrace(CLI::App& app, TraceArgs& a, const char* series_option) {
  app.add_option("paths", a.paths, "files, directories or archives of the trace")->type_name("PATH");
  app.add_option("--format", a.format,
                 "auto, bitbrains, bitbrains-compact, google2019, google2011, alibaba2018, azure, csv")
      ->capture_default_str();
  app.add_option(series_option, a.group, "group each N consecutive series as the tasks of one job")
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

void AddOutput(CLI::App& app, OutputForm& form, bool& quiet) {
  AddOutputForm(app, form);
  app.add_flag("-q,--quiet", quiet, "no progress line");
}

void AddReplayCommands(CommandTable& commands, const std::string& command_line) {
  commands.Add<ReplayCommand>(
      {"replay", CommandGroup::kLab, "Replays a trace through every recommender", kReplayHelp},
      [&](CLI::App& command, ReplayCommand& args) {
        args.replay.command_line = command_line;
        AddReplay(command, args.replay);
        AddReplicas(command, args.replicas);
      },
      [](const ReplayCommand& args) {
        return args.replicas.replicas ? RunReplicas(args.replay, args.replicas) : RunReplay(args.replay);
      });
  commands.Add<ExplainCommand>(
      {"explain",
       CommandGroup::kAsk,
       "Explains the limits of a job, from usage to the final limit",
       kExplainHelp,
       {},
       {{"why", "explain"}}},
      [](CLI::App& command, ExplainCommand& args) {
        args.command = &command;
        AddExplain(command, args.explain);
      },
      [](ExplainCommand args) {
        const std::string missing = CompleteExplain(*args.command, args.explain);
        if (missing.empty()) return RunExplain(args.explain);
        PrintError(missing);
        return kExitUsage;
      });
  commands.Add<TuneCommand>(
      {"tune", CommandGroup::kLab, "Sweeps settings over a trace and writes the cheapest ones", kTuneHelp},
      [](CLI::App& command, TuneCommand& args) {
        AddTune(command, args.tune);
        AddTuneReplicas(command, args.tune, args.replicas);
      },
      [](const TuneCommand& args) {
        return args.replicas.replicas ? RunTuneReplicas(args.tune, args.replicas) : RunTune(args.tune);
      });
}

void AddGenerateCommand(CommandTable& commands) {
  commands.Add<GenerateArgs>(
      {"trace generate", CommandGroup::kLab, "Writes a synthetic trace", kGenerateHelp, {"generate"}},
      AddGenerate, RunGenerate);
}

}  // namespace taut::tools
