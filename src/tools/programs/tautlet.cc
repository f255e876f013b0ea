// tautlet, the agent of one machine.
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "common/base/process.h"
#include "common/base/strings.h"
#include "common/base/version.h"
#include "common/rpc/tls_files.h"
#include "node/agent/agent.h"
#include "node/agent/agent_loop.h"
#include "node/agent/daemon_address.h"
#include "node/agent/release.h"
#include "node/agent/state_directory.h"
#include "node/agent/task_list.h"
#include "node/agent/uplink.h"
#include "node/cgroup/cgroup.h"
#include "node/cgroup/cgroup_finder.h"
#include "node/cgroup/memory_sources.h"
#include "node/cgroup/own_cgroups.h"
#include "node/cgroup/process_files.h"
#include "node/cgroup/task_name.h"
#include "node/docker/docker_finder.h"
#include "server/config/agent_config.h"
#include "server/config/daemon_config.h"
#include "spdlog/spdlog.h"
#include "tools/cli/parse_help.h"
#include "tools/programs/program_log.h"

namespace taut::tools {
namespace {

struct Args {
  std::string config, daemon, state, log_level, log_format;
  bool observe = false, release = false, list = false, check_config = false, man = false;
};

constexpr int kGuardNice = -10;

constexpr const char* kAbout =
    "The agent of one machine: measures its tasks, reports to tautd, and applies the limits that tautd "
    "orders.";

constexpr std::string_view kNotes = R"(Examples:
  tautlet --config /etc/tautline/tautlet.yaml --list      print the tasks that the rules find, and their limits
  tautlet --config /etc/tautline/tautlet.yaml --observe   measure and report; change no limit
  tautlet --config /etc/tautline/tautlet.yaml             also apply limits to tasks of rules with manage: true
  tautlet --config /etc/tautline/tautlet.yaml --observe   with tiers.guard: log which task would be throttled or
                                                          killed when memory runs out
  tautlet --config /etc/tautline/tautlet.yaml --release   restore the owner's limits of all tasks

Signals:
  TERM, INT   stop; limits stay as they are, but what `tiers` and `probe` set is restored

Exit codes:
  0   stopped by a signal, or done
  1   failed
  2   invalid command line or configuration
  3   --release could not restore all limits)";

int Fail(int code, std::string_view message) {
  std::fprintf(stderr, "tautlet: %.*s\n", static_cast<int>(message.size()), message.data());
  return code;
}

absl::StatusOr<server::AgentConfig> ConfigOf(const Args& args) {
  absl::StatusOr<server::AgentConfig> config =
      args.config.empty() ? server::ParseAgentConfig("", "no file") : server::ReadAgentConfig(args.config);
  if (!config.ok()) return config;
  if (!args.daemon.empty()) config->daemon_address = args.daemon;
  if (!args.state.empty()) config->state = args.state;
  if (!args.log_level.empty()) config->log_level = args.log_level;
  if (!args.log_format.empty()) config->log_format = args.log_format;
  config->observe |= args.observe;
  char host[256] = "localhost";
  gethostname(host, sizeof(host) - 1);
  // TAUT_HOST has precedence, because gethostname() in a container returns the container's name.
  const char* const given = std::getenv("TAUT_HOST");
  const std::string machine = given != nullptr && *given != '\0' ? given : host;
  if (config->host.empty()) config->host = machine;
  if (config->name.empty()) config->name = machine;
  return config;
}

// Access to the kernel and the Docker engine on this machine.
struct Hands {
  node::CgroupMounts mounts;
  std::vector<std::unique_ptr<node::TaskFinder>> finders;
  std::string description;

