#include "tools/cli/bill_command.h"

namespace taut::tools {

const char* const kBillHelp =
    "Bills the jobs of a trace by a price file: what each group used and reserved, what it is charged, its\n"
    "share of the pool's idle cost, and what it would be charged at the limits of a recommender.\n\n"
    "Examples:\n"
    "  taut bill cell.csv.gz --prices prices.yaml\n"
    "  taut bill cell.csv.gz --prices prices.yaml --recommender moving_window --by tier\n"
    "  taut bill cell.csv.gz --prices prices.yaml --job shop/web --what-if tier=batch --what-if hours=0.5\n"
    "  taut bill cell.csv.gz --prices prices.yaml --focus bill.csv --output json\n"
    "  taut bill cell.csv.gz --prices prices.yaml --focus bill.parquet";

void AddBill(CLI::App& verb, BillArgs& args) {
  verb.get_option("paths")->required();
  verb.add_option("--prices", args.prices, "tiers, prices and groups: YAML, see docs/reference/formats.md")
      ->required()
      ->type_name("FILE");
  verb.add_option("--recommender", args.recommender,
                  "also bill at the limits of this recommender (`taut list`), or none")
      ->capture_default_str();
  verb.add_option("--warmup", args.warmup,
                  "with --recommender: time at the start of the trace that is not billed")
      ->capture_default_str();
  verb.add_option("--by", args.by, "rows of the table: group, tier or job")->capture_default_str();
  verb.add_option("--limit", args.limit, "maximum number of rows")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  verb.add_option("--job", args.job, "with --what-if: the job")->type_name("NAME");
  verb.add_option("--what-if", args.what_if,
                  "print only what --job would be charged otherwise: tier=NAME, reservation=FACTOR (limits "
                  "times this), "
                  "hours=SHARE (of its time); may be repeated")
      ->type_name("KEY=VALUE");
  verb.add_option(
          "--focus", args.focus,
          "write the charges as FOCUS 1.0 to this file: Parquet if its name ends in .parquet, else CSV")
      ->type_name("FILE");
  verb.add_option("--json", args.json, "write the result as JSON, with all jobs, to this file")
      ->type_name("FILE");
}

}  // namespace taut::tools
