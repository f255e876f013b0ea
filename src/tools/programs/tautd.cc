// tautd, the control plane as a daemon.
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>

#include "CLI/CLI.hpp"
#include "common/base/process.h"
#include "common/base/strings.h"
#include "common/base/version.h"
#include "server/config/daemon_config.h"
#include "spdlog/spdlog.h"
#include "tools/cli/parse_help.h"
#include "tools/programs/components.h"
#include "tools/programs/daemon.h"
#include "tools/programs/program_log.h"

namespace taut::tools {
namespace {

struct Args {
  std::string config;
  std::string listen, store, clock, prometheus;
  bool check_config = false;
  bool print_settings = false;
  bool man = false;
};

constexpr const char* kAbout =
    "Recommends CPU and memory limits from measured usage, applies them through agents, Kubernetes or your "
    "own "
    "endpoint (webhook), and serves API and dashboard.";

constexpr std::string_view kNotes = R"(Examples:
  tautd                                          listen on 127.0.0.1:7070, store in ./tautd.db, no configuration
  tautd --prometheus http://prometheus:9090      the same, and begin with the history of the last 14 days
  tautd --config /etc/tautline/tautd.yaml        docs/reference/configuration.md describes all keys
  tautd --check-config --config tautd.yaml       check the file and print its errors
  tautd --store memory --clock samples           for trials: nothing is stored, samples set the time

Signals:
  TERM, INT   write a last checkpoint and stop
  HUP         reload rules, job settings, tokens and certificates; other changed keys are logged and need a restart

Exit codes:
  0   stopped by a signal
  1   failed
  2   invalid command line or configuration)";

int Fail(int code, std::string_view message) {
  std::fprintf(stderr, "tautd: %.*s\n", static_cast<int>(message.size()), message.data());
  return code;
}

absl::StatusOr<server::DaemonConfig> ConfigOf(const Args& args) {
  absl::StatusOr<server::DaemonConfig> config =
      args.config.empty() ? server::ParseDaemonConfig("", "no file") : server::ReadDaemonConfig(args.config);
  if (!config.ok()) return config;
  const std::pair<std::string_view, const std::string*> given[] = {{"server.listen", &args.listen},
                                                                   {"store.path", &args.store},
                                                                   {"clock", &args.clock},
                                                                   {"backfill.prometheus", &args.prometheus}};
  for (const auto& [key, value] : given) {
    if (value->empty()) continue;
    const server::DaemonSetting* setting = FindSetting(server::DaemonSettingsTable(), key);
    if (absl::Status s = SetSetting(*setting, key, *value, *config); !s.ok()) return s;
  }
  return config;
}

void LogNotices(const server::DaemonConfig& config) {
  for (const std::string& notice : config.notices) spdlog::warn("{}", notice);
}

int Serve(const Args& args, const server::DaemonConfig& config) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int s : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, s);
  // All later threads inherit this signal mask, so that only sigwait() below receives the signals.
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  // A process inherits an ignored SIGCHLD from its parent. With SIGCHLD ignored, tautd could not wait for child
  // processes.
  std::signal(SIGCHLD, SIG_DFL);
  LogNotices(config);
  RaiseDescriptorLimit();  // each agent connection and each browser connection needs a descriptor
  absl::StatusOr<std::unique_ptr<Daemon>> daemon = Daemon::Start(config, args.config);
  if (!daemon.ok()) return Fail(1, Message(daemon.status()));
  spdlog::info("tautd {} listens: {}", kVersion, (*daemon)->url());
  for (;;) {
    int signal = 0;
    sigwait(&signals, &signal);
    if (signal != SIGHUP) break;
    const absl::StatusOr<server::DaemonConfig> again = ConfigOf(args);
    if (again.ok()) {
      LogNotices(*again);
      (*daemon)->Reload(*again);
    } else {
      spdlog::error("configuration not reloaded: {}", Message(again.status()));
    }
  }
  (*daemon)->Stop();
  return 0;
}

int Run(int argc, char** argv) {
  Args args;
  CLI::App app{kAbout, "tautd"};
  app.footer(std::string(kNotes));
  app.set_version_flag("-V,--version", std::string(kVersion));
  app.add_option("--config", args.config, "configuration file (YAML); optional");
  app.add_option("--listen", args.listen, "ADDRESS:PORT to listen on; overrides server.listen");
  app.add_option("--store", args.store, "path of the store, or memory; overrides store.path");
  app.add_option("--clock", args.clock, "wall or samples; overrides clock");
  app.add_option("--prometheus", args.prometheus,
                 "URL of a Prometheus whose history is read at the start; overrides backfill.prometheus");
  app.add_flag("--check-config", args.check_config,
               "check the configuration and the files that it names, and exit");
  app.add_flag("--print-settings", args.print_settings, "print docs/reference/configuration.md and exit");
  // option for package builds, which the help omits
  app.add_flag("--man", args.man, "print the man page and exit")->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return e.get_exit_code() == 0 ? app.exit(e) : (app.exit(e), 2);
  }
  if (args.man) {
    const ManPageOptions page{"tautd", "tautd", StrCat("tautd ", kVersion), 8, {"taut(1)", "tautlet(8)"}};
    std::fputs(ManPage(app, page).c_str(), stdout);
    return 0;
  }
  if (args.print_settings) {
    std::fputs(server::DaemonSettingsMarkdown().c_str(), stdout);
    return 0;
  }
  const absl::StatusOr<server::DaemonConfig> config = ConfigOf(args);
  if (!config.ok()) return Fail(2, Message(config.status()));
  if (absl::Status s = SetUpLogging(config->log.level, config->log.format); !s.ok())
    return Fail(2, Message(s));
  if (args.check_config) {
    std::vector<std::string> warnings = config->notices;
    const absl::Status checked = CheckComponents(*config, warnings);
    for (const std::string& warning : warnings) std::fprintf(stderr, "tautd: warning: %s\n", warning.c_str());
    if (!checked.ok()) return Fail(2, Message(checked));
    std::printf("%s is valid\n", args.config.empty() ? "the default configuration" : args.config.c_str());
    return 0;
  }
  return Serve(args, *config);
}

}  // namespace
}  // namespace taut::tools

int main(int argc, char** argv) {
  (void)taut::tools::SetUpLogging("info", "text");
  return taut::tools::Run(argc, argv);
}
