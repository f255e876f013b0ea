#include "tools/programs/daemon.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "common/base/strings.h"
#include "common/net/clocks.h"
#include "server/config/old_unit.h"
#include "server/control/ordered_replicas.h"
#include "server/store/in_memory_store.h"
#include "server/store/sqlite_store.h"
#include "server/store/store_copies.h"
#include "spdlog/spdlog.h"
#include "tools/programs/price_setup.h"
#include "tools/programs/process.h"
#include "tools/programs/version.h"
#include "tools/programs/webhook_setup.h"

namespace taut::tools {
namespace {

constexpr std::chrono::milliseconds kTick{200};       // an OOM kill waits no longer
constexpr std::chrono::milliseconds kSampleTick{20};  // where time is the samples', it may run fast
constexpr std::chrono::seconds kStoreRetry{2};
// Windows open at a stop and this long before it are still brought by senders that try again.
constexpr std::chrono::seconds kShortGap{60};
constexpr int64_t kFarBeyondSeconds = 3600;  // as ClockGuard::Options::soon_s
constexpr double kAgentsEveryMs = 1000;      // who is connected is looked at this often

double SteadyMilliseconds() { return SteadySeconds() * 1000; }

// Beside the store.
std::string StateDir(const std::string& store_path) {
  if (store_path == "memory") return std::filesystem::temp_directory_path();
  const std::string dir = std::filesystem::path(store_path).parent_path();
  return dir.empty() ? "." : dir;
}

}  // namespace

brain::LiveSettings LiveSettingsOf(const server::DaemonConfig& config) {
  brain::LiveSettings settings{config.recommenders, config.rules, config.migration};
  settings.enforcement = config.actuator == server::ActuatorKind::kAgents ? brain::Enforcement::kByAgents
                         : config.actuator == server::ActuatorKind::kKubernetes ? brain::Enforcement::kAlways
                                                                                : brain::Enforcement::kNever;
  return settings;
}

absl::StatusOr<std::unique_ptr<Daemon>> Daemon::Start(const server::DaemonConfig& config,
                                                      const std::string& config_path) {
  std::unique_ptr<Daemon> daemon(new Daemon(config));
  if (absl::Status s = daemon->OpenStore(); !s.ok()) return s;
  if (absl::Status s = daemon->StartControl(); !s.ok()) return s;
  if (absl::Status s = daemon->StartActs(); !s.ok()) return s;
  if (absl::Status s = daemon->StartQuota(); !s.ok()) return s;
  if (absl::Status s = daemon->StartBudgets(); !s.ok()) return s;
  daemon->StartMachines();
  if (absl::Status s = daemon->OpenPrices(); !s.ok()) return s;
  daemon->StartCapacity();
  daemon->StartWebhook();
  if (daemon->kubernetes_ != nullptr) {
    if (absl::Status s = daemon->kubernetes_->Start(daemon->control_.get()); !s.ok()) return s;
  }
  if (daemon->kubernetes_actuator_ != nullptr) daemon->kubernetes_actuator_->Start();
  daemon->PrepareBackfill();
  daemon->PrepareLateHistory();
  if (absl::Status s = daemon->StartAgents(); !s.ok()) return s;
  if (absl::Status s = daemon->StartExternalScaler(); !s.ok()) return s;
  if (absl::Status s = daemon->StartServer(config_path); !s.ok()) return s;
  daemon->loop_ = std::thread([d = daemon.get()] { d->Loop(); });
  if (daemon->late_history_ != nullptr) daemon->late_history_->Start();
  return daemon;
}

Daemon::~Daemon() { Stop(); }

absl::Status Daemon::OpenStore() {
  const server::Retention keep{.history_days = config_.store.history_days,
                               .decision_days = config_.store.decision_days};
  if (config_.store.path == "memory") {
    auto store = std::make_unique<server::InMemoryStore>(keep);
    history_ = store.get();
    store_ = std::move(store);
    return absl::OkStatus();
  }
  server::SqliteStore::Options options;
  options.path = config_.store.path;
  options.keep = keep;
  absl::StatusOr<std::unique_ptr<server::SqliteStore>> store = server::SqliteStore::Open(options);
  if (!store.ok()) return store.status();
  history_ = store->get();
  store_ = *std::move(store);
  absl::StatusOr<std::unique_ptr<server::SampleLogFile>> samples =
      server::SampleLogFile::Open({.path = config_.store.path});
  if (!samples.ok()) return samples.status();
  samples_ = *std::move(samples);
  return absl::OkStatus();
}

absl::Status Daemon::MakeActuators() {
  std::unique_ptr<server::WebhookActuator> webhook;
  if (!config_.webhook.url.empty()) {
    absl::StatusOr<std::unique_ptr<server::WebhookActuator>> opened =
        OpenWebhook(config_.webhook, SteadySeconds);
    if (!opened.ok()) return opened.status();
    webhook = *std::move(opened);
    webhook_ = webhook.get();
    if (const std::string warning = WebhookWarning(config_.webhook); !warning.empty()) {
      spdlog::warn("{}", warning);
    }
  }
  if (absl::Status s = OpenKubernetes(); !s.ok()) return s;
  if (absl::Status s = MakeAgentActuator(); !s.ok()) return s;
  if (webhook != nullptr) actuators_.Add("webhook", std::move(webhook));
  return absl::OkStatus();
}

absl::Status Daemon::OpenKubernetes() {
  if (config_.kubernetes.kubeconfig.empty()) {
    if (config_.actuator != server::ActuatorKind::kKubernetes) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "actuator.kind is kubernetes, but kubernetes.kubeconfig names no cluster");
  }
  absl::StatusOr<server::ClusterAccess> access = server::OpenClusterAccess(config_.kubernetes);
  if (!access.ok()) return access.status();
  absl::StatusOr<std::unique_ptr<server::KubernetesRun>> run =
      server::KubernetesRun::Create({.config = config_.kubernetes,
                                     .access = *std::move(access),
                                     .naming = {config_.kubernetes.cluster, config_.ingest.kubernetes_jobs},
                                     .now = [this] { return Now(); },
                                     .sample_time =
                                         [this] {
                                           const bool by_samples = config_.clock == ClockSource::kSamples;
                                           return by_samples ? control_->ingest().now() : Now();
                                         },
                                     .state_dir = StateDir(config_.store.path),
                                     .log = &log_});
  if (!run.ok()) return run.status();
  kubernetes_ = *std::move(run);
  return absl::OkStatus();
}

