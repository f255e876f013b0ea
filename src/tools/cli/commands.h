// Commands of taut: one function each, with their arguments as plain structs, which the parse*.cc files fill.
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

// Arguments that replay, explain and tune share.
struct EngineArgs {
  std::vector<std::string> recommenders;  // empty: all recommenders that jobs may use
  std::vector<std::string> resources;     // empty: both resources
  std::string warmup = "7d";
  std::string feedback = "none";
  std::string restart_delay = "10m";
  std::string mode = "recommend";
  std::vector<std::string> policy;  // key=value
  bool cap_at_owner = false;
  std::string compatibility;  // version whose defaults are used; "": the version of this program
  std::string settings_file;
  std::vector<std::string> set;  // key=value
  int threads = 0;
};
// Converts the arguments. An InvalidArgument error names the argument.
absl::StatusOr<ReplayOptions> ToReplayOptions(const EngineArgs& args);
// Returns InvalidArgument if no day is left to score after the warm-up.
absl::Status CheckScored(const ReplayOptions& options, const ReplayResult& result);

struct ReplayArgs {
  TraceArgs trace;
  EngineArgs engine;
  std::string report, json, decisions;  // paths; empty: not written
  std::vector<std::string> stories;     // jobs to follow in the report
  std::string shown = "combined";       // recommender that the report shows first
  bool details = false;                 // print more than the table
  OutputForm output = OutputForm::kTable;
  bool quiet = false;
  std::string command_line;
};
int RunReplay(const ReplayArgs& args);

struct ExplainArgs {
  TraceArgs trace;  // no paths: the daemon is queried
  EngineArgs engine;
  ConnectionArgs connection;
  std::string job;
  std::string at;    // time to explain; empty: the end of the trace
  bool all = false;  // for a trace: explain every recommender, not only tautd's
  OutputForm output = OutputForm::kTable;
  bool quiet = false;
};
int RunExplain(const ExplainArgs& args);
// Explains a job's limits from the daemon's current data.
int RunExplainNow(const ExplainArgs& args);

struct TuneArgs {
  TraceArgs trace;
  EngineArgs engine;
  std::vector<std::string> sweep;  // key=value,value,...
  std::string weights;             // CSV of job,weight; empty: all 1
  double oom_days = 0.03;          // highest allowed share of OOM-days
  double changes = 0.5;            // highest allowed number of limit changes per job-day
  // For --replicas: highest allowed share of overloaded time, highest allowed number of changes per job-day,
  // and share of the measured time that is not used for the choice.
  double overloaded = 0.005, replica_changes = 1000, holdout = 0.3;
  std::string out;  // settings file to write; empty: none
  OutputForm output = OutputForm::kTable;
  bool quiet = false;
};
int RunTune(const TuneArgs& args);

struct GenerateArgs {
  std::string out;  // a .csv, a .csv.gz, or a directory for the Google v3 format
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
  std::string search, ns;  // ns: name of the namespace; "": all namespaces
  // Empty `sort`: the daemon's default; empty `order`: the usual order of the sort key.
  std::string mode, sort, order;
  int limit = 30;
  bool names = false;    // print names only
  std::string group_by;  // name of a label: show totals for each value of the label instead of jobs
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
  std::vector<std::string> changes;  // key=value; empty: show the settings
  std::string who;                   // "": the login name
  bool yes = false;  // needed for a change of many jobs: apply the change, do not only preview it
};
int RunSet(const SetArgs& args);

struct ExportArgs {
  DaemonArgs daemon;
  std::string form = "yaml", search, ns;
  // For the forms patch, kustomize and helm: settings, none, requests, limits or both.
  std::string cpu = "settings", memory = "settings";
  std::string values_path = "{workload}.{container}.resources";  // path of the values in the form helm
  std::string by = "namespace";                                  // names of the labels in the form report
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
  std::string search, ns, sort;  // sort "": the daemon's default
};
int RunTop(const TopArgs& args);

struct CostsArgs {
  DaemonArgs daemon;
  std::string by;           // name of a label, or ":job"; "": the daemon's default
  std::optional<int> days;  // days up to now; absent: the daemon's default
  std::string month;        // "2026-11"; "": no month
  int limit = 30;
};
int RunCosts(const CostsArgs& args);

// taut get bills: bills of groups from a running daemon.
struct BillsArgs {
  DaemonArgs daemon;
  std::string month;  // "2026-11"; "": the current month
  std::string group;  // group whose lines and jobs are shown; "": all groups
  int limit = 30;
  std::string focus;  // path, or "-" for stdout; "": show the bill
};
int RunBills(const BillsArgs& args);

// taut get requests: quota of groups in a running daemon, and requests for more quota.
struct RequestsArgs {
  DaemonArgs daemon;
  std::string action = "list";     // list, quota, check, make or end
  std::vector<std::string> words;  // check and make: KEY=VALUE; end: the request's number
  // For list, a filter; "": all requests that have not ended. For check and make, `group` is the value of group=.
  std::string state, group;
  std::string tier, tasks, duration;  // check, make: the values of these keys
  bool all = false;                   // list: include requests that have ended
  int limit = 100;
  std::string before;  // list: only requests with a lower number; "": all
};
int RunRequests(const RequestsArgs& args);

// taut budget: the money of businesses and groups, and the ledger of this money.
struct BudgetArgs {
  DaemonArgs daemon;
  std::string action = "list";     // list, show, ledger, or an entry: grant, transfer, ...
  std::vector<std::string> words;  // arguments of the action, as described in the help
  std::string why, until, key;     // key "": a random one
  int limit = 20;                  // number of ledger entries
  std::string before;              // ledger: only entries with a lower number; "": all
};
int RunBudget(const BudgetArgs& args);

struct StatusArgs {
  DaemonArgs daemon;
  bool ready = false;  // check only whether tautd is ready, for a probe
  bool alive = false;  // check only whether tautd responds, ready or not
};
int RunStatus(const StatusArgs& args);
int RunConfirmClock(const DaemonArgs& args);
int RunAgents(const DaemonArgs& args);

// taut get machines: limits, reservations and usage of machines' tasks, and the reclaimable amounts.
struct MachinesArgs {
  DaemonArgs daemon;
  std::string name;  // name of one machine; "": list all machines
  std::string source, search, sort, order;
  int limit = 30;
};
int RunMachines(const MachinesArgs& args);

// taut get capacity: lines of the cell over time, sellable amounts, and the record of earlier promises.
struct CapacityArgs {
  DaemonArgs daemon;
  std::string over;  // duration of the most recent time whose lines are shown; "": no lines
  std::string step;  // duration of a step of the lines; "": the daemon chooses it
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

// taut get promises: compares promised with observed overrun rates of limits.
int RunPromises(const DaemonArgs& args);

// --- Commands for a running daemon or for files ---

struct MappingTestArgs {
  // Series in the format of ParseSeriesText; empty: read standard input, one series per line.
  std::vector<std::string> series;
  std::string config;         // the daemon's configuration file with its rules; empty: the built-in rules
  std::string prometheus;     // URL: test all series of this Prometheus for which there is a rule
  bool jobs = false;          // show the resulting jobs instead of each series; always true with `prometheus`
  bool verbose = false;       // show each series, and then the jobs
  ConnectionArgs connection;  // connection to the Prometheus; its `server` is ignored
  OutputForm output = OutputForm::kTable;
};
// Returns kExitFailed if a series that the user named has no rule.
int RunMappingTest(const MappingTestArgs& args);

// Lists the recommenders and the settings.
int RunList(const std::string& what);

}  // namespace taut::tools
