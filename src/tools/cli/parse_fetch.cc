#include "tools/cli/parse_fetch.h"

#include "tools/cli/parse_help.h"

namespace taut::tools {

const char* const kFetchHelp =
    "Reads the usage of the last weeks from a Prometheus (or VictoriaMetrics, Thanos) and writes it as a "
    "trace\n"
    "for `taut replay`: for each task and 5 minutes its CPU, memory, OOM kills, and the limits that its "
    "owner had\n"
    "set. The same rules as in tautd map series to jobs (`taut mapping test` shows how). Only reads, in "
    "queries\n"
    "of about an hour of time.\n\n"
    "Examples:\n"
    "  taut trace fetch http://prometheus:9090 --out history.csv.gz\n"
    "  taut replay history.csv.gz --report report.html\n"
    "  taut trace fetch https://metrics.example.com/prometheus --token-file token --last 42d --out "
    "history.csv.gz\n"
    "  taut trace fetch http://prometheus:9090 --config tautd.yaml --baseline request --until 2026-03-01 "
    "--out usage.csv";

void AddFetch(CLI::App& verb, FetchArgs& args) {
  verb.add_option("url", args.connection.server, "URL of the Prometheus, without /api/v1")
      ->required()
      ->type_name("URL");
  verb.add_option("--out", args.out, "file to write; compressed if its name ends in .gz")
      ->required()
      ->type_name("FILE");
  verb.add_option("--last", args.last, "time to read, up to --until (28d, 36h)")
      ->capture_default_str()
      ->type_name("TIME");
  verb.add_option("--until", args.until, "end of the time to read, such as 2026-03-01 (default: now)")
      ->type_name("TIME");
  verb.add_option("--config", args.config,
                  "configuration file of tautd, whose mapping rules are used (default: the built-in rules)")
      ->type_name("FILE");
  verb.add_option(
          "--baseline", args.baseline,
          "limit: the owner's limit, or the request where there is none; request: the request, or the "
          "limit where there is none")
      ->capture_default_str()
      ->check(OneOf({"limit", "request"}));
  verb.add_option("--token-file", args.connection.token_file, "file with the bearer token")
      ->type_name("FILE");
  verb.add_option("--ca-file", args.connection.ca_file,
                  "PEM file of the CAs to trust with https (default: the system's)")
      ->type_name("FILE");
  verb.add_flag("-q,--quiet", args.quiet, "no progress and no summary");
}

}  // namespace taut::tools
