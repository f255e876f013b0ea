// Commands of taut, one function per command. The arguments are plain structs, which the files parse*.cc fill.
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

// Arguments that replay, explain and tune have in common.
struct EngineArgs {
  std::vector<std::string> recommenders;  // names; empty: all recommenders that jobs may use
  std::vector<std::string> resources;     // names; empty: both resources
  std::string warmup = "7d";
  std::string feedback = "none";
  std::string restart_delay = "10m";
  std::string mode = "recommend";
  std::vector<std::string> policy;  // key=value
  bool cap_at_owner = false;
  std::string compatibility;  // version of taut whose defaults apply; "": this version
  std::string settings_file;
  std::vector<std::string> set;  // key=value
  int threads = 0;
};
// Converts the arguments. If an argument is invalid, returns InvalidArgument with its name.
absl::StatusOr<ReplayOptions> ToReplayOptions(const EngineArgs& args);
// Returns InvalidArgument if no day is left to score after the warm-up.
absl::Status CheckScored(const ReplayOptions& options, const ReplayResult& result);

struct ReplayArgs {
  TraceArgs trace;
  EngineArgs engine;
  std::string report, json, decisions;  // paths; empty: not written
  std::vector<std::string> stories;     // names of the jobs with a story in the report
  std::string shown = "combined";       // recommender that the report shows first
  bool details = false;                 // true: print more than the table
  OutputForm output = OutputForm::kTable;
  bool quiet = false;
  std::string command_line;
};
int RunReplay(const ReplayArgs& args);

struct ExplainArgs {
  TraceArgs trace;  // trace to explain; without paths the daemon is queried
  EngineArgs engine;
  ConnectionArgs connection;
  std::string job;
  std::string at;    // time to explain; empty: the end of the trace
  bool all = false;  // true: explain every recommender of a trace, not only tautd's
  OutputForm output = OutputForm::kTable;
  bool quiet = false;
};
int RunExplain(const ExplainArgs& args);
// Explains the current limits of a job, from the daemon's data.
int RunExplainNow(const ExplainArgs& args);

struct TuneArgs {
  TraceArgs trace;
  EngineArgs engine;
  std::vector<std::string> sweep;  // key=value,value,...
  std::string weights;             // path of a CSV with job,weight; empty: all weights are 1
  double oom_days = 0.03;          // maximum share of OOM-days
  double changes = 0.5;            // maximum number of limit changes per job-day
  // For --replicas: maximum share of overloaded time, maximum number of changes per job-day, and share of the
  // measured time that the choice does not use.
  double overloaded = 0.005, replica_changes = 1000, holdout = 0.3;
  std::string out;  // path of the settings file to write; empty: none
  OutputForm output = OutputForm::kTable;
  bool quiet = false;
};
int RunTune(const TuneArgs& args);

