#include "tools/cli/economy_command.h"
#include "tools/cli/parse_help.h"

namespace taut::tools {

const char* const kEconomyHelp =
    "Runs a shared pool over a trace: admits jobs by tier, sells unused capacity of the reserved tiers to "
    "the\nlower ones, reclaims it on demand, and bills the jobs. Compares the policies of selling: amounts "
    "sold, used\nand earned, and the promises of each tier, made and kept.\n\n"
    "The price file sets tier and group of each job, as for `taut get bills`. A reserved tier is sold "
    "against the\ncapacity. A slack tier is sold the unused capacity of the tiers above, at its promised "
    "availability, and a\nspare tier everything, without a promise.\n\n"
    "Examples:\n"
    "  taut economy cell.csv.gz --prices prices.yaml\n"
    "  taut economy cell.csv.gz --prices prices.yaml --tiers production=reserved,batch=slack,free=spare\n"
    "  taut economy cell.csv.gz --prices prices.yaml --capacity cpu=400,memory=2TiB --quota quota.yaml\n"
    "  taut economy cell.csv.gz --prices prices.yaml --policies unreserved,actuary,clairvoyant --report "
    "pool.html\n"
    "  taut economy cell.csv.gz --prices prices.yaml --penalty 1 --bills bills.csv --lines lines.csv "
    "--output json";

namespace {

void AddEconomyOutputs(CLI::App& verb, EconomyArgs& args) {
  verb.add_option("--limit", args.limit, "maximum number of rows of the table of bills")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  verb.add_option("--bills", args.bills, "write charges and credits by policy, group and tier as CSV")
      ->type_name("FILE");
  verb.add_option("--lines", args.lines,
                  "write usage, allocation, reservation and capacity of every 5 minutes as CSV")
      ->type_name("FILE");
  verb.add_option("--decisions", args.decisions,
                  "write every admission, wait, refusal and reclamation with its reason as CSV")
      ->type_name("FILE");
  verb.add_option("--report", args.report, "write tables and charts as one HTML file")->type_name("FILE");
  verb.add_option("--json", args.json, "write the result as JSON to this file")->type_name("FILE");
}

}  // namespace

void AddEconomy(CLI::App& verb, EconomyArgs& args) {
  verb.get_option("paths")->required();
  verb.add_option("--prices", args.prices,
                  "tiers, promises, prices and groups: YAML, see docs/reference/formats.md")
      ->required()
      ->type_name("FILE");
  verb.add_option(
          "--tiers", args.tiers,
          "how tiers are sold, comma-separated: NAME=reserved, NAME=slack or NAME=spare (default: reserved "
          "for the first tier and for each later tier that promises 99.9 %, spare for a tier without a "
          "promise, else slack)")
      ->delimiter(',')
      ->type_name("NAME=HOW,...");
  verb.add_option(
          "--policies", args.policies,
          "comma-separated: none, unreserved, cloudrm, mean, greedy, actuary, clairvoyant, all (default: "
          "all of these)")
      ->delimiter(',')
      ->type_name("NAME,...");
  verb.add_option("--capacity", args.capacity,
                  "capacity of the pool: cpu=CORES,memory=BYTES (default: the pool of the price file)")
      ->delimiter(',')
      ->type_name("RESOURCE=AMOUNT,...");
  verb.add_option("--capacity-share", args.capacity_share,
                  "without a capacity: this share of the highest sum of the owners' limits")
      ->capture_default_str();
  verb.add_option(
          "--quota", args.quota,
          "quota file: YAML. A job is only sold the unused quota of its group. Tiers without a quota are "
          "not limited; amounts in_use stay in use")
      ->type_name("FILE");
  verb.add_option("--recommender", args.recommender,
                  "jobs request the limits of this recommender (`taut list`) instead of their owners'")
      ->capture_default_str();
  verb.add_option("--warmup", args.warmup,
                  "time at the start of the trace in which only the reserved tiers run and nothing is billed")
      ->capture_default_str();
  verb.add_option("--horizon", args.horizon, "time that the actuary's quotes cover")->capture_default_str();
  verb.add_option("--reclaim", args.reclaim,
                  "time after which capacity that comes back is free for lower tiers")
      ->capture_default_str();
  verb.add_option("--patience", args.patience,
                  "a request that is granted within this time counts as obtained")
      ->capture_default_str();
  verb.add_option(
          "--penalty", args.penalty,
          "share of a job's charges of a month that is given back if it ran less than promised (default: "
          "service_credit of its tier)")
      ->type_name("SHARE");
  AddEconomyOutputs(verb, args);
  verb.add_option("--threads", args.threads, "threads; 0: one per core; the result does not depend on it")
      ->check(NotNegative(INT32_MAX))
      ->capture_default_str();
}

}  // namespace taut::tools