// The first of the set: it reports why orders that no actuator claims are not applied.
absl::Status Daemon::MakeAgentActuator() {
  const bool apply = config_.actuator == server::ActuatorKind::kAgents;
  if (config_.agents.listen.empty()) {
    if (apply)
      return absl::InvalidArgumentError("actuator.kind is agents, but agents.listen names no address");
    if (config_.actuator == server::ActuatorKind::kKubernetes) return AddKubernetesActuator();
    actuators_.Add("dry_run", std::make_unique<server::DryRunActuator>());
    return absl::OkStatus();
  }
  auto hub = std::make_unique<server::AgentHub>(
      server::AgentHub::Options{.apply = apply,
                                .steady_s = SteadySeconds,
                                .now = [this] { return Now(); },
                                .elsewhere =
                                    [webhook = webhook_](const std::string& job) {
                                      return webhook != nullptr && webhook->Claims(job, Resource::kMemory);
                                    },
                                .own_machine = MachineId()});
  hub_ = hub.get();
  actuators_.Add("agents", std::move(hub));
  return config_.actuator == server::ActuatorKind::kKubernetes ? AddKubernetesActuator() : absl::OkStatus();
}

absl::Status Daemon::AddKubernetesActuator() {
  absl::StatusOr<std::unique_ptr<server::KubernetesActuator>> made =
      kubernetes_->MakeActuator(SteadySeconds, int64_t{config_.store.forget_jobs_days} * kDaySeconds);
  if (!made.ok()) return made.status();
  kubernetes_actuator_ = made->get();
  actuators_.Add("kubernetes", *std::move(made));
  return absl::OkStatus();
}

