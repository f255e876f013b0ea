// Command line of taut-dev, which feeds a simulated cell to tautd and measures remote-write receivers.
#include <cstdio>

#include "CLI/CLI.hpp"
#include "tools/cli/cli.h"
#include "tools/cli/parse_daemon.h"
#include "tools/cli/parse_help.h"
#include "tools/cli/terminal.h"
#include "tools/dev/commands.h"

namespace taut::tools {
namespace {

constexpr const char* kAbout =
    "Sends the metrics of a simulated cluster to tautd, for trials without a cluster and for "
    "measurements.\n\n"
    "Examples:\n"
    "  taut-dev feed --history 21d        (then: taut top)\n"
    "  taut-dev bench-write --seconds 20\n\n"
    "Exit codes: 0 success, 1 failed, 2 invalid arguments.";

constexpr const char* kFeedHelp =
    "Simulates a cluster and sends its metrics to tautd by Prometheus remote write: first the history, as "
    "fast "
    "as\ntautd accepts it, then live samples until ^C. Pods are replaced and deployments rolled out. The "
    "history "
    "ends\nnow; with --speed above 1, times run ahead of the clock, which needs `clock: samples` in "
    "tautd.\n\n"
    "Examples:\n"
    "  taut-dev feed\n"
    "  taut-dev feed --to http://127.0.0.1:7070 --jobs 50 --speed 1 --history 2h\n"
    "  taut-dev feed --history 21d --live 0 --ooms";

constexpr const char* kBenchWriteHelp =
    "Measures the throughput of a remote-write receiver in samples per second. Unless --rate is given, times "
    "of\n"
    "samples run ahead of the clock, which needs `clock: samples` in tautd.\n\n"
    "Examples:\n"
    "  taut-dev bench-write --bench-series 50000 --seconds 20\n"
    "  taut-dev bench-write --bench-series 10000 --rate 100000 --connections 2 --output json";

void AddFeed(CLI::App& app, FeedArgs& a) {
  AddConnection(app, a.connection, "--to,--server");
  app.add_option("--jobs", a.jobs, "jobs")->capture_default_str();
  app.add_option(
      "--days", a.days,
      "length of the data set in days, which is kept in memory; it restarts after the last one (default: 42, "
      "or as many as --history has and 1 GiB holds, where --jobs has thousands)");
  app.add_option("--speed", a.speed, "playback speed of the live phase; 1: real time")->capture_default_str();
  app.add_option("--history", a.history, "history that is sent first")->capture_default_str();
  app.add_option("--live", a.live, "stop after this much simulated time (default: at ^C)");
  app.add_option("--every", a.every, "scrape interval of the live phase")->capture_default_str();
  app.add_option("--seed", a.seed, "seed; the same seed gives the same data")
      ->check(NotNegative())
      ->capture_default_str();
  app.add_flag("--ooms", a.ooms, "simulate OOM kills of tasks above their owner's memory limit");
  app.add_flag("--follow", a.follow,
               "in the live phase run as many tasks of a job as tautd orders, and share its load among them");
  app.add_flag("-q,--quiet", a.quiet, "no output but errors");
}

void AddBenchWrite(CLI::App& app, BenchWriteArgs& a) {
  AddConnection(app, a.connection, "--to,--server");
  app.add_option("--bench-series", a.series, "series, 500 to a request")
      ->check(NotNegative(UINT32_MAX))
      ->capture_default_str();
  app.add_option("--rate", a.rate, "samples per second; 0: no limit")->capture_default_str();
  app.add_option("--seconds", a.seconds, "duration in seconds")->capture_default_str();
  app.add_option("--connections", a.connections, "concurrent connections")->capture_default_str();
  AddOutputForm(app, a.output);
}

}  // namespace

int RunDev(int argc, char** argv) {
  NameProgram("taut-dev");
  CLI::App app{kAbout, "taut-dev"};
  app.require_subcommand(1);
  FeedArgs feed;
  CLI::App& feed_app = *app.add_subcommand("feed", kFeedHelp);
  AddFeed(feed_app, feed);
  BenchWriteArgs bench;
  AddBenchWrite(*app.add_subcommand("bench-write", kBenchWriteHelp), bench);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);  // the user requested --help
  } catch (const CLI::ParseError& e) {
    PrintError(e.what());
    std::fputs("Run `taut-dev --help` or `taut-dev COMMAND --help`.\n", stderr);
    return kExitUsage;
  }
  return feed_app.parsed() ? RunFeed(feed) : RunBenchWrite(bench);
}

}  // namespace taut::tools
