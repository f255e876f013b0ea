#include "tools/programs/components.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/process.h"
#include "common/base/version.h"
#include "server/agents/agents_component.h"
#include "server/auth/oidc_setup.h"
#include "server/connectors/act_log.h"
#include "server/connectors/scaler_component.h"
#include "server/connectors/webhook_component.h"
#include "server/control/control_metrics.h"
#include "server/control/past/late_history.h"
#include "server/control/process_metrics.h"
#include "server/kubernetes/run/kubernetes_component.h"
#include "server/pool/budget_watch.h"
#include "server/pool/capacity_component.h"
#include "server/pool/quota_grpc_component.h"

namespace taut::tools {
namespace {

using server::DaemonConfig;
using server::DaemonContext;

// Returns the function that returns the new notices about budgets; null without budgets.
std::function<std::vector<server::BudgetNotice>()> BudgetNewsOf(const DaemonConfig& config,
                                                                server::BudgetComponent* budgets) {
  if (budgets == nullptr) return nullptr;
  const auto watch = std::make_shared<server::BudgetWatch>(
      server::ParseBudgetAlerts(config.prices.alerts).value_or(std::vector<double>()));
  return [watch, budgets] { return watch->Look(budgets->states()); };
}

std::unique_ptr<server::QuotaComponent> MakeQuota(const DaemonConfig& config, const DaemonContext& context,
                                                  const Components& components) {
  if (config.quota.file.empty()) return nullptr;
  return std::make_unique<server::QuotaComponent>(
      server::QuotaComponent::Options{.config = config.quota,
                                      .keep_days = config.store.decision_days,
                                      .held =
                                          [&components](std::string_view group) {
                                            return components.budgets == nullptr
                                                       ? ""
                                                       : components.budgets->WhyHeld(group);
                                          }},
      context);
}

std::unique_ptr<server::AgentsComponent> MakeAgents(const DaemonConfig& config, const DaemonContext& context,
                                                    const server::KubernetesComponent* cluster,
                                                    const server::WebhookComponent* webhook) {
  if (config.agents.listen.empty()) return nullptr;
  server::AgentsComponent::Options options;
  options.config = config.agents;
  options.apply = config.SetsThrough(server::ActuatorKind::kAgents);
  options.pods_elsewhere = config.SetsThrough(server::ActuatorKind::kKubernetes);
  options.elsewhere = [webhook](const std::string& job) {
    return webhook != nullptr && webhook->ClaimsMemory(job);
  };
  options.own_machine = MachineId();
  if (cluster != nullptr) {
    options.pods = {.find = [cluster](std::string_view id) { return cluster->cluster().TaskOfContainer(id); },
                    .is_synced = [cluster] { return cluster->cluster().synced(); }};
  }
  return std::make_unique<server::AgentsComponent>(std::move(options), context);
}

std::vector<const server::PlacementSource*> PlacementsOf(const server::AgentsComponent* agents,
                                                         const server::KubernetesComponent* cluster) {
  std::vector<const server::PlacementSource*> out;
  if (agents != nullptr) out.push_back(agents->hub());
  if (cluster != nullptr) out.push_back(&cluster->cluster().placement());
  return out;
}

// Creates the components and adds them to the list in their start order.
class Maker {
 public:
  Maker(const DaemonConfig& config, const DaemonContext& context, server::History* history,
        const DaemonHooks& hooks, Components& out)
      : config_(config), context_(context), history_(history), hooks_(hooks), out_(out), list_(out.list) {}

  absl::Status Make() {
    if (config_.SetsThrough(server::ActuatorKind::kAgents) && config_.agents.listen.empty())
      return absl::InvalidArgumentError("actuator.kind is agents, but agents.listen names no address");
    if (absl::Status s = MakeThoseThatOthersAsk(); !s.ok()) return s;
    AddLogs();
    AddPool();
    if (absl::Status s = AddConnectors(); !s.ok()) return s;
    AddPast();
    AddServers();
    return absl::OkStatus();
  }

 private:
  absl::Status MakeThoseThatOthersAsk() {
    quota_ = MakeQuota(config_, context_, out_);
    if (!config_.budgets.file.empty() || !config_.prices.budgets.empty())
      budgets_ = std::make_unique<server::BudgetComponent>(server::BudgetComponent::Options::Of(config_),
                                                           quota_.get(), history_, context_);
    absl::StatusOr<std::unique_ptr<server::KubernetesComponent>> cluster = server::KubernetesComponent::Open(
        config_, {.quota = quota_.get(), .budgets = budgets_.get()}, context_);
    if (!cluster.ok()) return cluster.status();
    cluster_ = *std::move(cluster);
    if (!config_.webhook.url.empty())
      webhook_ = std::make_unique<server::WebhookComponent>(config_.webhook, history_, context_);
    agents_ = MakeAgents(config_, context_, cluster_.get(), webhook_.get());
    return absl::OkStatus();
  }

  void AddLogs() {
    server::ActLog::Options acts{.config = config_.notify,
                                 .cell = config_.cell.name,
                                 .agents = {},
                                 .budgets = BudgetNewsOf(config_, budgets_.get())};
    if (agents_ != nullptr) acts.agents = [hub = agents_->hub()] { return hub->Agents().known; };
    list_.Add(std::make_unique<server::ActLog>(std::move(acts), context_));
    list_.Add(std::make_unique<server::ControlMetrics>(config_.ingest.options.max_jobs, context_));
    list_.Add(std::make_unique<server::ProcessMetrics>(std::string(kVersion), hooks_.started_s, context_));
  }