absl::Status Daemon::StartControl() {
  absl::StatusOr<server::MappingRules> mapping =
      server::MappingRules::Compile(server::MappingRulesOf(config_.ingest));
  if (!mapping.ok()) return mapping.status();
  if (absl::Status s = MakeActuators(); !s.ok()) return s;
  if (!config_.external_recommender.address.empty()) {
    absl::StatusOr<std::unique_ptr<server::ExternalRecommender>> external = OpenExternalRecommender(
        config_.external_recommender, config_.cell.name, [this] { return Now().seconds(); },
        [this] { return LargestMachine(); });
    if (!external.ok()) return external.status();
    external_ = *std::move(external);
  }
  server::ControlOptions options;
  options.front.ingest = config_.ingest.options;
  options.front.clock = config_.clock;
  if (config_.clock == ClockSource::kSamples) {
    // Days go by in seconds, and the end of one takes a while.
    options.front.max_waiting_windows = options.front.max_open_windows = 2 * kWindowsPerDay;
    options.front.ingest.windows.max_samples_per_series = 16 * 1024;
  }
  options.live = LiveSettingsOf(config_);
  options.checkpoint_windows = config_.store.checkpoint_windows;
  options.jobs.forget_jobs_days = config_.store.forget_jobs_days;
  options.jobs.return_days = config_.store.history_days;
  control_ = std::make_unique<server::ControlPlane>(
      options, *std::move(mapping),
      server::ControlPlane::Parts{store_.get(), history_, &actuators_, SteadyMilliseconds, samples_.get(),
                                  external_.get(), kubernetes_.get()});
  const double start_ms = SteadyMilliseconds();
  if (absl::Status s = control_->Restore(); !s.ok()) return s;
  {
    const std::lock_guard lock(clock_mutex_);
    server::ClockGuard::Options clock;
    // Where time is the samples', this machine's clock decides nothing.
    clock.wait_s = config_.clock == ClockSource::kSamples ? 0 : config_.clock_wait_s;
    guard_.emplace(clock, WallNow(), SteadySeconds(), control_->ingest().time_before());
  }
  (void)StepClock();  // before anyone asks
  for (const std::string& warning : control_->warnings()) spdlog::warn("{}", warning);
  std::vector<std::string> stored;
  for (const server::JobView& job : control_->view()->jobs) stored.push_back(job.record->name);
  if (const std::string old = server::OldUnitNotice(stored, config_.ingest.kubernetes_jobs); !old.empty())
    spdlog::warn("{}", old);
  if (const auto* file = dynamic_cast<const server::SqliteStore*>(store_.get()); file != nullptr) {
    for (const std::string& damage : file->damage()) spdlog::warn("{}", damage);
  }
  if (const uint64_t samples = control_->ingest().replayed_samples(); samples > 0) {
    spdlog::info("{} samples of open windows restored", samples);
  }
  spdlog::info("{} jobs restored from {} in {:.1f} s", control_->view()->jobs.size(), config_.store.path,
               (SteadyMilliseconds() - start_ms) / 1000);
  return absl::OkStatus();
}

absl::Status Daemon::StartActs() {
  NotifyOptions options;
  options.webhook.url = config_.notify.url;
  options.webhook.ca_file = config_.notify.ca_file;
  absl::StatusOr<std::string> secret = server::ReadSecretFile(config_.notify.secret_file);
  if (!secret.ok()) return secret.status();
  options.webhook.secret = *std::move(secret);
  options.events = config_.notify.events;
  options.cell = config_.cell.name;
  const auto job_name = [this](JobId id) {
    std::string name;
    control_->Look(id, [&](const brain::LiveJob& job) { name = job.record.name; });
    return name;
  };
  absl::StatusOr<std::unique_ptr<DaemonActs>> acts =
      DaemonActs::Start(options, job_name, control_->actuator_name());
  if (!acts.ok()) return acts.status();
  acts_ = *std::move(acts);
  control_->OnTick([this](const server::TickEvents& events) { acts_->OnTick(events); });
  return absl::OkStatus();
}

// After the restore: it has loaded the orders that were waiting, and added the decisions without an outcome.
void Daemon::StartWebhook() {
  if (webhook_ == nullptr) return;
  webhook_->Start([this](uint64_t decision) {
    server::DecisionQuery query;
    query.before_id = decision + 1;
    query.after_id = decision - 1;
    const absl::StatusOr<std::vector<Decision>> found =
        history_->Decisions(query, server::History::Reasons::kLeaveOut);
    return !found.ok() || (!found->empty() && found->front().outcome == Outcome::kPending);
  });
}

absl::Status Daemon::StartAgents() {
  if (hub_ == nullptr) return absl::OkStatus();
  hub_->SetIntake(&control_->agents());
  server::AgentListener* listener = hub_;
  if (kubernetes_ != nullptr) {
    const server::KubernetesRun* cluster = kubernetes_.get();
    pod_tasks_ = std::make_unique<server::PodTasks>(
        server::PodTasks::Options{
            .find = [cluster](std::string_view id) { return cluster->TaskOfContainer(id); },
            .is_synced = [cluster] { return cluster->synced(); },
            .steady_s = SteadySeconds},
        hub_);
    listener = pod_tasks_.get();
  }
  absl::StatusOr<std::unique_ptr<AgentPort>> server = AgentPort::Start(config_.agents, listener);
  if (!server.ok()) return server.status();
  agent_server_ = *std::move(server);
  if (pod_tasks_ != nullptr) pod_tasks_->SetServer(agent_server_.get());
  hub_->SetServer(pod_tasks_ != nullptr ? static_cast<server::AgentServer*>(pod_tasks_.get())
                                        : agent_server_.get());
  control_->OnTick([this](const server::TickEvents& events) {
    for (const SettingChange& change : events.settings) hub_->OnSettings(change.job);
  });
  spdlog::info("listening for agents on port {}", agent_server_->port());
  return absl::OkStatus();
}

