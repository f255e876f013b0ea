#include "tools/cli/parse_daemon.h"

#include "common/model/rollout.h"
#include "tools/cli/parse_help.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

constexpr const char* kGetHelp =
    "Lists or shows the state of a running tautd. quota, capacity and bills also answer from files, "
    "without tautd.\n\n"
    "Examples:\n"
    "  taut get jobs --sort memory_slack\n"
    "  taut get decisions shop/web --limit 5\n"
    "  taut get costs --by team -o csv";

constexpr const char* kJobsHelp =
    "Lists jobs with their usage, limits and recommended limits.\n\n"
    "Examples:\n"
    "  taut get jobs\n"
    "  taut get jobs -n shop -o csv --limit 1000\n"
    "  taut get jobs web --mode auto --sort cpu_slack\n"
    "  taut get jobs --group-by team\n"
    "  taut get jobs --sort name --limit 1000 --output json";

constexpr const char* kJobHelp =
    "Shows one job: its limits and recommended limits, the sum of its pod's containers, trials, pending "
    "changes\n"
    "and why they wait, notices, and its last decisions.\n\n"
    "Examples:\n"
    "  taut get job shop/web\n"
    "  taut get job shop/web --output yaml";

constexpr const char* kExportHelp =
    "Prints the recommendations for other tools: `docker update` commands, Kubernetes resources, patches of\n"
    "workloads, values of Helm charts or CSV, with their reasons, or a report of changes and savings. "
    "Changes nothing.\n\n"
    "Examples:\n"
    "  taut export --format docker > update.sh\n"
    "  taut export --format patch namespace=shop | kubectl diff -f - --server-side\n"
    "  taut export --format kustomize --cpu requests --memory both > kustomization.yaml\n"
    "  taut export --format helm --values-path '{workload}.resources' namespace=shop > values.yaml\n"
    "  taut export --format yaml namespace=shop\n"
    "  taut export --format csv > recommendations.csv\n"
    "  taut export --format report --by namespace,team\n"
    "  taut export --format report --cpu requests --output json";

constexpr const char* kSetHelp =
    "Changes settings of one job, or of all jobs that match a pattern; an empty value removes a setting. "
    "With a\n"
    "pattern, changes are only shown unless --yes is given. Without changes: shows all settings and the "
    "source of\n"
    "each.\n\n"
    "Examples:\n"
    "  taut set shop/web mode=auto memory.upper=4GiB\n"
    "  taut set shop/deployment/web cpu.startup_window=5m\n"
    "  taut set shop/web memory.upper= --who anna\n"
    "  taut set 'shop/*' mode=canary --yes\n"
    "  taut set shop/web";

constexpr const char* kDecisionsHelp =
    "Lists decisions, newest first, or follows new ones.\n\n"
    "Examples:\n"
    "  taut get decisions shop/web --limit 5\n"
    "  taut get decisions --kind roll_back\n"
    "  taut get decisions --follow --output json";

constexpr const char* kTopHelp =
    "Shows the fleet and its jobs, updated as windows close; q quits. Prints once if the output is not a "
    "terminal.\n\n"
    "Examples:\n"
    "  taut top\n"
    "  taut top --search namespace=shop --sort cpu_usage";

constexpr const char* kStatusHelp =
    "Shows the state of tautd: its clock, its store, its last pass, and received samples by outcome.\n\n"
    "Examples:\n"
    "  taut status\n"
    "  taut status --server https://taut.example:7070 --token-file token --output json";

constexpr const char* kConfirmClockHelp =
    "Confirms the clock of tautd's machine after a start more than an hour beyond the stored data (taut "
    "status says\n"
    "so). Windows, budget periods and requests then end by this clock. Needs the role operator.\n\n"
    "Examples:\n"
    "  taut confirm-clock\n"
    "  taut confirm-clock --server https://taut.example:7070 --token-file token";

constexpr const char* kAgentsHelp =
    "Lists the node agents (tautlet): connection state, tasks, resource use, and applied limits. Counts "
    "start at "
    "0\nwhen tautd starts.\n\n"
    "Examples:\n"
    "  taut get agents\n"
    "  taut get agents --server https://taut.example:7070 --token-file token --output json";

constexpr const char* kMachinesHelp =
    "Lists the machines of the cell (agents, Kubernetes nodes): capacity, limits, reservations and usage "
    "of their\ntasks, the predicted peak of the next 24 h, and the reclaimable amount at the risk target "
    "(machines.risk).\nWith a name: one machine with its tasks, and the reason of its prediction.\n\n"
    "Examples:\n"
    "  taut get machines\n"
    "  taut get machines --sort memory_reclaimable --limit 10\n"
    "  taut get machines node-17\n"
    "  taut get machines --source kubernetes --output json";