  std::vector<node::TaskFinder*> pointers() const {
    std::vector<node::TaskFinder*> out;
    for (const auto& f : finders) out.push_back(f.get());
    return out;
  }
};

// Opens the task finders that the rules need, or every finder if `all`.
absl::StatusOr<Hands> OpenHands(const server::AgentConfig& config, bool all) {
  Hands hands;
  absl::StatusOr<node::CgroupMounts> mounts = node::ReadCgroupMounts(config.cgroup_root);
  if (!mounts.ok()) return mounts.status();
  hands.mounts = *mounts;
  hands.description = mounts->description();
  const auto wants = [&](node::TaskSource source) {
    return std::any_of(config.tasks.begin(), config.tasks.end(),
                       [&](const node::TaskRule& rule) { return rule.source == source; });
  };
  if (all || wants(node::TaskSource::kCgroup) || wants(node::TaskSource::kSystemd)) {
    auto finder = node::CgroupFinder::Create(hands.mounts, config.host, config.tasks);
    if (!finder.ok()) return finder.status();
    // With another root, the groups may belong to another machine's systemd.
    if (config.cgroup_root.empty()) (*finder)->UseSystemd(node::ConnectToSystemd());
    hands.finders.push_back(*std::move(finder));
  }
  if (all || wants(node::TaskSource::kDocker)) {
    node::DockerFinderOptions options;
    options.engine.address = config.docker_socket;
    options.host = config.host;
    options.rules = config.tasks;
    options.open_cgroup = [m = hands.mounts](std::string_view path) { return node::OpenCgroup(m, path); };
    auto finder = node::DockerFinder::Create(std::move(options));
    if (!finder.ok()) return finder.status();
    hands.finders.push_back(*std::move(finder));
    StrAppend(&hands.description, ", Docker at ", config.docker_socket);
  }
  return hands;
}

bool HasEngine(const server::AgentConfig& config) {
  std::error_code error;
  return std::filesystem::is_socket(config.docker_socket, error);
}

int List(const server::AgentConfig& config) {
  absl::StatusOr<Hands> hands = OpenHands(config, false);
  if (!hands.ok()) return Fail(1, Message(hands.status()));
  std::printf("%s; %zu rules\n", hands->description.c_str(), config.tasks.size());
  std::fputs(node::TaskListHead().c_str(), stdout);
  int code = 0;
  std::vector<std::string> refusals;
  size_t num_refused = 0;
  for (const auto& finder : hands->finders) {
    const absl::StatusOr<std::vector<node::FoundTask>> found = finder->Find();
    if (!found.ok()) {
      const bool is_missing = finder->name() == "docker" && !HasEngine(config);
      std::fprintf(stderr, "tautlet: %s%s\n", std::string(Message(found.status())).c_str(),
                   is_missing ? "; rules for containers find nothing" : "");
      if (!is_missing) code = 1;
      continue;
    }
    for (const node::FoundTask& task : *found) {
      const std::string line =
          node::TaskListLine(*finder, task, config.tasks[task.rule], config.tiers, !config.observe);
      std::fputs(line.c_str(), stdout);
    }
    for (std::string& why : finder->refusals()) refusals.push_back(std::move(why));
    num_refused += finder->num_refused();
  }
  const bool is_v1 = hands->mounts.version() == node::CgroupVersion::kV1;
  std::fputs(node::WeightsLine(config.tiers, is_v1).c_str(), stdout);
  if (num_refused > 0) std::printf("%zu skipped:\n", num_refused);
  for (const std::string& why : refusals) std::printf("  %s\n", why.c_str());
  if (num_refused > refusals.size()) std::printf("  and %zu more\n", num_refused - refusals.size());
  return code;
}

// Returns each problem that would make Serve() fail or prevent a connection to the daemon.
std::vector<std::string> Problems(const server::AgentConfig& config) {
  std::vector<std::string> out;
  const auto take = [&out](std::string_view about, const absl::Status& s) {
    if (!s.ok()) out.push_back(StrCat(about, about.empty() ? "" : ": ", Message(s)));
  };
  take("", OpenHands(config, false).status());
  take("state", node::CheckStateDirectory(config.state));
  if (config.daemon_address.empty()) return out;
  take("daemon.token_file", server::ReadSecretFile(config.token_file).status());
  take("daemon", ReadTlsFiles(config.ca_file, config.certificate_file, config.key_file).status());
  take("daemon.address", node::ResolveDaemonAddress(config.daemon_address));
  return out;
}

int CheckConfig(const Args& args, const server::AgentConfig& config) {
  const std::vector<std::string> problems = Problems(config);
  for (const std::string& problem : problems) Fail(2, problem);
  if (!problems.empty()) return 2;
  for (const std::string& notice : config.notices)
    std::fprintf(stderr, "tautlet: warning: %s\n", notice.c_str());
  const bool docker = std::any_of(config.tasks.begin(), config.tasks.end(), [](const node::TaskRule& rule) {
    return rule.source == node::TaskSource::kDocker;
  });
  if (docker && !HasEngine(config)) {
    std::printf("note: no Docker engine at %s; rules for containers find nothing until it runs\n",
                config.docker_socket.c_str());
  }
  std::printf("%s is valid: %zu rules\n",
              args.config.empty() ? "the default configuration" : args.config.c_str(), config.tasks.size());
  return 0;
}

int ReleaseAll(const server::AgentConfig& config) {
  if (const absl::Status s = node::LockStateDirectory(config.state); !s.ok()) return Fail(1, Message(s));
  absl::StatusOr<node::Ledger> ledger = node::Ledger::Open(StrCat(config.state, "/ledger"));
  if (!ledger.ok()) return Fail(1, Message(ledger.status()));
  if (ledger->entries().empty()) {
    std::printf("no limits to restore\n");
    return 0;
  }
  const bool docker = std::any_of(ledger->entries().begin(), ledger->entries().end(),
                                  [](const auto& e) { return e.first.starts_with("docker:"); });
  absl::StatusOr<Hands> hands = OpenHands(config, docker);
  if (!hands.ok()) return Fail(1, Message(hands.status()));
  int failed = 0;
  const std::unique_ptr<node::ProcessTable> processes = node::ProcessFiles();
  for (const node::Released& r : Release(*ledger, hands->pointers(), *processes)) {
    std::printf("%s %s %s: %s\n", r.ok ? "ok  " : "FAIL", r.job.c_str(), r.task.c_str(), r.text.c_str());
    failed += r.ok ? 0 : 1;
  }
  return failed == 0 ? 0 : 3;
}

double MachineMemoryBytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

absl::StatusOr<std::unique_ptr<node::Uplink>> OpenUplink(const server::AgentConfig& config,
                                                         const Hands& hands) {
  if (config.daemon_address.empty()) return std::unique_ptr<node::Uplink>(std::make_unique<node::NoUplink>());
  absl::StatusOr<std::string> token = server::ReadSecretFile(config.token_file);
  if (!token.ok()) return token.status();
  node::UplinkOptions options;
  options.address = config.daemon_address;
  options.token = *std::move(token);
  options.tls = config.tls;
  options.ca_file = config.ca_file;
  options.certificate_file = config.certificate_file;
  options.key_file = config.key_file;
  options.server_name = config.server_name;
  options.queue_path = StrCat(config.state, "/queue");
  options.max_queue_bytes = config.queue_bytes;
  options.hello.set_agent(config.name);
  options.hello.set_host(config.host);
  options.hello.set_version(std::string(kVersion));
  options.hello.set_observe(config.observe);
  options.hello.set_cores(static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)));
  options.hello.set_memory_bytes(MachineMemoryBytes());
  options.hello.set_speed(config.speed);
  options.hello.set_hands(hands.description);
  options.hello.set_machine(MachineId());
  return node::ConnectUplink(options);
}