absl::Status Daemon::StartExternalScaler() {
  const server::ExternalScalerConfig& config = config_.external_scaler;
  if (config.listen.empty()) return absl::OkStatus();
  server::ScalerServerOptions options;
  options.listen = config.listen;
  options.certificate_file = config.certificate_file;
  options.key_file = config.key_file;
  options.client_ca_file = config.client_ca_file;
  absl::StatusOr<std::unique_ptr<server::ScalerServer>> server = server::ScalerServer::Start(
      options, [this](const std::string& job) { return server::OrderedReplicas(*control_, job); });
  if (!server.ok()) {
    return absl::Status(server.status().code(), StrCat("external_scaler: ", Message(server.status())));
  }
  scaler_ = *std::move(server);
  spdlog::info("listening for KEDA on port {}", scaler_->port());
  return absl::OkStatus();
}

absl::Status Daemon::StartQuota() {
  if (config_.quota.file.empty()) return absl::OkStatus();
  const auto why_held = [this](std::string_view group) {
    return budgets_ == nullptr ? "" : budgets_->desk()->WhyHeld(group);
  };
  absl::StatusOr<std::unique_ptr<QuotaRun>> quota =
      QuotaRun::Open(config_.quota, {.store_path = config_.store.path,
                                     .keep_days = config_.store.decision_days,
                                     .now = [this] { return CellNow(); },
                                     .doubt = [this] { return ClockDoubt(); },
                                     .held = why_held});
  if (!quota.ok()) return quota.status();
  quota_ = *std::move(quota);
  quota_->desk()->OnWindow(*control_->view());  // of what is stored
  control_->OnTick([this](const server::TickEvents& events) {
    if (events.window != nullptr && !events.past) quota_->desk()->OnWindow(*control_->view());
  });
  if (kubernetes_ == nullptr) return absl::OkStatus();
  if (absl::Status s = kubernetes_->HoldToQuota(
          quota_->desk(), config_.ingest.options.job_labels,
          config_.budgets.file.empty() ? nullptr : std::function<std::string(std::string_view)>(why_held));
      !s.ok())
    return s;
  if (!config_.kubernetes.resource_quotas) return absl::OkStatus();
  return kubernetes_->KeepQuotas([this] { return NamespaceQuotasOf(quota_->desk()->View()); });
}

absl::Status Daemon::StartBudgets() {
  if (config_.budgets.file.empty()) return absl::OkStatus();
  BudgetRun::Options options;
  options.history = history_;
  options.view = [this] { return control_->view(); };
  options.scheme = [this] { return quota_->desk()->scheme(); };
  options.now = [this] { return CellNow(); };
  options.doubt = [this] { return ClockDoubt(); };
  absl::StatusOr<std::unique_ptr<BudgetRun>> budgets = BudgetRun::Open(config_, std::move(options));
  if (!budgets.ok()) return budgets.status();
  budgets_ = *std::move(budgets);
  return absl::OkStatus();
}

PerResource<double> Daemon::LargestMachine() const {
  PerResource<double> largest{};
  if (!machines_started_) return largest;
  for (const auto& machine : machines_->desk()->View()->machines) {
    for (const Resource r : kResources) {
      double& most = largest[static_cast<size_t>(r)];
      most = std::max(most, machine->of(r).capacity.value_or(0));
    }
  }
  return largest;
}

void Daemon::StartMachines() {
  std::vector<const server::PlacementSource*> sources;
  if (hub_ != nullptr) sources.push_back(hub_);
  if (kubernetes_ != nullptr) sources.push_back(&kubernetes_->placement());
  if (sources.empty()) return;
  machines_ =
      std::make_unique<MachinesRun>(config_.machines, config_.store.path, std::move(sources), *control_);
  control_->OnTick([this](const server::TickEvents& events) { machines_->OnTick(events); });
  machines_started_ = true;
}

absl::Status Daemon::OpenPrices() {
  if (config_.prices.file.empty()) return absl::OkStatus();
  std::string text;
  absl::StatusOr<brain::Pricing> pricing = ReadPrices(config_.prices, &text);
  if (!pricing.ok()) return pricing.status();
  pricing_ = *std::move(pricing);
  price_changes_ = RecordPrices(config_.store.path, std::move(text), *pricing_, Now().seconds());
  return absl::OkStatus();
}

// After the machines and quota, whose views of a window it reads.
void Daemon::StartCapacity() {
  capacity_ = std::make_unique<CapacityRun>(
      CapacityRun::Parts{.control = *control_,
                         .machines = machines_ != nullptr ? machines_->desk() : nullptr,
                         .quota = quota_ != nullptr ? quota_->desk() : nullptr,
                         .pricing = pricing_.has_value() ? &*pricing_ : nullptr,
                         .default_tier = config_.quota.default_tier},
      config_.store.path);
  control_->OnTick([this](const server::TickEvents& events) { capacity_->OnTick(events); });
}

