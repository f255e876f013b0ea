// tautd: the control plane as a service.
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>

#include "CLI/CLI.hpp"
#include "base/strings.h"
#include "config/daemon_config.h"
#include "programs/action_log.h"
#include "programs/daemon.h"
#include "programs/process.h"
#include "programs/version.h"
#include "spdlog/spdlog.h"

namespace taut {
namespace {

struct Args {
  std::string config;
  std::string listen, store, clock;
  bool check_config = false;
  bool print_settings = false;
};

constexpr std::string_view kExamples = R"(examples:
  tautd                                   listens on 127.0.0.1:7070, keeps tautd.db here, needs no configuration
  tautd --config /etc/tautd.yaml          everything that can be told is in docs/configuration.md
  tautd --check-config --config t.yaml    reads the file and says what is wrong with it
  tautd --store memory --clock samples    a trial: nothing is kept, and time is what the samples say

signals: TERM and INT stop it after a last checkpoint; HUP reads rules, settings of jobs, tokens and certificates
again, and logs each other key that changed: it needs a restart.
exit codes: 0 stopped as told, 1 it could not go on, 2 the command line or the configuration is wrong.)";

int Fail(int code, std::string_view message) {
  std::fprintf(stderr, "tautd: %.*s\n", static_cast<int>(message.size()), message.data());
  return code;
}

absl::StatusOr<DaemonConfig> ConfigOf(const Args& args) {
  absl::StatusOr<DaemonConfig> config =
      args.config.empty() ? ParseDaemonConfig("", "no file") : ReadDaemonConfig(args.config);
  if (!config.ok()) return config;
  const std::pair<std::string_view, const std::string*> given[] = {
      {"server.listen", &args.listen}, {"store.path", &args.store}, {"clock", &args.clock}};
  for (const auto& [key, value] : given) {
    if (value->empty()) continue;
    for (const DaemonSetting& setting : DaemonSettingsTable()) {
      if (setting.key != key) continue;
      if (absl::Status s = SetDaemonSetting(setting, {value, 1}, *config); !s.ok()) return s;
    }
  }
  return config;
}

int Serve(const Args& args, const DaemonConfig& config) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int s : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, s);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // for all threads to come; this one waits for them
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  RaiseDescriptorLimit();  // each agent and each open page takes one
  absl::StatusOr<std::unique_ptr<Daemon>> daemon = Daemon::Start(config, args.config);
  if (!daemon.ok()) return Fail(1, Message(daemon.status()));
  spdlog::info("tautd {} listens: {}", kVersion, (*daemon)->url());
  for (;;) {
    int signal = 0;
    sigwait(&signals, &signal);
    if (signal != SIGHUP) break;
    const absl::StatusOr<DaemonConfig> again = ConfigOf(args);
    if (again.ok()) {
      (*daemon)->Reload(*again);
    } else {
      spdlog::error("the configuration stays as it was: {}", Message(again.status()));
    }
  }
  (*daemon)->Stop();
  return 0;
}

int Run(int argc, char** argv) {
  Args args;
  CLI::App app{"tautd: sets limits from usage, shows and explains them"};
  app.footer(std::string(kExamples));
  app.set_version_flag("--version", std::string(kVersion));
  app.add_option("--config", args.config, "YAML file; none is needed");
  app.add_option("--listen", args.listen, "address:port to listen on, instead of the file's");
  app.add_option("--store", args.store, "path of the store, or memory, instead of the file's");
  app.add_option("--clock", args.clock, "wall or samples, instead of the file's");
  app.add_flag("--check-config", args.check_config, "only read the configuration");
  app.add_flag("--print-settings", args.print_settings, "print docs/configuration.md");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return e.get_exit_code() == 0 ? app.exit(e) : (app.exit(e), 2);
  }
  if (args.print_settings) {
    std::fputs(DaemonSettingsMarkdown().c_str(), stdout);
    return 0;
  }
  const absl::StatusOr<DaemonConfig> config = ConfigOf(args);
  if (!config.ok()) return Fail(2, Message(config.status()));
  if (absl::Status s = SetUpLogging(config->log.level, config->log.format); !s.ok())
    return Fail(2, Message(s));
  if (args.check_config) {
    const absl::StatusOr<ServerOptions> server = OpenServerOptions(config->server);
    if (!server.ok()) return Fail(2, Message(server.status()));
    NotifyOptions notify;
    notify.webhook.url = config->notify.url;
    notify.webhook.ca_file = config->notify.ca_file;
    notify.events = config->notify.events;
    const auto acts = DaemonActs::Start(notify, nullptr, "");
    if (!acts.ok()) return Fail(2, Message(acts.status()));
    const absl::StatusOr<std::string> secret = ReadSecretFile(config->notify.secret_file);
    if (!secret.ok()) return Fail(2, Message(secret.status()));
    std::printf("%s is fine\n", args.config.empty() ? "no configuration" : args.config.c_str());
    return 0;
  }
  return Serve(args, *config);
}

}  // namespace
}  // namespace taut

int main(int argc, char** argv) {
  (void)taut::SetUpLogging("info", "text");
  return taut::Run(argc, argv);
}