constexpr const char* kEventsHelp =
    "Lists OOM kills and acts of agents' guards of memory (throttle, release, kill), newest first, with "
    "the\nfigures that caused them.\n\n"
    "Examples:\n"
    "  taut get events\n"
    "  taut get events --job batch/reports\n"
    "  taut get events --machine host17 --limit 100 --output json";

constexpr const char* kPromisesHelp =
    "Compares the promised with the delivered risk of limits: the stated chance of a day above the limit, "
    "or the\ntarget share of work above the limits, by resource, class (CPU: latency sensitivity; memory: "
    "OOM tolerance)\nand size (the limit of a task). Delivered risk is counted at the limit in force, "
    "after bounds and the gate.\nPromises exceeded by more than a fifth, beyond the sampling error, come "
    "first; `taut status` warns of them.\n\n"
    "Examples:\n"
    "  taut get promises\n"
    "  taut get promises --output json\n"
    "  taut get promises --server https://taut.example:7070 --token-file token";

constexpr const char* kMappingHelp = "Tests the rules that map series to jobs.";
constexpr const char* kMappingTestHelp =
    "Shows for each series which rule matches it and the resulting job, task and kind of usage, or why no "
    "rule\n"
    "matches. Series are arguments, lines of standard input, or the series of a Prometheus, for which a "
    "table of the\nresulting jobs is printed (--verbose: each series).\n\n"
    "Examples:\n"
    "  taut mapping test "
    "'container_cpu_usage_seconds_total{namespace=\"shop\",pod=\"web-0\",container=\"app\"}'\n"
    "  taut mapping test --config tautd.yaml < series.txt\n"
    "  taut mapping test --prometheus http://127.0.0.1:9090";

// Returns the name of each resource between `before` and `after`, joined by " or ".
std::string OfResources(std::string_view before, std::string_view after) {
  std::string out;
  for (const Resource r : kResources) StrAppend(&out, out.empty() ? "" : " or ", before, Name(r), after);
  return out;
}

std::string JobSorts() {
  return StrCat(
      "name, mode, tasks, ooms, changed, saving_per_month (with prices); or ", OfResources("", "_"),
      " followed by usage, owner_limit, limit, would_be, slack or saved (default: the possible saving)");
}

void AddNamespace(CLI::App& app, std::string& ns) {
  app.add_option("-n,--namespace", ns, "only jobs whose label namespace begins with NAME")->type_name("NAME");
}

void AddJobs(CLI::App& app, JobsArgs& a) {
  AddNamespace(app, a.ns);
  app.add_option("search", a.search, "words that must all occur in the name, or in a label as key=value");
  app.add_option("--mode", a.mode, "off, observe, canary or auto")
      ->check(OneOf({"off", "observe", "canary", "auto"}));
  app.add_option("--sort", a.sort, JobSorts());
  app.add_option("--order", a.order, "asc or desc (default: asc for names, desc for figures)")
      ->check(OneOf({"asc", "desc"}));
  AddLimit(app, a.limit, "maximum number of rows", 1000);
  CLI::Option* names = app.add_flag("--names", a.names, "print only their names, one per line");
  app.add_option("--group-by", a.group_by,
                 StrCat("print totals and risk per value of this label, such as team, or of :class, :tasks, ",
                        OfResources(":", "_size"), ", instead of jobs"))
      ->type_name("LABEL")
      ->excludes(names)
      ->excludes(app.get_option("--sort"))
      ->excludes(app.get_option("--order"));
  AddDaemon(app, a.daemon);
}

void AddJob(CLI::App& app, JobArgs& a) {
  app.add_option("job", a.job, "the job's name, or a unique part of it")->required();
  AddDaemon(app, a.daemon);
}

void AddSet(CLI::App& app, SetArgs& a) {
  app.add_option("job", a.job,
                 "the job's name, a unique part of it, or a pattern of names: * is any text, "
                 "a|b is a or b")
      ->required();
  app.add_option("changes", a.changes, "settings to change; `taut set JOB` lists the keys")
      ->type_name("KEY=VALUE");
  app.add_option("--who", a.who, "name recorded with the change (default: the login name)");
  app.add_flag("--yes", a.yes, "with a pattern: apply the changes");
  AddDaemon(app, a.daemon);
}

