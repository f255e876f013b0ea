#include "tools/cli/parse_money.h"

#include "tools/cli/commands.h"
#include "tools/cli/parse_daemon.h"
#include "tools/cli/parse_help.h"

namespace taut::tools {
namespace {

constexpr const char* kBillsHelp =
    "The bill of a calendar month of UTC, by group, from tautd's account and its price file (prices.file): "
    "charges by\n"
    "each tier's rule and prices, and the share of what the machines cost idle. Exact to the micro-unit. Of "
    "this month\n"
    "up to the last window.\n\n"
    "Examples:\n"
    "  taut bills\n"
    "  taut bills --month 2026-11 --group search\n"
    "  taut bills --month 2026-10 --focus october.csv\n"
    "  taut bills --month 2026-10 --focus october.parquet\n"
    "  taut bills --output json";

constexpr const char* kRequestsHelp =
    "Quota of a running tautd (quota.file) and requests for it. Actions:\n"
    "  list    requests that are queued, admitted or running, newest first (the default)\n"
    "  quota   what each group has, uses, borrows, and may still use\n"
    "  check   would this request be admitted now? Changes nothing. Exit code 0: admitted; 1: not\n"
    "  make    makes the request: admitted, queued or refused. Exit code 0: admitted or queued; 1: refused\n"
    "  end     ends a request: what it held is free again\n"
    "A request is KEY=VALUE with group, tier, tasks, job, priority and duration (the first three and the "
    "last also as\n"
    "--group and so on, as in `taut admit`), and what each task asks for:\n"
    "cpu=CORES, memory=BYTES, OTHER=NUMBER. With a job (its name, or the part of it before a /) it ends when "
    "the\n"
    "job is gone; without one, after its duration or by `end`.\n\n"
    "Examples:\n"
    "  taut requests quota\n"
    "  taut requests check group=search tier=production cpu=2 memory=4GiB tasks=10\n"
    "  taut requests make group=search tier=production cpu=2 memory=4GiB tasks=10 job=search/deployment/web\n"
    "  taut requests --all --group search\n"
    "  taut requests end 12";

constexpr const char* kBudgetHelp =
    "The money of businesses and groups in a running tautd (budgets.file), and its ledger. Actions:\n"
    "  list      what each has, has spent, and will have spent at the period's end (the default)\n"
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
    "Shows what jobs used, had and cost, from the account that tautd keeps, by the prices of its "
    "configuration.\nTimes before the newest day are whole days of UTC.\n\n"
    "Examples:\n"
    "  taut costs\n"
    "  taut costs --by team --month 2026-11\n"
    "  taut costs --by :job --days 7 --output json";

void AddCosts(CLI::App& app, CostsArgs& a) {
  app.add_option("--by", a.by, "label to group by, or :job (default: namespace if jobs have it)")
      ->type_name("LABEL");
  app.add_option("--days", a.days, "days up to now (default: 30)")->check(CLI::Range(1, 4000));
  app.add_option("--month", a.month, "calendar month of UTC, such as 2026-11")->type_name("MONTH");
  AddLimit(app, a.limit, "maximum number of rows", 10'000);
  AddDaemon(app, a.daemon);
}

void AddBills(CLI::App& app, BillsArgs& a) {
  app.add_option("--month", a.month, "calendar month of UTC, such as 2026-11 (default: this one)")
      ->type_name("MONTH");
  app.add_option("--group", a.group, "the lines and jobs of this group");
  AddLimit(app, a.limit, "maximum number of groups, or of jobs of the group", 10'000);
  app.add_option(
         "--focus", a.focus,
         "write the charges of every job in the FOCUS format here, instead: Parquet if the name ends in "
         ".parquet, else CSV; - is CSV to stdout")
      ->type_name("FILE");
  AddDaemon(app, a.daemon);
}

void AddRequests(CLI::App& app, RequestsArgs& a) {
  app.add_option("action", a.action, "list, quota, check, make or end")
      ->check(OneOf({"list", "quota", "check", "make", "end"}))
      ->capture_default_str();
  app.add_option("words", a.words, "check, make: KEY=VALUE; end: the number of the request");
  app.add_option("--state", a.state, "list: only requests in this state")
      ->check(OneOf({"queued", "admitted", "running", "ended"}));
  app.add_option("--group", a.group, "list: only requests of this group; check, make: as group=");
  app.add_option("--tier", a.tier, "check, make: as tier=");
  app.add_option("--tasks", a.tasks, "check, make: as tasks=");
  app.add_option("--duration", a.duration, "check, make: as duration=");
  app.add_flag("--all", a.all, "list: also those that have ended");
  AddLimit(app, a.limit, "list: maximum number of rows", 10'000);
  app.add_option("--before", a.before, "list: only requests with a lower number, for the next page");
  AddDaemon(app, a.daemon);
}

void AddBudget(CLI::App& app, BudgetArgs& a) {
  app.add_option("action", a.action,
                 "list, show, ledger, grant, transfer, split, expire, freeze, unfreeze or override")
      ->check(OneOf({"list", "show", "ledger", "grant", "transfer", "split", "expire", "freeze", "unfreeze",
                     "override"}))
      ->capture_default_str();
  app.add_option("words", a.words, "businesses, groups, amounts and shares, as above");
  app.add_option("--why", a.why, "the reason, which the ledger keeps");
  app.add_option("--until", a.until, "override: its end, such as 2026-12-01 or 2026-12-01T12:00:00Z");
  app.add_option("--key", a.key,
                 "key of the entry: the same request with the same key is entered once (default: random)");
  AddLimit(app, a.limit, "show, ledger: maximum number of entries", 10'000);
  app.add_option("--before", a.before, "show, ledger: only entries with a lower number, for the next page");
  AddDaemon(app, a.daemon);
}

}  // namespace

void AddMoneyVerbs(VerbList& verbs) {
  verbs.Add<CostsArgs>("costs", kCostsHelp, AddCosts, RunCosts);
  verbs.Add<BillsArgs>("bills", kBillsHelp, AddBills, RunBills);
  verbs.Add<RequestsArgs>("requests", kRequestsHelp, AddRequests, RunRequests);
  verbs.Add<BudgetArgs>("budget", kBudgetHelp, AddBudget, RunBudget);
}

}  // namespace taut::tools
