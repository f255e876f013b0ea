#include "tools/cli/parse_money.h"

#include <initializer_list>
#include <string>

#include "tools/cli/actuary_command.h"
#include "tools/cli/bill_command.h"
#include "tools/cli/cli.h"
#include "tools/cli/commands.h"
#include "tools/cli/parse_daemon.h"
#include "tools/cli/parse_help.h"
#include "tools/cli/parse_replay.h"
#include "tools/cli/quota_command.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

constexpr const char* kCapacityHelp =
    "Shows the capacity, reservation, allocation and usage of the cell, and how much of each tier can "
    "still be\nsold for the next hour, day, month or quarter, at the availability that the tier promises. "
    "A ledger compares\neach promise with the available capacity: kept is the share of hours with enough "
    "of it. --over shows the\nlines over time, --promises the newest promises one by one.\n\n"
    "With a CSV file: computes how much of the capacity that a pool's higher tiers leave can be sold at "
    "a\npromised availability, and replays the sales of this and other sellers over the past.\n\n"
    "Examples:\n"
    "  taut get capacity\n"
    "  taut get capacity --over 30d --step 1d\n"
    "  taut get capacity --promises\n"
    "  taut get capacity pool.csv --use used_cores --capacity cores --promise 99% --horizon 1h";

constexpr const char* kBillsHelp =
    "Shows the bill of a calendar month of UTC, by group, from tautd's account and its price file "
    "(prices.file):\n"
    "charges by each tier's rule and prices, and the share of the machines' idle cost. Exact to the "
    "micro-unit.\n"
    "The bill of this month ends with the last window. With a trace and --prices: usage, reservation and "
    "charges\n"
    "of each group, also at the limits of a recommender.\n\n"
    "Examples:\n"
    "  taut get bills\n"
    "  taut get bills --month 2026-11 --group search\n"
    "  taut get bills --month 2026-10 --focus october.parquet\n"
    "  taut get bills cell.csv.gz --prices prices.yaml --recommender moving_window --by tier\n"
    "  taut get bills cell.csv.gz --prices prices.yaml --job shop/web --what-if tier=batch --what-if "
    "hours=0.5\n"
    "  taut get bills cell.csv.gz --prices prices.yaml --focus bill.csv -o json";

constexpr const char* kRequestsHelp =
    "Lists requests for quota (quota.file) that are queued, admitted or running, newest first.\n\n"
    "Examples:\n"
    "  taut get requests\n"
    "  taut get requests --all --group search\n"
    "  taut get requests --state queued -o json";

constexpr const char* kRequestHelp = "Makes a request for quota of a running tautd, or ends one.";
constexpr const char* kMakeHelp =
    "Makes a request for quota: admitted, queued or refused. Exit code 0: admitted or queued; 1: "
    "refused. A\n"
    "request is KEY=VALUE with group, tier, tasks, job, priority and duration, and for each task "
    "cpu=CORES,\n"
    "memory=BYTES, OTHER=NUMBER. With a job (its name, or the part of it before a /) it ends when the "
    "job is\n"
    "gone; without one, after its duration or by `taut request end`.\n\n"
    "Examples:\n"
    "  taut request make group=search tier=production cpu=2 memory=4GiB tasks=10\n"
    "  taut request make group=search tier=production cpu=2 memory=4GiB tasks=10 "
    "job=search/deployment/web";
constexpr const char* kEndHelp =
    "Ends a request for quota and frees its amount.\n\n"
    "Examples:\n"
    "  taut request end 12";

constexpr const char* kQuotaHelp =
    "Shows the quota of each group and tier, its use, borrowed quota, and the amount that may still be "
    "used.\nWith --file, no tautd is needed: the command checks the quota file and shows its amounts.\n\n"
    "Examples:\n"
    "  taut get quota\n"
    "  taut get quota -f quota.yaml\n"
    "  taut get quota -f quota.yaml -o json";

