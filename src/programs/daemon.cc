#include "programs/daemon.h"

#include <unistd.h>

#include <chrono>
#include <fstream>

#include "base/strings.h"
#include "programs/process.h"
#include "programs/version.h"
#include "spdlog/spdlog.h"
#include "store/in_memory_store.h"
#include "store/sqlite_store.h"

namespace taut {
namespace {

constexpr std::chrono::milliseconds kTick{200};       // an OOM kill waits no longer
constexpr std::chrono::milliseconds kSampleTick{20};  // where time is the samples', it may run fast
constexpr std::chrono::seconds kStoreRetry{2};

Timestamp WallNow() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
}

double SteadyMilliseconds() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(since).count();
}

LiveSettings LiveSettingsOf(const DaemonConfig& config) {
  LiveSettings settings{config.recommenders, config.rules, config.migration};
  // Agents say at which limit a task was killed; where nobody does, it was its owner's.
  settings.enforced = false;
  return settings;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Daemon>> Daemon::Start(const DaemonConfig& config,
                                                      const std::string& config_path) {
  std::unique_ptr<Daemon> daemon(new Daemon(config));
  if (absl::Status s = daemon->OpenStore(); !s.ok()) return s;
  if (absl::Status s = daemon->StartControl(); !s.ok()) return s;
  daemon->PrepareBackfill();
  if (absl::Status s = daemon->StartAgents(); !s.ok()) return s;
  if (absl::Status s = daemon->StartServer(config_path); !s.ok()) return s;
  daemon->loop_ = std::thread([d = daemon.get()] { d->Loop(); });
  return daemon;
}

Daemon::~Daemon() { Stop(); }

absl::Status Daemon::OpenStore() {
  const Retention keep{.history_days = config_.store.history_days,
                       .decision_days = config_.store.decision_days};
  if (config_.store.path == "memory") {
    auto store = std::make_unique<InMemoryStore>(keep);
    history_ = store.get();
    store_ = std::move(store);
    return absl::OkStatus();
  }
  SqliteStore::Options options;
  options.path = config_.store.path;
  options.keep = keep;
  absl::StatusOr<std::unique_ptr<SqliteStore>> store = SqliteStore::Open(options);
  if (!store.ok()) return store.status();
  history_ = store->get();
  store_ = *std::move(store);
  return absl::OkStatus();
}

absl::Status Daemon::StartControl() {
  absl::StatusOr<MappingRules> mapping = MappingRules::Compile(MappingRulesOf(config_.ingest));
  if (!mapping.ok()) return mapping.status();
  if (config_.agents.listen.empty()) {
    if (config_.actuator == ActuatorKind::kAgents) {
      return absl::InvalidArgumentError("actuator.kind is agents, but agents.listen names no address");
    }
    actuator_ = std::make_unique<DryRunActuator>();
  } else {
    auto hub =
        std::make_unique<AgentHub>(AgentHub::Options{.apply = config_.actuator == ActuatorKind::kAgents,
                                                     .steady_s = [] { return SteadyMilliseconds() / 1000; },
                                                     .now = WallNow});
    hub_ = hub.get();
    actuator_ = std::move(hub);
  }
  ControlOptions options;
  options.ingest = config_.ingest.options;
  options.clock = config_.clock;
  if (config_.clock == ClockSource::kSamples) {
    options.ingest.windows.max_future_seconds = int64_t{1} << 40;
    // Days go by in seconds, and the end of one takes a while.
    options.max_waiting_windows = options.max_open_windows = 2 * kWindowsPerDay;
    options.ingest.windows.max_samples_per_series = 16 * 1024;
  }
  options.live = LiveSettingsOf(config_);
  options.checkpoint_windows = config_.store.checkpoint_windows;
  control_ = std::make_unique<ControlPlane>(
      options, *std::move(mapping),
      ControlPlane::Parts{store_.get(), history_, actuator_.get(), SteadyMilliseconds});
  const double start_ms = SteadyMilliseconds();
  if (absl::Status s = control_->Restore(); !s.ok()) return s;
  for (const std::string& warning : control_->warnings()) spdlog::warn("{}", warning);
  if (const auto* file = dynamic_cast<const SqliteStore*>(store_.get()); file != nullptr) {
    for (const std::string& damage : file->damage()) spdlog::warn("{}", damage);
  }
  spdlog::info("{} jobs restored from {} in {:.1f} s", control_->view()->jobs.size(), config_.store.path,
               (SteadyMilliseconds() - start_ms) / 1000);
  return absl::OkStatus();
}

absl::Status Daemon::StartAgents() {
  if (hub_ == nullptr) return absl::OkStatus();
  absl::StatusOr<std::vector<std::string>> tokens = ReadTokenFile(config_.agents.tokens_file);
  if (!tokens.ok()) return tokens.status();
  AgentServerOptions options;
  options.listen = config_.agents.listen;
  options.tokens = *std::move(tokens);
  options.certificate_file = config_.agents.certificate_file;
  options.key_file = config_.agents.key_file;
  options.client_ca_file = config_.agents.client_ca_file;
  hub_->SetControl(control_.get());
  absl::StatusOr<std::unique_ptr<AgentServer>> server = AgentServer::Start(options, hub_);
  if (!server.ok()) return server.status();
  agent_server_ = *std::move(server);
  hub_->SetServer(agent_server_.get());
  control_->OnTick([this](const TickEvents& events) {
    for (const SettingChange& change : events.settings) hub_->OnSettings(change.job);
  });
  spdlog::info("agents come to port {}", agent_server_->port());
  return absl::OkStatus();
}

absl::Status Daemon::StartServer(const std::string& config_path) {
  absl::StatusOr<ServerOptions> server_options = OpenServerOptions(config_.server);
  if (!server_options.ok()) return server_options.status();
  server_options->open_paths.insert(server_options->open_paths.end(), {"/healthz", "/readyz"});
  if (server_options->default_headers.empty()) server_options->default_headers = PageSecurityHeaders();
  ApiOptions options;
  options.machine = config_.machine;
  options.version = kVersion;
  options.store_text = config_.store.path == "memory" ? "memory: nothing outlives the daemon"
                                                      : StrCat("SQLite, ", config_.store.path);
  options.config_file = config_path;
  options.started_s = WallNow().seconds();
  options.pages = config_.server.pages;
  options.now = WallNow;
  options.steady_ms = SteadyMilliseconds;
  options.server_counts = [this] { return server_ ? server_->counts() : ServerCounts(); };
  options.resident_bytes = ResidentBytes;
  options.cell_name = config_.cell.name;
  for (const std::string& link : config_.cell.links) {
    absl::StatusOr<std::pair<std::string, std::string>> parsed = ParseCellLink(link);
    if (!parsed.ok()) return parsed.status();
    options.cell_links.push_back({std::move(parsed->first), std::move(parsed->second)});
  }
  if (hub_ != nullptr) {
    options.agents = [hub = hub_] { return hub->Agents(); };
    options.refused_agents = [hub = hub_] { return hub->RefusedAgents(); };
    options.agent_counts = [hub = hub_] { return hub->counts(); };
  }
  options.backfill = [this] { return backfill_->progress(); };
  api_ = std::make_unique<Api>(*control_, std::move(options));
  absl::StatusOr<std::unique_ptr<HttpServer>> server = HttpServer::Start(
      *server_options, [this](const HttpRequest& request) { return api_->Handle(request); });
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  return absl::OkStatus();
}

std::string Daemon::url() const {
  const ServerOptions& options = config_.server.options;
  const std::string& host = options.listen.front().host;
  const bool v6 = host.find(':') != std::string::npos;
  return StrCat(options.has_tls() ? "https" : "http", "://", v6 ? StrCat("[", host, "]") : host, ":", port(),
                "/");
}

void Daemon::PrepareBackfill() {
  BackfillRun::Options options;
  options.config = config_.backfill;
  options.rules = MappingRulesOf(config_.ingest);
  if (config_.store.path != "memory") options.mark_file = StrCat(config_.store.path, ".backfill");
  options.now = WallNow;
  options.should_stop = [this] { return stopping(); };
  options.wait = [this](std::chrono::seconds pause) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, pause, [this] { return stopping_; });
  };
  backfill_ = std::make_unique<BackfillRun>(*control_, std::move(options));
}