void BeginGuard(const server::AgentConfig& config, bool has_memory_high) {
  if (config.tiers.guards()) {
    spdlog::info("memory of {} is guarded: {}{}{}",
                 config.tiers.guard_of.empty() ? "the machine" : config.tiers.guard_of,
                 config.tiers.guard.throttle ? "throttles" : "",
                 config.tiers.guard.throttle && config.tiers.guard.kill ? ", " : "",
                 config.tiers.guard.kill ? "kills" : "");
    // The guard must run while tasks compete for memory and CPU, so its thread raises its own priority if
    // permitted.
    (void)setpriority(PRIO_PROCESS, 0, kGuardNice);
    if (config.tiers.guard.throttle && !has_memory_high) {
      spdlog::warn("tiers.guard.throttle: cgroup v1 has no memory.high; no task is throttled");
    }
  }
  if (config.probe.is_on() && !has_memory_high) {
    spdlog::warn("probe: cgroup v1 has no memory.high; no task is probed");
  }
}

int Serve(const server::AgentConfig& config) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int s : {SIGTERM, SIGINT}) sigaddset(&signals, s);
  // All later threads inherit this signal mask, so that only the loop receives the signals.
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  RaiseDescriptorLimit();  // each task needs several descriptors
  if (const absl::Status s = node::LockStateDirectory(config.state); !s.ok()) return Fail(1, Message(s));
  absl::StatusOr<node::Ledger> ledger = node::Ledger::Open(StrCat(config.state, "/ledger"));
  if (!ledger.ok()) return Fail(1, Message(ledger.status()));
  absl::StatusOr<Hands> hands = OpenHands(config, false);
  if (!hands.ok()) return Fail(1, Message(hands.status()));
  absl::StatusOr<std::unique_ptr<node::Uplink>> uplink = OpenUplink(config, *hands);
  if (!uplink.ok()) return Fail(1, Message(uplink.status()));
  node::AgentOptions options;
  options.observe = config.observe;
  options.speed = config.speed;
  options.moves = config.moves.AtSpeed(config.speed);
  options.rules = config.tasks;
  options.machine_memory_bytes = MachineMemoryBytes();
  options.tiers = config.tiers;
  options.probe = config.probe;
  options.has_memory_high = hands->mounts.version() == node::CgroupVersion::kV2;
  options.has_shares = hands->mounts.version() == node::CgroupVersion::kV1;
  options.own_groups = node::OwnCgroups();
  const std::unique_ptr<node::MemorySource> machine = node::MachineMemory();
  const std::unique_ptr<node::MemorySource> guarded =
      config.tiers.guard_of.empty() ? nullptr
                                    : node::GroupMemory(hands->mounts, config.tiers.guard_of, *machine);
  ProgramLog log;
  node::AgentLoop loop({.sample_ms = config.sample_ms,
                        .find_s = config.find_s,
                        .speed = config.speed,
                        .state = config.state,
                        .daemon_address = config.daemon_address},
                       log);
  const std::unique_ptr<node::ProcessTable> processes = node::ProcessFiles();
  node::Agent agent(options, {hands->pointers(), uplink->get(), &*ledger, &loop,
                              guarded == nullptr ? machine.get() : guarded.get(), processes.get()});
  spdlog::info(
      "tautlet {} as {}: {}, {} rules{}; {}", kVersion, config.name, hands->description, config.tasks.size(),
      config.observe ? ", changes nothing (--observe)" : "",
      config.daemon_address.empty() ? std::string("no daemon") : StrCat("daemon ", config.daemon_address));
  for (const std::string& notice : config.notices) spdlog::warn("{}", notice);
  if (config.tasks.empty()) spdlog::warn("no rule in `tasks`: nothing is measured");
  BeginGuard(config, options.has_memory_high);
  const absl::Status s = loop.Run(agent, **uplink);
  if (!s.ok()) return Fail(1, Message(s));
  spdlog::info("stopped; limits stay as they are");
  return 0;
}