  void AddPool() {
    shown_.quota = list_.Add(std::move(quota_));
    shown_.budgets = out_.budgets = list_.Add(std::move(budgets_));
    shown_.price_book = list_.Add(std::make_unique<server::PricesComponent>(config_.prices, context_));
    if (std::vector<const server::PlacementSource*> sources = PlacementsOf(agents_.get(), cluster_.get());
        !sources.empty()) {
      shown_.machines = list_.Add(
          std::make_unique<server::MachinesComponent>(config_.machines, context_, std::move(sources)));
    }
    shown_.capacity = list_.Add(std::make_unique<server::CapacityComponent>(
        server::CapacityComponent::Parts{.machines = shown_.machines,
                                         .quota = shown_.quota,
                                         .prices = shown_.price_book,
                                         .default_tier = config_.quota.default_tier},
        context_));
  }

  // Adds the actuators in the order in which they receive orders.
  absl::Status AddConnectors() {
    shown_.agents = list_.Add(std::move(agents_));
    shown_.cluster = out_.cluster = list_.Add(std::move(cluster_));
    list_.Add(std::move(webhook_));
    if (!config_.external_scaler.listen.empty())
      list_.Add(std::make_unique<server::ScalerComponent>(config_.external_scaler, context_));
    if (config_.external_recommender.address.empty()) return absl::OkStatus();
    const auto machine = [machines = shown_.machines] {
      return machines == nullptr ? PerResource<double>{} : machines->Largest();
    };
    absl::StatusOr<std::unique_ptr<server::ExternalComponent>> external =
        server::ExternalComponent::Open(config_.external_recommender, config_.cell.name, machine, context_);
    if (!external.ok()) return external.status();
    out_.external = list_.Add(*std::move(external));
    return absl::OkStatus();
  }

  void AddPast() {
    server::BackfillComponent::Options past = server::BackfillComponent::OptionsOf(config_);
    past.tick = hooks_.tick_past;
    shown_.backfill = out_.backfill =
        list_.Add(std::make_unique<server::BackfillComponent>(std::move(past), context_));
    std::optional<server::LateHistory::Options> late = server::LateHistory::OptionsOf(config_);
    if (!late.has_value()) return;
    auto* const later =
        list_.Add(std::make_unique<server::LateHistory>(*std::move(late), *out_.backfill, context_));
    out_.backfill->ReadLaterBy([later](server::SilentSpan gap) { return later->AddGap(gap); });
    shown_.late_history = later;
  }

  void AddServers() {
    server::HttpComponent::Options options{.config = config_,
                                           .config_path = hooks_.config_path,
                                           .version = std::string(kVersion),
                                           .started_s = hooks_.started_s};
    shown_.clock = hooks_.clock;
    shown_.components = &list_;
    server::HttpComponent* const http = out_.http =
        list_.Add(std::make_unique<server::HttpComponent>(std::move(options), shown_, context_));
    if (config_.quota_grpc.listen.empty()) return;
    list_.Add(std::make_unique<server::QuotaGrpcComponent>(
        config_.quota_grpc, [http] { return http->options(); }, *shown_.quota, context_));
  }

  const DaemonConfig& config_;
  const DaemonContext& context_;
  server::History* const history_;
  const DaemonHooks& hooks_;
  Components& out_;
  server::ComponentList& list_;
  server::ApiParts shown_;
  // These components are created first, because other components need pointers to them. They are moved to the list
  // later, in start order.
  std::unique_ptr<server::QuotaComponent> quota_;
  std::unique_ptr<server::BudgetComponent> budgets_;
  std::unique_ptr<server::KubernetesComponent> cluster_;
  std::unique_ptr<server::WebhookComponent> webhook_;
  std::unique_ptr<server::AgentsComponent> agents_;
};

}  // namespace

absl::Status MakeComponents(const DaemonConfig& config, const DaemonContext& context,
                            server::History* history, const DaemonHooks& hooks, Components& out) {
  return Maker(config, context, history, hooks, out).Make();
}

absl::Status CheckComponents(const DaemonConfig& config, std::vector<std::string>& warnings) {
  server::ServerConfig with_oidc = config.server;
  const absl::StatusOr<server::OidcParts> oidc = server::OpenOidc(
      config.server.oidc, [] { return int64_t{0}; }, nullptr);
  if (!oidc.ok()) return oidc.status();
  with_oidc.options.verifier = oidc->verifier;
  const absl::StatusOr<ServerOptions> server = server::OpenServerOptions(with_oidc);
  if (!server.ok()) return server.status();
  if (const auto notify = server::OpenNotify(config.notify); !notify.ok()) return notify.status();
  if (!config.webhook.url.empty()) {
    const auto webhook = server::OpenWebhook(config.webhook, [] { return 0.0; });
    if (!webhook.ok()) return webhook.status();
    if (std::string warning = server::WebhookWarning(config.webhook); !warning.empty())
      warnings.push_back(std::move(warning));
  }
  if (!config.kubernetes.kubeconfig.empty()) {
    if (const auto access = server::OpenClusterAccess(config.kubernetes); !access.ok())
      return access.status();
  }
  if (!config.prices.file.empty()) {
    if (const auto prices = server::ReadPrices(config.prices); !prices.ok()) return prices.status();
  }
  if (!config.quota.file.empty()) {
    if (const auto quota = server::ReadQuota(config.quota, warnings); !quota.ok()) return quota.status();
  }
  if (!config.budgets.file.empty() || !config.prices.budgets.empty()) {
    if (const auto budgets = server::ReadBudgets(server::BudgetComponent::Options::Of(config)); !budgets.ok())
      return budgets.status();
  }
  return server::CheckBindings(config.server, *server, config.quota, config.budgets);
}

}  // namespace taut::tools