constexpr const char* kAdmitHelp =
    "Answers whether a group may run tasks in a tier now: admitted, queued until when, or refused, with "
    "every\n"
    "reason and the nearest request that would fit. A running tautd answers, or with -f a quota file.\n"
    "Changes nothing. Exit code 0: admitted; 1: not.\n\n"
    "Examples:\n"
    "  taut admit group=search tier=production cpu=2 memory=4GiB tasks=10\n"
    "  taut admit -f quota.yaml group=search tier=production cpu=4 memory=8GiB tasks=10\n"
    "  taut admit -f quota.yaml --group search --tier batch gpu=1 --duration 6h -o json";

constexpr const char* kBudgetHelp =
    "The money of businesses and groups in a running tautd (budgets.file), and its ledger. Actions:\n"
    "  list      budget, spending and forecast of each (the default)\n"
    "  show      one business or group, who pays for it, and its last entries\n"
    "  ledger    entries of the ledger, newest first\n"
    "  transfer  FROM TO AMOUNT: moves money that is not spent\n"
    "  split     FROM AMOUNT TO=SHARE%...: the same to several\n"
    "  expire    HOLDER AMOUNT: ends money that is not spent\n"
    "  grant     HOLDER AMOUNT: adds money to the open period\n"
    "  override  HOLDER AMOUNT --until TIME: a higher budget until then\n"
    "  freeze    HOLDER: its money does not move, until unfreeze\n"
    "A holder is business:NAME, group:NAME, or the name alone if it is one of both. AMOUNT is in the unit of "
    "the\n"
    "first holder, or `all` that is not spent. Every entry needs a reason (--why).\n\n"
    "Examples:\n"
    "  taut budget\n"
    "  taut budget show retail\n"
    "  taut budget transfer retail group:shop 250 --why 'load test of November'\n"
    "  taut budget split retail 1000 shop=60% web=40% --why 'quarter plan'\n"
    "  taut budget grant retail 500 --why 'approved, ticket 4711'\n"
    "  taut budget override retail 200 --until 2026-12-01 --why 'sale week'\n"
    "  taut budget freeze media --why 'audit'\n"
    "  taut budget ledger --limit 50 --output json";

constexpr const char* kCostsHelp =
    "Shows usage, limits and costs of jobs, from tautd's account and the prices of its "
    "configuration.\nTimes before the newest day are whole days of UTC.\n\n"
    "Examples:\n"
    "  taut get costs\n"
    "  taut get costs --by team --month 2026-11\n"
    "  taut get costs --by :job --days 7 --output json";