void AddExport(CLI::App& app, ExportArgs& a) {
  AddNamespace(app, a.ns);
  app.add_option("search", a.search, "words that must all occur in the name, or in a label as key=value");
  app.add_option("--format", a.form, "docker, yaml, csv, patch, kustomize, helm or report")
      ->check(OneOf({"docker", "yaml", "csv", "patch", "kustomize", "helm", "report"}))
      ->capture_default_str();
  const CLI::Validator fields = OneOf({"settings", "none", "requests", "limits", "both"});
  app.add_option("--cpu", a.cpu,
                 "patch, kustomize, helm, report: amounts that the CPU recommendation sets: none, requests, "
                 "limits, both, or settings (by the job's settings)")
      ->check(fields)
      ->capture_default_str();
  app.add_option("--memory", a.memory, "patch, kustomize, helm, report: the same for memory")
      ->check(fields)
      ->capture_default_str();
  app.add_option("--values-path", a.values_path,
                 "helm: path of a container's values, with {namespace}, {kind}, {workload} and {container}")
      ->type_name("PATH")
      ->capture_default_str();
  app.add_option("--by", a.by, "report: labels of jobs to group by")
      ->type_name("LABEL,...")
      ->capture_default_str();
  AddDaemon(app, a.daemon);
}

void AddDecisions(CLI::App& app, DecisionsArgs& a) {
  app.add_option("job,--job", a.job, "only decisions of this job");
  app.add_option("--kind", a.kind, DecisionKindNames())
      ->check(OneOf({"would_set", "set", "try", "promote", "roll_back", "oom_raise", "release"}));
  AddLimit(app, a.limit, "maximum number of rows", 1000);
  app.add_flag("--follow", a.follow, "print new decisions until ^C");
  AddDaemon(app, a.daemon);
}

void AddTop(CLI::App& app, TopArgs& a) {
  AddNamespace(app, a.ns);
  app.add_option("--search", a.search, "words that must all occur in the name, or in a label as key=value");
  app.add_option("--sort", a.sort, JobSorts());
  AddDaemon(app, a.daemon);
}

void AddStatus(CLI::App& app, StatusArgs& a) {
  app.add_flag("--ready", a.ready,
               "only whether tautd is ready, which needs no token: exit code 0, or 1 with the reason");
  app.add_flag("--alive", a.alive,
               "only whether tautd answers, ready or not, which needs no token: exit code 0 or 1")
      ->excludes("--ready");
  AddDaemon(app, a.daemon);
}

void AddEvents(CLI::App& app, EventsArgs& a) {
  app.add_option("--job", a.job, "only events of this job");
  app.add_option("--machine", a.machine, "only acts of the guard of this machine (an agent's name)");
  AddLimit(app, a.limit, "maximum number of events", 1000);
  AddDaemon(app, a.daemon);
}

void AddMachines(CLI::App& app, MachinesArgs& a) {
  app.add_option("name", a.name, "show this machine");
  app.add_option("--source", a.source, "only machines of this source: agents or kubernetes");
  app.add_option("--search", a.search, "only machines with these words in the name or source");
  app.add_option(
      "--sort", a.sort,
      StrCat("name, source, tasks, or ", OfResources("", "_"),
             " and capacity, limits, reservations, usage, predicted, reclaimable or reclaimable_now"));
  app.add_option("--order", a.order, "asc or desc (default: names asc, figures desc)")
      ->check(OneOf({"asc", "desc"}));
  AddLimit(app, a.limit, "maximum number of machines", 1000);
  AddDaemon(app, a.daemon);
}

void AddMapping(CLI::App& app, MappingTestArgs& a) {
  app.add_option("series", a.series, "series as Prometheus prints them");
  app.add_option("--config", a.config, "the daemon's YAML file, for its rules")->type_name("FILE");
  app.add_option("--prometheus", a.prometheus, "test the series of this Prometheus")->type_name("URL");
  app.add_flag("--jobs", a.jobs, "show the resulting jobs instead of each series; default with --prometheus");
  app.add_flag("--verbose", a.verbose, "show each series, then the jobs");
  app.add_option("--token-file", a.connection.token_file, "file with its token")->type_name("FILE");
  app.add_option("--ca-file", a.connection.ca_file, "PEM file of the CAs to trust with https")
      ->type_name("FILE");
  AddOutputForm(app, a.output);
}

