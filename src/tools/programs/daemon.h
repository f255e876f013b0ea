// All the wiring of tautd: which store, actuator, clock and faces the control plane gets, its loop, and its
// end.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "common/net/http_server.h"
#include "server/agents/actuator_set.h"
#include "server/agents/agent_hub.h"
#include "server/agents/pod_tasks.h"
#include "server/api/api.h"
#include "server/config/daemon_config.h"
#include "server/connectors/external_scaler.h"
#include "server/connectors/webhook_actuator.h"
#include "server/control/clock_guard.h"
#include "server/control/control_plane.h"
#include "server/kubernetes/run/kubernetes_run.h"
#include "server/kubernetes/watch/replica_watch.h"
#include "server/store/sample_log_file.h"
#include "server/store/store.h"
#include "tools/programs/action_log.h"
#include "tools/programs/agent_port.h"
#include "tools/programs/audit_log.h"
#include "tools/programs/backfill_run.h"
#include "tools/programs/budget_run.h"
#include "tools/programs/capacity_run.h"
#include "tools/programs/daemon_acts.h"
#include "tools/programs/external_setup.h"
#include "tools/programs/late_history.h"
#include "tools/programs/machines_run.h"
#include "tools/programs/oidc_setup.h"
#include "tools/programs/quota_port.h"
#include "tools/programs/quota_run.h"

namespace taut::tools {

brain::LiveSettings LiveSettingsOf(const server::DaemonConfig& config);

class Daemon {
 public:
  // Opens the store, goes on from where it was, listens. `config_path`: "" for none.
  static absl::StatusOr<std::unique_ptr<Daemon>> Start(const server::DaemonConfig& config,
                                                       const std::string& config_path);
  // Stop().
  ~Daemon();

  // Takes over the rules, the settings of jobs, migration, recommenders, tokens and certificates of another
  // configuration; logs each key that only a restart would change.
  void Reload(const server::DaemonConfig& config);
  // Lets requests in flight finish, decides and stores what is due, writes checkpoints.
  void Stop();
  uint16_t port() const { return server_->port(); }
  // Where agents come; 0: nowhere.
  int agent_port() const { return agent_server_ ? agent_server_->port() : 0; }
  // "http://127.0.0.1:7070/".
  std::string url() const;

 private:
  explicit Daemon(server::DaemonConfig config)
      : config_(std::move(config)),
        budget_watch_(server::ParseBudgetAlerts(config_.prices.alerts).value_or(std::vector<double>())),
        business_watch_(server::ParseBudgetAlerts(config_.prices.alerts).value_or(std::vector<double>())) {}
  absl::Status OpenStore();
  absl::Status StartControl();
  absl::Status StartServer(const std::string& config_path);
  absl::Status StartQuotaPort(const ServerOptions& server);
  void ReloadQuotaPort(const server::QuotaGrpcConfig& config, const ServerOptions& server);
  absl::Status StartActs();
  absl::Status StartAgents();
  absl::Status StartExternalScaler();
  absl::Status StartQuota();
  absl::Status StartBudgets();
  void StartMachines();
  // By Resource; 0: not known. Thread-safe.
  PerResource<double> LargestMachine() const;
  absl::Status OpenPrices();
  void StartCapacity();
  void Loop();
  // The time that is believed (ClockGuard). Thread-safe.
  Timestamp Now();
  // The same, or the samples' time where that is the cell's.
  Timestamp CellNow();
  // Why the time is not known: one sentence; "" if it is. Both are thread-safe.
  std::string ClockDoubt();
  // An operator's. False: nothing waits for it.
  bool ConfirmClock();
  // Until the clock of a start far beyond the stored data is confirmed, or found wrong.
  void AwaitClock();
  // Holds the machine's clock against the others, and says what is wrong with it.
  Timestamp StepClock();
  void SayOfSamples();
  void SayOfFirstSample();
  void LookAtBudgets();
  // In the order in which they get orders (ActuatorSet).
  absl::Status MakeActuators();
  absl::Status MakeAgentActuator();
  absl::Status OpenKubernetes();
  absl::Status AddKubernetesActuator();
  void StartWebhook();
  void PrepareBackfill();
  // Whether history is read while live windows are closed.
  bool ReadsLater() const;
  void PrepareLateHistory();
  absl::Status TickPast(Timestamp through);
  bool stopping();