bool Daemon::stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void Daemon::Loop() {
  backfill_cut_ = absl::IsCancelled(backfill_->Run());
  const std::chrono::milliseconds tick = config_.clock == ClockSource::kSamples ? kSampleTick : kTick;
  std::string last_error;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    if (hub_ != nullptr) hub_->BeginTick();
    const absl::Status s = control_->Tick(WallNow());
    if (hub_ != nullptr) hub_->EndTick(s.ok());
    if (!s.ok() && last_error != Message(s)) spdlog::error("{}", Message(s));
    if (s.ok() && !last_error.empty()) spdlog::info("the store takes windows again");
    last_error = s.ok() ? std::string() : std::string(Message(s));
    lock.lock();
    wake_.wait_for(lock, s.ok() ? tick : std::chrono::milliseconds(kStoreRetry),
                   [this] { return stopping_; });
  }
}

void Daemon::Reload(const DaemonConfig& config) {
  control_->Reload(LiveSettingsOf(config));
  if (hub_ != nullptr) hub_->OnSettings("");
  config_.recommenders = config.recommenders;
  config_.rules = config.rules;
  config_.migration = config.migration;
  spdlog::info(
      "rules, job defaults, migration and recommenders were read again; anything else needs a restart");
}

void Daemon::Stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  wake_.notify_all();
  if (loop_.joinable()) loop_.join();
  if (api_) api_->Close();
  if (server_) server_->Stop();
  if (agent_server_) agent_server_->Stop();
  if (!control_) return;
  // A backfill that was cut goes on from the last window at the next start: none of after it may be closed
  // now.
  absl::Status s = backfill_cut_ ? absl::OkStatus() : control_->Tick(WallNow());
  if (s.ok()) s = control_->CheckpointAll();
  if (s.ok()) {
    spdlog::info("stopped; {} jobs are in the store", control_->view()->jobs.size());
  } else {
    spdlog::error("stopped, but without a last checkpoint: {}", Message(s));
  }
}

}  // namespace taut