absl::Status Daemon::StartServer(const std::string& config_path) {
  absl::StatusOr<OidcParts> oidc = OpenOidc(config_.server.oidc, [] { return WallNow().seconds(); });
  if (!oidc.ok()) return oidc.status();
  provider_keys_ = std::move(oidc->keys);
  if (provider_keys_ != nullptr) provider_keys_->Start();
  config_.server.options.verifier = oidc_verifier_ = oidc->verifier;
  login_ = std::move(oidc->login);
  if (login_ != nullptr) {
    login_->Start();
    config_.server.options.sessions = login_->sessions();
  }
  absl::StatusOr<ServerOptions> server_options = server::OpenServerOptions(config_.server);
  if (!server_options.ok()) return server_options.status();
  if (absl::Status s = CheckBindings(config_.server, *server_options, config_.quota, config_.budgets);
      !s.ok())
    return s;
  server_options->open_paths.insert(server_options->open_paths.end(), {"/healthz", "/readyz"});
  if (login_ != nullptr) {
    const std::vector<std::string> open = server::Api::OpenPathsWithLogin();
    server_options->open_paths.insert(server_options->open_paths.end(), open.begin(), open.end());
    // A proxy may pass on another Host than the one that browsers have in Origin.
    server_options->names.push_back(login_->host());
  }
  if (server_options->default_headers.empty()) server_options->default_headers = PageSecurityHeaders();
  server::ApiOptions options;
  options.machine = config_.machine;
  options.login = login_.get();
  options.takes_tokens = !server_options->is_open();
  options.version = kVersion;
  options.store_text = config_.store.path == "memory" ? "memory: lost when tautd stops"
                                                      : StrCat("SQLite, ", config_.store.path);
  options.config_file = config_path;
  options.started_s = WallNow().seconds();
  options.pages = config_.server.pages;
  options.now = [this] { return Now(); };
  options.confirm_clock = [this] { return ConfirmClock(); };
  options.steady_ms = SteadyMilliseconds;
  options.audit = [this](const server::ApiAct& act) { audit_.Log(act, SteadySeconds()); };
  options.server_counts = [this] { return server_ ? server_->counts() : ServerCounts(); };
  options.process = [] {
    return server::ProcessFacts{CpuSeconds(), ResidentBytes(), VirtualBytes(), OpenDescriptors(),
                                MostDescriptors()};
  };
  if (config_.store.path != "memory") {
    options.store_bytes = [path = config_.store.path] {
      uint64_t bytes = 0;
      for (const char* suffix : {"", "-wal", "-shm"}) {
        std::error_code absent;
        const uintmax_t size = std::filesystem::file_size(path + suffix, absent);
        bytes += absent ? 0 : size;
      }
      return bytes;
    };
  }
  if (acts_->notifies()) options.notifications = [this] { return acts_->notifications(); };
  options.cell_name = config_.cell.name;
  if (quota_ != nullptr) options.quota = quota_->desk();
  if (budgets_ != nullptr) options.businesses = budgets_->desk();
  if (machines_ != nullptr) {
    options.machines = machines_->desk();
    options.machine_counts = [this] { return machines_->counts(); };
  }
  options.capacity = capacity_->desk();
  options.capacity_failed_saves = [this] { return capacity_->failed_saves(); };
  if (pricing_.has_value()) options.pricing = &*pricing_;
  options.price_changes = std::move(price_changes_);
  options.prices = {{config_.prices.core_hour, config_.prices.gib_hour}, config_.prices.currency};
  for (const std::string& text : config_.prices.budgets) {
    absl::StatusOr<server::BudgetLine> line = server::ParseBudget(text);
    if (!line.ok()) return line.status();
    options.budgets.push_back({std::move(line->label), std::move(line->value), line->per_month});
  }
  for (const std::string& link : config_.cell.links) {
    absl::StatusOr<std::pair<std::string, std::string>> parsed = server::ParseCellLink(link);
    if (!parsed.ok()) return parsed.status();
    options.cell_links.push_back({std::move(parsed->first), std::move(parsed->second)});
  }
  if (hub_ != nullptr) {
    options.agents = [hub = hub_] { return hub->Agents(); };
    options.memory_needed_by = [hub = hub_](const std::string& job) { return hub->MemoryNeededBy(job); };
    options.memory_needed = [hub = hub_] { return hub->MemoryNeeded(); };
    options.refused_agents = [hub = hub_] { return hub->RefusedAgents(); };
    options.agent_counts = [this] {
      server::AgentHubCounts counts = hub_->counts();
      const server::PodTasksCounts pods =
          pod_tasks_ == nullptr ? server::PodTasksCounts() : pod_tasks_->pod_counts();
      counts.unknown_containers = pods.waiting;
      counts.dropped_of_containers = pods.dropped;
      return counts;
    };
    options.agent_port_counts = [this] { return agent_server_->counts(); };
  }
  if (scaler_ != nullptr) options.scaler_counts = [this] { return scaler_->counts(); };
  if (!config_.quota_grpc.listen.empty()) {
    options.quota_port_counts = [this] {
      const std::lock_guard lock(quota_port_mutex_);
      return quota_port_ ? quota_port_->counts() : server::AdmissionServerCounts();
    };
  }
  if (external_ != nullptr) options.external = [this] { return external_->health(); };
  if (webhook_ != nullptr) options.webhook = [webhook = webhook_] { return webhook->counts(); };
  if (kubernetes_ != nullptr) {
    options.kubernetes = [this] {
      server::KubernetesFacts facts = kubernetes_->facts();
      if (kubernetes_actuator_ == nullptr) return facts;
      const server::KubernetesActuatorCounts done = kubernetes_actuator_->counts();
      facts.resizes = done.resizes;
      facts.scales = done.scales;
      facts.templates = done.templates;
      facts.failed_changes = done.failed;
      facts.evictions = done.evicted;
      facts.refused_evictions = done.not_evicted;
      facts.stepped_back = done.stepped_back;
      facts.orders = done.orders;
      facts.startups = done.startups;
      facts.kernel_low = done.kernel_low;
      return facts;
    };
  }
  if (kubernetes_ != nullptr) {
    options.container = [this](const std::string& job) { return kubernetes_->ContainerOf(job); };
    options.pod_totals = [this](const std::string& job) { return kubernetes_->PodTotalsOf(job); };
    options.cluster_notice = [this](const std::string& job) { return kubernetes_->NoticeOf(job); };
  } else {
    replica_watch_ = std::make_unique<server::ReplicaWatch>(*control_);
    options.cluster_notice = [this](const std::string& job) { return replica_watch_->NoticeOf(job); };
  }
  if (kubernetes_ != nullptr) options.why_undecided = [this] { return kubernetes_->WhyUndecided(); };
  options.backfill = [this] { return backfill_->progress(); };
  if (late_history_ != nullptr) options.late_jobs = [this] { return late_history_->progress(); };
  api_ = std::make_unique<server::Api>(*control_, std::move(options));
  absl::StatusOr<std::unique_ptr<HttpServer>> server = HttpServer::Start(
      *server_options, [this](const HttpRequest& request) { return api_->Handle(request); });
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  return StartQuotaPort(*server_options);
}

