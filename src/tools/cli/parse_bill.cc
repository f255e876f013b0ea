#include "tools/cli/bill_command.h"

namespace taut::tools {

void AddBill(CLI::App& command, BillArgs& args) {
  command
      .add_option("--prices", args.prices,
                  "with a trace: tiers, prices and groups: YAML, see docs/reference/formats.md")
      ->type_name("FILE");
  command
      .add_option("--recommender", args.recommender,
                  "also bill at the limits of this recommender (`taut list`), or none")
      ->capture_default_str();
  command
      .add_option("--warmup", args.warmup,
                  "with --recommender: time at the start of the trace that is not billed")
      ->capture_default_str();
  command.add_option("--by", args.by, "rows of the table: group, tier or job")->capture_default_str();
  command.add_option("--job", args.job, "with --what-if: name of the job")->type_name("NAME");
  command
      .add_option("--what-if", args.what_if,
                  "print only the charges of --job with another tier=NAME, reservation=FACTOR (limits "
                  "times this) or hours=SHARE (of its time); may be repeated")
      ->type_name("KEY=VALUE");
  command.add_option("--json", args.json, "write the result as JSON, with all jobs, to this file")
      ->type_name("FILE");
}

}  // namespace taut::tools