// Adds the subcommands of `get` that require a tautd. parse_money.cc adds the others.
void AddGetCommands(CommandTable& commands) {
  constexpr CommandGroup kAsk = CommandGroup::kAsk;
  commands.AddWord({"get", kAsk, "Lists or shows jobs, decisions, machines, costs and more", kGetHelp});
  commands.Add<JobsArgs>(
      {"get jobs", kAsk, "Jobs with usage, limits and recommended limits", kJobsHelp, {"jobs"}}, AddJobs,
      RunJobs);
  commands.Add<JobArgs>({"get job",
                         kAsk,
                         "One job: limits, trials, pending changes, notices",
                         kJobHelp,
                         {"job"},
                         {{"describe job", "get job"}, {"describe", "get job"}}},
                        AddJob, RunJob);
  commands.Add<DecisionsArgs>(
      {"get decisions", kAsk, "Decisions, newest first", kDecisionsHelp, {"decisions"}}, AddDecisions,
      RunDecisions);
  commands.Add<EventsArgs>(
      {"get events", kAsk, "OOM kills, and acts of agents' memory guards", kEventsHelp, {"events"}},
      AddEvents, RunEvents);
  commands.Add<DaemonArgs>({"get promises", kAsk, "Promised and delivered risk", kPromisesHelp, {"promises"}},
                           AddDaemon, RunPromises);
  commands.Add<DaemonArgs>(
      {"get agents", kAsk, "Agents of machines: connection, tasks, applied limits", kAgentsHelp, {"agents"}},
      AddDaemon, RunAgents);
  commands.Add<MachinesArgs>({"get machines",
                              kAsk,
                              "Machines: capacity, limits, usage, reclaimable",
                              kMachinesHelp,
                              {"machines"},
                              {{"get nodes", "get machines"}, {"get machine", "get machines"}}},
                             AddMachines, RunMachines);
}

}  // namespace

void AddLimit(CLI::App& app, int& limit, const char* help, int most) {
  app.add_option("--limit", limit, help)->capture_default_str()->check(CLI::Range(1, most));
}

void AddDaemon(CLI::App& app, DaemonArgs& a) {
  AddConnection(app, a.connection);
  AddOutputForm(app, a.output);
}

void AddConnection(CLI::App& app, ConnectionArgs& args, const char* url_option) {
  app.add_option(url_option, args.server, "URL of tautd")
      ->envname("TAUT_SERVER")
      ->capture_default_str()
      ->type_name("URL");
  app.add_option("--token-file", args.token_file, "file with the token")
      ->envname("TAUT_TOKEN_FILE")
      ->type_name("FILE");
  app.add_option("--ca-file", args.ca_file, "PEM file of the CAs to trust with https (default: the system's)")
      ->type_name("FILE");
}

void AddOutputForm(CLI::App& app, OutputForm& form) {
  app.add_option_function<std::string>(
         "-o,--output",
         [&form](const std::string& word) {
           form = word == "json"   ? OutputForm::kJson
                  : word == "yaml" ? OutputForm::kYaml
                  : word == "csv"  ? OutputForm::kCsv
                                   : OutputForm::kTable;
           if (word == "wide") KeepNamesWhole(true);
         },
         "table, wide (a table with whole names), json, yaml or csv")
      ->check(OneOf({"table", "wide", "json", "yaml", "csv"}))
      ->type_name("FORM")
      ->default_str("table");
}

void AddDaemonCommands(CommandTable& commands) {
  AddGetCommands(commands);
  constexpr CommandGroup kAsk = CommandGroup::kAsk, kChange = CommandGroup::kChange,
                         kOperate = CommandGroup::kOperate;
  commands.Add<TopArgs>({"top", kAsk, "Shows the fleet and its jobs, updated as windows close", kTopHelp},
                        AddTop, RunTop);
  commands.Add<StatusArgs>(
      {"status", kAsk, "Shows the state of tautd: clock, store, last pass, samples", kStatusHelp}, AddStatus,
      RunStatus);
  commands.Add<SetArgs>({"set", kChange, "Changes settings of one job or of many", kSetHelp}, AddSet, RunSet);
  commands.Add<ExportArgs>({"export",
                            kChange,
                            "Prints recommendations as patches, values, CSV or a report",
                            kExportHelp,
                            {},
                            {{"recommend", "export"}, {"diff", "export --format report"}}},
                           AddExport, RunExport);
  commands.Add<DaemonArgs>(
      {"confirm-clock", kOperate, "Confirms the clock of tautd's machine", kConfirmClockHelp}, AddDaemon,
      RunConfirmClock);
  commands.AddWord({"mapping", kOperate, "Tests the rules that map series to jobs", kMappingHelp});
  commands.Add<MappingTestArgs>(
      {"mapping test", kOperate, "Shows which rule matches each series", kMappingTestHelp}, AddMapping,
      RunMappingTest);
}

}  // namespace taut::tools