int Run(int argc, char** argv) {
  Args args;
  CLI::App app{kAbout, "tautlet"};
  app.footer(std::string(kNotes));
  app.set_version_flag("-V,--version", std::string(kVersion));
  app.add_option("--config", args.config,
                 "configuration file (YAML) with the rules; docs/agent/install.md describes it");
  app.add_option("--daemon", args.daemon, "HOST:PORT of tautd's agents.listen; overrides daemon.address");
  app.add_option("--state", args.state, "directory of ledger and queue; overrides state");
  app.add_flag("--observe", args.observe, "measure and report; change no limit");
  app.add_flag("--list", args.list, "print the tasks that the rules find, and exit");
  app.add_flag("--release", args.release, "restore the owner's limits of all tasks, and exit");
  app.add_option("--log-level", args.log_level, "debug, info, warning or error; overrides log.level");
  app.add_option("--log-format", args.log_format, "text or json; overrides log.format");
  app.add_flag("--check-config", args.check_config,
               "check the configuration and the files, directories and addresses that it names, and exit");
  // option for package builds, which the help omits
  app.add_flag("--man", args.man, "print the man page and exit")->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return e.get_exit_code() == 0 ? app.exit(e) : (app.exit(e), 2);
  }
  if (args.man) {
    const ManPageOptions page{"tautlet", "tautlet", StrCat("tautlet ", kVersion), 8, {"tautd(8)", "taut(1)"}};
    std::fputs(ManPage(app, page).c_str(), stdout);
    return 0;
  }
  const absl::StatusOr<server::AgentConfig> config = ConfigOf(args);
  if (!config.ok()) return Fail(2, Message(config.status()));
  if (const absl::Status s = SetUpLogging(config->log_level, config->log_format); !s.ok()) {
    return Fail(2, Message(s));
  }
  if (args.check_config) return CheckConfig(args, *config);
  if (args.list) return List(*config);
  if (args.release) return ReleaseAll(*config);
  return Serve(*config);
}

}  // namespace
}  // namespace taut::tools

int main(int argc, char** argv) { return taut::tools::Run(argc, argv); }