absl::Status Daemon::StartQuotaPort(const ServerOptions& server) {
  if (config_.quota_grpc.listen.empty()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<QuotaPort>> port = QuotaPort::Start(
      config_.quota_grpc, server, [this](const HttpRequest& request) { return api_->Handle(request); });
  if (!port.ok()) return port.status();
  const std::lock_guard lock(quota_port_mutex_);
  quota_port_ = *std::move(port);
  spdlog::info("listening for requests for quota (gRPC) on port {}", quota_port_->port());
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
  options.rules = server::MappingRulesOf(config_.ingest);
  if (config_.store.path != "memory") options.mark_file = StrCat(config_.store.path, ".backfill");
  const std::chrono::seconds open(kWindowSeconds + config_.ingest.options.windows.grace_seconds);
  options.open = open + kShortGap;
  if (config_.clock == ClockSource::kWall) options.gap = open + kShortGap;
  options.now = [this] { return Now(); };
  options.tick = [this](Timestamp through) { return TickPast(through); };
  options.should_stop = [this] { return stopping(); };
  options.wait = [this](std::chrono::seconds pause) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, pause, [this] { return stopping_; });
  };
  if (ReadsLater())
    options.read_later = [this](server::SilentSpan gap) { return late_history_->AddGap(gap); };
  backfill_ = std::make_unique<BackfillRun>(*control_, std::move(options));
}

bool Daemon::ReadsLater() const {
  const server::BackfillConfig& config = config_.backfill;
  return !config.prometheus_url.empty() && config.later_jobs_s > 0 && config_.clock == ClockSource::kWall;
}

void Daemon::PrepareLateHistory() {
  if (!ReadsLater()) return;
  const server::BackfillConfig& config = config_.backfill;
  LateHistory::Options options;
  options.config = config;
  options.rules = server::MappingRulesOf(config_.ingest);
  options.ingest = config_.ingest.options;
  if (config_.store.path != "memory") options.gaps_file = StrCat(config_.store.path, ".gaps");
  options.settle = std::min(options.settle, std::chrono::seconds(config.later_jobs_s));
  options.now = [this] { return Now(); };
  options.should_stop = [this] { return stopping(); };
  options.may_begin = [this] { return backfill_done_.load(); };
  options.on_caught_up = [this] { backfill_->ForgetError(); };
  options.wait = [this](std::chrono::milliseconds pause) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, pause, [this] { return stopping_; });
  };
  late_history_ = std::make_unique<LateHistory>(*control_, std::move(options));
}