void AddCosts(CLI::App& app, CostsArgs& a) {
  app.add_option("--by", a.by, "label to group by, or :job (default: namespace if jobs have it)")
      ->type_name("LABEL");
  app.add_option("--days", a.days, "days up to now (default: 30)")->check(CLI::Range(1, 4000));
  app.add_option("--month", a.month, "calendar month of UTC, such as 2026-11")->type_name("MONTH");
  AddLimit(app, a.limit, "maximum number of rows", 10'000);
  AddDaemon(app, a.daemon);
}

// Makes `options` require the option `file`, without which they have no effect.
void RequireFile(CLI::App& app, const char* file, std::initializer_list<const char*> options) {
  for (const char* option : options) app.get_option(option)->needs(app.get_option(file));
}
void ExcludeFile(CLI::App& app, const char* file, std::initializer_list<const char*> options) {
  for (const char* option : options) app.get_option(option)->excludes(app.get_option(file));
}

// Arguments of `taut get capacity` for a tautd, or for a pool in a CSV file.
struct CapacityCommand {
  CapacityArgs live;
  ActuaryArgs file;
  std::string step;  // --step, which both forms accept
};

void AddCapacity(CLI::App& app, CapacityCommand& a) {
  AddActuary(app, a.file);
  app.add_option("--step", a.step,
                 "step of the lines: whole hours, such as 1d (default: 40 lines or fewer); with a file: time "
                 "between two rows (default: 5m)")
      ->type_name("DURATION");
  app.add_option("--over", a.live.over, "also the lines of this time up to now, such as 7d")
      ->type_name("DURATION");
  app.add_flag("--promises", a.live.promises, "also the newest promises of each tier, horizon and resource");
  AddDaemon(app, a.live.daemon);
  RequireFile(app, "file", {"--use", "--capacity", "--promise", "--horizon", "--reclaim", "--warmup"});
  ExcludeFile(app, "file", {"--over", "--promises"});
}

int RunCapacityCommand(CapacityCommand a) {
  if (a.file.file.empty()) {
    a.live.step = a.step;
    return RunCapacity(a.live);
  }
  if (!a.step.empty()) a.file.step = a.step;
  a.file.output = a.live.daemon.output;
  return RunActuary(a.file);
}

// Arguments of `taut get bills` for a tautd, or for a trace.
struct BillsCommand {
  BillsArgs live;
  BillArgs trace;
};

void AddBills(CLI::App& app, BillsCommand& a) {
  AddTrace(app, a.trace.trace, "--series-per-job");
  AddBill(app, a.trace);
  app.add_option("--month", a.live.month, "calendar month of UTC, such as 2026-11 (default: this one)")
      ->type_name("MONTH");
  app.add_option("--group", a.live.group, "the lines and jobs of this group");
  AddLimit(app, a.live.limit, "maximum number of rows", 1'000'000);
  app.add_option(
         "--focus", a.live.focus,
         "write the charges of every job in the FOCUS format to this file: Parquet if its name ends in "
         ".parquet, else CSV; without a trace, - is CSV to stdout")
      ->type_name("FILE");
  app.add_flag("-q,--quiet", a.trace.quiet, "with a trace: no progress line");
  AddDaemon(app, a.live.daemon);
  RequireFile(app, "paths",
              {"--prices", "--recommender", "--warmup", "--by", "--job", "--what-if", "--json"});
  ExcludeFile(app, "paths", {"--month", "--group"});
}

int RunBillsCommand(BillsCommand a) {
  if (a.trace.trace.paths.empty()) return RunBills(a.live);
  if (a.trace.prices.empty()) {
    PrintError("a trace requires --prices FILE");
    return kExitUsage;
  }
  a.trace.limit = a.live.limit;
  a.trace.focus = a.live.focus;
  a.trace.output = a.live.daemon.output;
  return RunBill(a.trace);
}

void AddRequests(CLI::App& app, RequestsArgs& a) {
  app.add_option("--state", a.state, "only requests in this state")
      ->check(OneOf({"queued", "admitted", "running", "ended"}));
  app.add_option("--group", a.group, "only requests of this group");
  app.add_flag("--all", a.all, "also requests that have ended");
  AddLimit(app, a.limit, "maximum number of rows", 10'000);
  app.add_option("--before", a.before, "only requests with numbers below this one, for the next page");
  AddDaemon(app, a.daemon);
}

// Adds the options and positional arguments for requested amounts.
void AddAmounts(CLI::App& app, RequestsArgs& a) {
  app.add_option("words", a.words,
                 "group, tier, tasks, job, priority, duration, and of each task cpu=CORES, memory=BYTES, "
                 "OTHER=NUMBER")
      ->type_name("KEY=VALUE");
  app.add_option("--group", a.group, "group that requests the quota, as group=");
  app.add_option("--tier", a.tier, "tier of the quota, as tier=");
  app.add_option("--tasks", a.tasks, "number of tasks, as tasks=");
  app.add_option("--duration", a.duration, "time until the request ends, as duration=");
  AddDaemon(app, a.daemon);
}

void AddMake(CLI::App& app, RequestsArgs& a) {
  a.action = "make";
  AddAmounts(app, a);
}

void AddEnd(CLI::App& app, RequestsArgs& a) {
  a.action = "end";
  app.add_option("request", a.words, "the number of the request")->type_name("NUMBER");
  AddDaemon(app, a.daemon);
}

// Arguments of `taut get quota` and `taut admit` for a tautd, or for a quota file.
struct QuotaCommand {
  RequestsArgs live;
  std::string file;
};

void AddQuotaFile(CLI::App& app, QuotaCommand& a) {
  app.add_option("-f,--file", a.file, "answer from this quota file: YAML, see docs/reference/formats.md")
      ->type_name("FILE");
}

void AddQuota(CLI::App& app, QuotaCommand& a) {
  a.live.action = "quota";
  app.add_option("quota", a.file, "quota file, as --file")->type_name("FILE");
  AddQuotaFile(app, a);
  app.get_option("--file")->excludes("quota");
  AddDaemon(app, a.live.daemon);
}

void AddAdmit(CLI::App& app, QuotaCommand& a) {
  a.live.action = "check";
  AddQuotaFile(app, a);
  AddAmounts(app, a.live);
}

int RunQuotaCommand(const QuotaCommand& a) {
  return a.file.empty() ? RunRequests(a.live) : RunQuota({a.file, a.live.daemon.output});
}

// The first word is the path of a quota file if it contains no `=`.
int RunAdmitCommand(QuotaCommand a) {
  if (a.file.empty() && !a.live.words.empty() && a.live.words.front().find('=') == std::string::npos) {
    a.file = a.live.words.front();
    a.live.words.erase(a.live.words.begin());
  }
  if (a.file.empty()) return RunRequests(a.live);
  return RunAdmit(
      {a.file, a.live.group, a.live.tier, a.live.words, a.live.tasks, a.live.duration, a.live.daemon.output});
}

void AddBudget(CLI::App& app, BudgetArgs& a) {
  app.add_option("action", a.action,
                 "list, show, ledger, grant, transfer, split, expire, freeze, unfreeze or override")
      ->check(OneOf({"list", "show", "ledger", "grant", "transfer", "split", "expire", "freeze", "unfreeze",
                     "override"}))
      ->capture_default_str();
  app.add_option("words", a.words,
                 "businesses, groups, amounts and shares of the action, as in the examples");
  app.add_option("--why", a.why, "the reason, which the ledger keeps");
  app.add_option("--until", a.until, "override: its end, such as 2026-12-01 or 2026-12-01T12:00:00Z");
  app.add_option("--key", a.key,
                 "key of the entry: the same request with the same key is entered once (default: random)");
  AddLimit(app, a.limit, "show, ledger: maximum number of entries", 10'000);
  app.add_option("--before", a.before, "show, ledger: only entries with a lower number, for the next page");
  AddDaemon(app, a.daemon);
}

}  // namespace

void AddMoneyCommands(CommandTable& commands) {
  constexpr CommandGroup kAsk = CommandGroup::kAsk, kChange = CommandGroup::kChange;
  commands.Add<CapacityCommand>({"get capacity",
                                 kAsk,
                                 "Sellable capacity of the cell, or of a pool's file",
                                 kCapacityHelp,
                                 {"capacity", "actuary"}},
                                AddCapacity, RunCapacityCommand);
  commands.Add<CostsArgs>({"get costs", kAsk, "Usage, limits and costs of jobs", kCostsHelp, {"costs"}},
                          AddCosts, RunCosts);
  commands.Add<BillsCommand>(
      {"get bills", kAsk, "Bills of groups, by tautd or over a trace", kBillsHelp, {"bills", "bill"}},
      AddBills, RunBillsCommand);
  commands.Add<QuotaCommand>({"get quota",
                              kAsk,
                              "Quota of groups, its use and the rest, by tautd or a file",
                              kQuotaHelp,
                              {"requests quota", "quota"}},
                             AddQuota, RunQuotaCommand);
  commands.Add<RequestsArgs>({"get requests",
                              kAsk,
                              "Requests for quota, newest first",
                              kRequestsHelp,
                              {"requests list", "requests"}},
                             AddRequests, RunRequests);
  commands.Add<QuotaCommand>({"admit",
                              kChange,
                              "Answers whether a group may run tasks now, and why not",
                              kAdmitHelp,
                              {"requests check"}},
                             AddAdmit, RunAdmitCommand);
  commands.AddWord({"request", kChange, "Makes or ends a request for quota", kRequestHelp});
  commands.Add<RequestsArgs>({"request make",
                              kChange,
                              "Makes a request",
                              kMakeHelp,
                              {"requests make"},
                              {{"request create", "request make"}}},
                             AddMake, RunRequests);
  commands.Add<RequestsArgs>({"request end",
                              kChange,
                              "Ends a request",
                              kEndHelp,
                              {"requests end"},
                              {{"request delete", "request end"}, {"request cancel", "request end"}}},
                             AddEnd, RunRequests);
  commands.Add<BudgetArgs>(
      {"budget", kChange, "Shows and moves the money of businesses and groups", kBudgetHelp}, AddBudget,
      RunBudget);
}

}  // namespace taut::tools
