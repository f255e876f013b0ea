// The verbs of taut, one function each, with their arguments as plain structs: tools/cli/parse.cc fills them in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cli/connection.h"
#include "tools/cli/input.h"
#include "tools/sim/replay.h"

namespace taut::tools {

enum class OutputForm : uint8_t { kTable, kJson, kYaml, kCsv };

// What replay, explain and tune share.
struct EngineArgs {
  std::vector<std::string> recommenders;  // empty: all that jobs may have
  std::vector<std::string> resources;     // empty: both
  std::string warmup = "7d";
  std::string feedback = "none";
  std::string restart_delay = "10m";
  std::string mode = "recommend";
  std::vector<std::string> policy;  // key=value
  bool cap_at_owner = false;
  std::string compatibility;  // the version whose defaults hold; "": this program's
  std::string settings_file;
  std::vector<std::string> set;  // key=value
  int threads = 0;
};
// InvalidArgument names the argument.
absl::StatusOr<ReplayOptions> ToReplayOptions(const EngineArgs& args);
// InvalidArgument if the warm-up left nothing to score.
absl::Status CheckScored(const ReplayOptions& options, const ReplayResult& result);

struct ReplayArgs {
  TraceArgs trace;
  EngineArgs engine;
  std::string report, json, decisions;  // paths; empty: not written
  std::vector<std::string> stories;     // jobs to follow in the report
  std::string shown = "combined";       // the recommender the report opens with
  bool details = false;                 // print more than the table
  OutputForm output = OutputForm::kTable;
  bool quiet = false;
  std::string command_line;
};
int RunReplay(const ReplayArgs& args);

struct ExplainArgs {
  TraceArgs trace;  // no paths: the daemon is asked
  EngineArgs engine;
  ConnectionArgs connection;
  std::string job;
  std::string at;    // empty: the end of the trace
  bool all = false;  // of a trace: every recommender, not only the one that tautd uses
  OutputForm output = OutputForm::kTable;
  bool quiet = false;
};
int RunExplain(const ExplainArgs& args);
// From the daemon, as of now.
int RunExplainNow(const ExplainArgs& args);

struct TuneArgs {
  TraceArgs trace;
  EngineArgs engine;
  std::vector<std::string> sweep;  // key=value,value,...
  std::string weights;             // CSV of job,weight; empty: all 1
  double oom_days = 0.03;          // the share of OOM-days not to exceed
  double changes = 0.5;            // nor limit changes per job-day
  // Of --replicas: the share of time overloaded and the changes per job-day not to exceed, and the share of the
  // measured time on which nothing is chosen.
  double overloaded = 0.005, replica_changes = 1000, holdout = 0.3;
  std::string out;  // settings file to write; empty: none
  OutputForm output = OutputForm::kTable;
  bool quiet = false;
};
int RunTune(const TuneArgs& args);

struct GenerateArgs {
  std::string out;  // a .csv, a .csv.gz, or a directory for Google v3 form
  std::string format = "csv";
  int jobs = 200;
  int days = 28;
  uint64_t seed = 1;
  std::string start = "0";
  double unit_cpu_cores = 64;
  std::string unit_memory = "256GiB";
  bool quiet = false;
};
int RunGenerate(const GenerateArgs& args);

// --- Verbs that ask the daemon ---

struct DaemonArgs {
  ConnectionArgs connection;
  OutputForm output = OutputForm::kTable;
};

struct JobsArgs {
  DaemonArgs daemon;
  std::string search, mode, sort, order;  // sort "": the daemon's default; order "": as fits the sort
  int limit = 30;
  bool names = false;    // print names only
  std::string group_by;  // a label: totals for each of its values, not jobs
};
int RunJobs(const JobsArgs& args);

struct JobArgs {
  DaemonArgs daemon;
  std::string job;
};
int RunJob(const JobArgs& args);

struct SetArgs {
  DaemonArgs daemon;
  std::string job;
  std::vector<std::string> changes;  // key=value; none: show what is set
  std::string who;                   // "": the login name
  bool yes = false;                  // of many jobs: apply, and not only show
};
int RunSet(const SetArgs& args);

struct ExportArgs {
  DaemonArgs daemon;
  std::string form = "yaml", search;
  // Of the forms patch, kustomize and helm: settings, none, requests, limits or both.
  std::string cpu = "settings", memory = "settings";
  std::string values_path = "{workload}.{container}.resources";  // of the form helm
  std::string by = "namespace";                                  // of the form report: labels
};
int RunExport(const ExportArgs& args);

struct DecisionsArgs {
  DaemonArgs daemon;
  std::string job, kind;
  int limit = 20;
  bool follow = false;
};
int RunDecisions(const DecisionsArgs& args);

struct TopArgs {
  DaemonArgs daemon;
  std::string search, sort;  // sort "": the daemon's default
};
int RunTop(const TopArgs& args);

struct CostsArgs {
  DaemonArgs daemon;
  std::string by;           // a label or ":job"; "": the daemon's default
  std::optional<int> days;  // up to now
  std::string month;        // "2026-11"; "": none
  int limit = 30;
};
int RunCosts(const CostsArgs& args);

// taut get bills: what groups are billed by a running daemon.
struct BillsArgs {
  DaemonArgs daemon;
  std::string month;  // "2026-11"; "": this one
  std::string group;  // whose lines and jobs are shown; "": all groups
  int limit = 30;
  std::string focus;  // path, or "-": stdout; "": the bill is shown instead
};
int RunBills(const BillsArgs& args);

// taut get requests: quota of a running daemon, and requests for more.
struct RequestsArgs {
  DaemonArgs daemon;
  std::string action = "list";        // list, quota, check, make or end
  std::vector<std::string> words;     // check and make: KEY=VALUE; end: the request's number
  std::string state, group;           // list: only of these; "": all that have not ended. check, make: group=
  std::string tier, tasks, duration;  // check, make: as the words of these keys
  bool all = false;                   // list: those that have ended, too
  int limit = 100;
  std::string before;  // list: only those with a lower number; "": all
};
int RunRequests(const RequestsArgs& args);

// taut budget: the money of businesses and groups, and its ledger.
struct BudgetArgs {
  DaemonArgs daemon;
  std::string action = "list";     // list, show, ledger, or what is entered: grant, transfer, ...
  std::vector<std::string> words;  // as the help has it
  std::string why, until, key;     // key "": a random one
  int limit = 20;                  // of entries
  std::string before;              // ledger: only entries with a lower number; "": all
};
int RunBudget(const BudgetArgs& args);

struct StatusArgs {
  DaemonArgs daemon;
  bool ready = false;  // only whether it is, as a probe asks
  bool alive = false;  // only whether it answers, ready or not
};
int RunStatus(const StatusArgs& args);
int RunConfirmClock(const DaemonArgs& args);
int RunAgents(const DaemonArgs& args);

// taut get machines: what their tasks may use, reserve and use, and what is reclaimable.
struct MachinesArgs {
  DaemonArgs daemon;
  std::string name;  // of one machine; "": a list
  std::string source, search, sort, order;
  int limit = 30;
};
int RunMachines(const MachinesArgs& args);

// taut get capacity: lines of the cell over time, what can be sold, and how promises of it were kept.
struct CapacityArgs {
  DaemonArgs daemon;
  std::string over;  // a duration: the lines of this time, "" for none
  std::string step;  // a duration: of the lines; "" as it fits
  bool promises = false;
};
int RunCapacity(const CapacityArgs& args);

// taut get events: OOM kills, and what guards of machines' memory did.
struct EventsArgs {
  DaemonArgs daemon;
  std::string job, machine;
  int limit = 20;
};
int RunEvents(const EventsArgs& args);

// taut get promises: what was promised of limits, and what came.
int RunPromises(const DaemonArgs& args);

// --- For both ---

struct MappingTestArgs {
  std::vector<std::string> series;  // as ParseSeriesText; none: standard input, one a line
  std::string config;               // the daemon's file, for its rules; empty: the built-in ones
  std::string prometheus;           // URL: all its series that some rule is for
  bool jobs = false;                // the jobs that result, not each series; always with `prometheus`
  bool verbose = false;             // each series, and then the jobs
  ConnectionArgs connection;        // how to reach it; the server counts not
  OutputForm output = OutputForm::kTable;
};
// kExitFailed if a series that was named has no rule.
int RunMappingTest(const MappingTestArgs& args);

// The recommenders and the settings there are.
int RunList(const std::string& what);

}  // namespace taut::tools