  server::DaemonConfig config_;
  ProgramLog log_;                                     // outlives all that runs
  std::unique_ptr<server::KubernetesRun> kubernetes_;  // if a cluster is configured; outlives the actuators
  std::unique_ptr<server::Store> store_;
  server::History* history_ = nullptr;              // the same object
  std::unique_ptr<server::SampleLogFile> samples_;  // beside the store, if that is a file
  server::ActuatorSet actuators_;
  server::AgentHub* hub_ = nullptr;                            // one of them, if agents may come
  server::WebhookActuator* webhook_ = nullptr;                 // another, if it is configured
  server::KubernetesActuator* kubernetes_actuator_ = nullptr;  // another, if it acts there
  std::unique_ptr<server::ExternalRecommender> external_;      // if one is configured
  ExternalRecommenderLog external_log_;                        // of the loop
  std::unique_ptr<server::ReplicaWatch> replica_watch_;  // if no cluster is configured; outlives control_
  std::unique_ptr<server::ControlPlane> control_;
  std::unique_ptr<BackfillRun> backfill_;
  bool backfill_cut_ = false;  // by a stop; written by the loop
  std::atomic<bool> backfill_done_ = false;
  std::unique_ptr<LateHistory> late_history_;          // if it is asked for
  std::unique_ptr<QuotaRun> quota_;                    // if quota is configured
  std::unique_ptr<BudgetRun> budgets_;                 // if budgets are configured
  std::unique_ptr<MachinesRun> machines_;              // if there is a source of machines
  std::atomic<bool> machines_started_ = false;         // machines_ is there, for good
  std::optional<brain::Pricing> pricing_;              // of prices.file; outlives api_
  std::vector<brain::SeenPriceChange> price_changes_;  // likewise; moved to the API
  std::unique_ptr<CapacityRun> capacity_;
  AuditLog audit_;  // outlives api_
  std::unique_ptr<server::Api> api_;
  std::unique_ptr<server::ProviderKeys>
      provider_keys_;  // if an OpenID Connect provider is configured; outlives server_, as do the next two
  std::shared_ptr<server::OidcVerifier> oidc_verifier_;
  std::unique_ptr<server::LoginDesk> login_;  // if people sign in with it; outlives api_
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<server::PodTasks>
      pod_tasks_;  // if agents may come from nodes of a cluster; outlives agent_server_
  std::unique_ptr<AgentPort> agent_server_;
  std::unique_ptr<server::ScalerServer> scaler_;  // if KEDA may come
  std::mutex quota_port_mutex_;  // over the pointer: the API is there first, and asks for its counts
  std::unique_ptr<QuotaPort> quota_port_;  // if requests for quota come by gRPC
  std::unique_ptr<DaemonActs> acts_;
  server::BudgetWatch budget_watch_, business_watch_;  // of the loop
  double agents_seen_ms_ = 0;                          // of the loop
  std::optional<WindowId> looked_at_;                  // likewise: by memory and budgets

  std::mutex clock_mutex_;                   // over guard_
  std::optional<server::ClockGuard> guard_;  // once it is known what is stored
  std::string clock_said_, samples_said_;
  bool first_sample_seen_ = false;  // of the loop, since the start

  std::mutex mutex_;  // over what follows
  std::condition_variable wake_;
  bool stopping_ = false;
  bool jobs_refused_ = false;     // the log has said so
  bool collisions_said_ = false;  // likewise
  std::thread loop_;
};

}  // namespace taut::tools