struct GenerateArgs {
  std::string out;  // path of a .csv or .csv.gz, or of a directory for the Google v3 format
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

// --- Commands that query the daemon ---

struct DaemonArgs {
  ConnectionArgs connection;
  OutputForm output = OutputForm::kTable;
};

struct JobsArgs {
  DaemonArgs daemon;
  std::string search, ns;  // `ns` is a namespace; "": all namespaces
  // `sort` "": the daemon's default. `order` "": the usual order for the sort key.
  std::string mode, sort, order;
  int limit = 30;
  bool names = false;    // true: print names only
  std::string group_by;  // label whose values are shown with totals, instead of jobs; "": jobs
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
  std::vector<std::string> changes;  // key=value; empty: show the current settings
  std::string who;                   // author of the change; "": the login name
  bool yes = false;                  // true: apply a change of many jobs instead of showing a preview
};
int RunSet(const SetArgs& args);

struct ExportArgs {
  DaemonArgs daemon;
  std::string form = "yaml", search, ns;
  // Fields that the forms patch, kustomize and helm change: settings, none, requests, limits or both.
  std::string cpu = "settings", memory = "settings";
  // path of a container's values, for the form helm
  std::string values_path = "{workload}.{container}.resources";
  std::string by = "namespace";  // labels by which the form report groups
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
  std::string search, ns, sort;  // `sort` "": the daemon's default
};
int RunTop(const TopArgs& args);

struct CostsArgs {
  DaemonArgs daemon;
  std::string by;           // label, or ":job" for single jobs; "": the daemon's default
  std::optional<int> days;  // days up to now; absent: the daemon's default
  std::string month;        // month such as "2026-11"; "": use `days`
  int limit = 30;
};
int RunCosts(const CostsArgs& args);

// taut get bills: bills of the groups from a running daemon.
struct BillsArgs {
  DaemonArgs daemon;
  std::string month;  // month such as "2026-11"; "": the current month
  std::string group;  // group whose lines and jobs are shown; "": all groups
  int limit = 30;
  std::string focus;  // path of a FOCUS file, or "-" for stdout; "": print the bill
};
int RunBills(const BillsArgs& args);

// taut get requests: quota of groups in a running daemon, and requests for quota.
struct RequestsArgs {
  DaemonArgs daemon;
  std::string action = "list";     // list, quota, check, make or end
  std::vector<std::string> words;  // check and make: KEY=VALUE; end: number of the request
  // For list: filters, where "" means all requests that have not ended. For check and make: `group` is the value
  // of the key group.
  std::string state, group;
  std::string tier, tasks, duration;  // check and make: values of the keys tier, tasks and duration
  bool all = false;                   // list: true to include requests that have ended
  int limit = 100;
  std::string before;  // list: only requests with a lower number; "": newest first
};
int RunRequests(const RequestsArgs& args);

// taut budget: budgets of businesses and groups, and their ledger.
struct BudgetArgs {
  DaemonArgs daemon;
  std::string action = "list";     // list, show, ledger, or the kind of a new entry: grant, transfer, ...
  std::vector<std::string> words;  // arguments of the action; see the help
  std::string why, until, key;     // `key` "": a random key
  int limit = 20;                  // number of ledger entries
  std::string before;              // ledger: only entries with a lower number; "": newest first
};
int RunBudget(const BudgetArgs& args);

struct StatusArgs {
  DaemonArgs daemon;
  bool ready = false;  // true: check only whether tautd is ready, for a readiness probe
  bool alive = false;  // true: check only whether tautd responds, for a liveness probe
};
int RunStatus(const StatusArgs& args);
int RunConfirmClock(const DaemonArgs& args);
int RunAgents(const DaemonArgs& args);

// taut get machines: limits, reservations, usage and reclaimable amounts of machines.
struct MachinesArgs {
  DaemonArgs daemon;
  std::string name;  // name of the shown machine; "": all machines
  std::string source, search, sort, order;
  int limit = 30;
};
int RunMachines(const MachinesArgs& args);

// taut get capacity: capacity of the cell over time, capacity for sale, and the record of past promises.
struct CapacityArgs {
  DaemonArgs daemon;
  std::string over;  // duration up to now whose lines are shown; "": no lines
  std::string step;  // duration of a step of the lines; "": the daemon's choice
  bool promises = false;
};
int RunCapacity(const CapacityArgs& args);

// taut get events: OOM kills, and actions of machines' memory guards.
struct EventsArgs {
  DaemonArgs daemon;
  std::string job, machine;
  int limit = 20;
};
int RunEvents(const EventsArgs& args);

// taut get promises: compares promised with observed rates of usage above the limit.
int RunPromises(const DaemonArgs& args);

// --- Commands for a running daemon or for files ---

struct MappingTestArgs {
  // Series in the format of ParseSeriesText(); empty: read one series per line from standard input.
  std::vector<std::string> series;
  std::string config;         // path of a tautd.yaml with mapping rules; empty: the built-in rules
  std::string prometheus;     // URL of a Prometheus; tests every series that a rule may match
  bool jobs = false;          // true: show jobs instead of series; implied by `prometheus`
  bool verbose = false;       // true: show the series before the jobs
  ConnectionArgs connection;  // connection to the Prometheus; `server` is ignored
  OutputForm output = OutputForm::kTable;
};
// Returns kExitFailed if a rule is missing for a series of `series`.
int RunMappingTest(const MappingTestArgs& args);

// Lists the recommenders or the settings.
int RunList(const std::string& what);

}  // namespace taut::tools