// Agents bring what they kept, too, and learn what is stored.
absl::Status Daemon::TickPast(Timestamp through) {
  while (true) {
    (void)StepClock();
    if (hub_ != nullptr) hub_->BeginTick();
    absl::Status s = control_->TickPast(through);
    SayOfSamples();
    if (hub_ != nullptr) hub_->EndTick(s.ok());
    if (!s.ok() || !control_->ingest().holds_windows()) return s;
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, kTick, [this] { return stopping_; })) return s;
  }
}

bool Daemon::stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

Timestamp Daemon::Now() {
  const std::lock_guard lock(clock_mutex_);
  return guard_.has_value() ? guard_->At(SteadySeconds()) : WallNow();
}

Timestamp Daemon::CellNow() {
  return config_.clock == ClockSource::kSamples ? control_->ingest().now() : Now();
}

std::string Daemon::ClockDoubt() {
  const std::lock_guard lock(clock_mutex_);
  return guard_.has_value() && guard_->waits() ? guard_->Sentence() : "";
}

bool Daemon::ConfirmClock() {
  const std::lock_guard lock(clock_mutex_);
  if (!guard_.has_value() || !guard_->waits()) return false;
  guard_->Confirm();
  return true;
}

// Nothing is closed, decided or ended by a clock that a start does not confirm; samples and agents are heard.
void Daemon::AwaitClock() {
  if (ClockDoubt().empty()) return;
  const server::StoreCopies copies(config_.store.path);
  if (const absl::Status s = copies.Make(); !s.ok()) {
    spdlog::error("no copy of the store was made before the clock is confirmed: {}", Message(s));
  }
  while (!stopping() && !ClockDoubt().empty()) {
    (void)StepClock();
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, kTick, [this] { return stopping_; });
  }
  bool unproven = false;
  {
    const std::lock_guard lock(clock_mutex_);
    unproven = guard_->waits() || guard_->unproven();
  }
  if (!unproven) return copies.Drop();
  if (!stopping()) {
    spdlog::warn(
        "this machine's clock is taken for right, and no other machine has confirmed it. The store and its "
        "ledgers as they were are kept as {}*: docs/operations.md, \"A wrong clock\"",
        copies.Name(config_.store.path));
  }
}

Timestamp Daemon::StepClock() {
  const std::vector<server::SaidTime> said = control_->ingest().TakeSaid();
  server::ClockView clock;
  Timestamp now;
  bool shifted = false, was_wrong = false, waits = false;
  {
    const std::lock_guard lock(clock_mutex_);
    now = guard_->Step(WallNow(), SteadySeconds(), said);
    shifted = guard_->shifted();
    was_wrong = guard_->was_wrong();
    waits = guard_->waits();
    if (config_.clock == ClockSource::kWall) {
      clock = {guard_->Sentence(), guard_->senders_disagree(), guard_->wall_ahead_s(), guard_->jumps(),
               waits};
    }
  }
  if (shifted) control_->ingest().ShiftTime(now);
  if (was_wrong) control_->ingest().GoBack(now);
  control_->ingest().DoubtTime(waits);
  // The sentence has a span in it that may change by itself: said once for each trouble.
  if (clock.sentence.empty() != clock_said_.empty()) {
    if (clock.sentence.empty()) {
      spdlog::info("the clock of this machine agrees again");
    } else {
      spdlog::warn("{}", clock.sentence);
    }
    clock_said_ = clock.sentence;
  }
  control_->status().NoteClock(std::move(clock));
  return now;
}

// Where time is the samples' no clock can be compared with them: the jump is reported.
void Daemon::SayOfFirstSample() {
  const std::optional<Timestamp> stored = control_->ingest().time_before();
  if (first_sample_seen_ || config_.clock == ClockSource::kWall || !stored.has_value()) return;
  const int64_t ahead_s = (control_->ingest().now().us - stored->us) / kMicrosPerSecond;
  if (ahead_s <= 0) return;
  first_sample_seen_ = true;
  if (ahead_s <= kFarBeyondSeconds) return;
  spdlog::warn(
      "the first sample is {} hours beyond the stored data, and sets the time (clock: samples): windows, "
      "budget "
      "periods and requests end by it. If its sender's clock is wrong, stop tautd and restore a backup",
      ahead_s / 3600);
}

void Daemon::SayOfSamples() {
  SayOfFirstSample();
  const absl::Status kept = control_->ingest().sample_log_status();
  const std::string now(Message(kept));
  if (now == samples_said_) return;
  if (kept.ok()) {
    spdlog::info("samples of open windows are kept on disk again");
  } else {
    spdlog::error("samples of open windows cannot be written to disk and would be lost by a crash: {}", now);
  }
  samples_said_ = now;
}

void Daemon::Loop() {
  AwaitClock();
  backfill_cut_ = absl::IsCancelled(backfill_->Run());
  backfill_done_ = true;
  const std::chrono::milliseconds tick = config_.clock == ClockSource::kSamples ? kSampleTick : kTick;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    if (hub_ != nullptr) hub_->BeginTick();
    const absl::Status s = control_->Tick(StepClock());
    SayOfSamples();
    if (hub_ != nullptr) hub_->EndTick(s.ok());
    if (const std::optional<WindowId> window = control_->view()->window;
        window.has_value() && window != looked_at_) {
      ReturnFreedMemory();
      const bool next_hour = !looked_at_.has_value() || FloorDiv(window->index, kWindowsPerHour) !=
                                                            FloorDiv(looked_at_->index, kWindowsPerHour);
      if (next_hour) LookAtBudgets();
      looked_at_ = window;
    }
    acts_->StoreSeen(s, Now().seconds());
    if (quota_ != nullptr) quota_->Step(SteadySeconds());
    if (budgets_ != nullptr) budgets_->Step(SteadySeconds());
    for (const std::string& conflict : actuators_.TakeConflicts()) spdlog::warn("{}", conflict);
    if (hub_ != nullptr && SteadyMilliseconds() - agents_seen_ms_ >= kAgentsEveryMs) {
      agents_seen_ms_ = SteadyMilliseconds();
      acts_->AgentsSeen(hub_->Agents(), Now().seconds());
    }
    if (external_ != nullptr) external_log_.Seen(external_->health(), external_->TakeRefused());
    if (webhook_ != nullptr) acts_->WebhookSeen(webhook_->last_error(), webhook_->counts().waiting);
    if (!jobs_refused_ && control_->ingest().mapper_counts().refused_jobs > 0) {
      jobs_refused_ = true;
      spdlog::warn("{} jobs are known and ingest.max_jobs is {}: series of further jobs are refused",
                   control_->ingest().mapper_counts().jobs, config_.ingest.options.max_jobs);
    }
    if (!collisions_said_ && control_->ingest().mapper_counts().name_collisions > 0) {
      collisions_said_ = true;
      spdlog::warn(
          "the series of {} jobs come from two sources, perhaps two workloads of one name: see the notices "
          "of "
          "these jobs and tautd_job_name_collisions",
          control_->ingest().mapper_counts().name_collisions);
    }
    lock.lock();
    wake_.wait_for(lock, s.ok() ? tick : std::chrono::milliseconds(kStoreRetry),
                   [this] { return stopping_; });
  }
}

// From the account of the month: some 0.1 s with 100,000 jobs.
void Daemon::LookAtBudgets() {
  if (budgets_ != nullptr) {
    acts_->BudgetsSeen(business_watch_.Look(budgets_->states()), config_.prices.currency, Now().seconds());
  }
  if (config_.prices.budgets.empty()) return;
  const auto states = api_->budget_states();
  if (!states.ok()) return;  // the store's own words say so
  acts_->BudgetsSeen(budget_watch_.Look(**states), config_.prices.currency, Now().seconds());
}

void Daemon::Stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  wake_.notify_all();
  if (loop_.joinable()) loop_.join();
  if (late_history_ != nullptr) late_history_->Stop();
  if (kubernetes_ != nullptr) kubernetes_->Stop();
  if (api_) api_->Close();
  if (server_) server_->Stop();
  if (quota_port_) quota_port_->Stop();
  if (agent_server_) agent_server_->Stop();
  if (scaler_) scaler_->Stop();
  if (!control_) return;
  if (kubernetes_actuator_ != nullptr) kubernetes_actuator_->Stop();
  if (kubernetes_ != nullptr) kubernetes_->ReleaseLease();
  if (webhook_ != nullptr) webhook_->Stop();  // the outcome of its last request is stored with the last tick
  // A backfill that was cut goes on from the last window at the next start: none of after it may be closed
  // now.
  const Timestamp now = StepClock();
  const bool none = backfill_cut_ || !ClockDoubt().empty();
  absl::Status s = none ? absl::OkStatus() : control_->Tick(now);
  if (s.ok()) s = control_->CheckpointAll();
  if (machines_ != nullptr) machines_->Save();
  if (quota_ != nullptr) quota_->Save();
  if (capacity_ != nullptr) capacity_->Save();
  if (s.ok()) {
    spdlog::info("stopped; {} jobs are in the store", control_->view()->jobs.size());
  } else {
    spdlog::error("stopped, but without a last checkpoint: {}", Message(s));
  }
}

}  // namespace taut::tools
