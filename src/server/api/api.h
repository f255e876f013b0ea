// The HTTP face of the control plane: remote write, the JSON API of openapi.yaml, server-sent events,
// metrics, health, and the dashboard's files.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "brain/economy/price_change.h"
#include "brain/economy/pricing.h"
#include "common/model/allocation_plan.h"
#include "common/model/pod_totals.h"
#include "common/net/event_stream.h"
#include "common/net/http.h"
#include "common/net/http_server.h"
#include "common/net/webhook.h"
#include "server/agents/agent_hub.h"
#include "server/agents/agent_server.h"
#include "server/api/budgets.h"
#include "server/api/group_views.h"
#include "server/api/json.h"
#include "server/api/metrics_text.h"
#include "server/api/reach.h"
#include "server/api/route_times.h"
#include "server/auth/login_desk.h"
#include "server/connectors/external_scaler.h"
#include "server/connectors/webhook_actuator.h"
#include "server/control/control_plane.h"
#include "server/kubernetes/run/facts.h"
#include "server/pool/admission_server.h"
#include "server/pool/budget_desk.h"
#include "server/pool/capacity_desk.h"
#include "server/pool/machine_desk.h"
#include "server/pool/quota_desk.h"

namespace taut::server {

// How far filling in the past has come.
struct BackfillProgress {
  uint64_t done = 0, total = 0;  // seconds of the past
  std::string sentence;
  bool running = false;
  std::string error;  // running: why it waits to try again; else why it ended early; "" for nothing
};

// The history of jobs that appeared later. Known jobs, by the state of the request for it.
struct LateProgress {
  uint64_t waiting = 0, read = 0, nothing = 0, failed = 0;
  std::string error;  // of the last time; "" for none
};

// Another cell's dashboard.
struct CellLink {
  std::string name, url;
};

// Of this process.
struct ProcessFacts {
  double cpu_s = 0;
  uint64_t resident_bytes = 0, virtual_bytes = 0;
  uint64_t open_fds = 0, max_fds = 0;
};

// What a caller did or tried, for the audit log.
struct ApiAct {
  std::string_view who;  // the token's name, or the address
  std::string roles;     // RolesText
  std::string_view method, path;
  std::string_view text;  // of a refusal: the answer's sentence
  int status = 0;
  bool refused() const { return status >= 400; }
};

// A path and method that are answered, and what they need. A name in braces is any piece.
struct ApiRoute {
  std::string_view method;
  std::string path;
  Act act;
};

struct ApiOptions {
  MachineSize machine;
  std::string version;
  std::string store_text;   // for people: "SQLite, /var/lib/tautd/tautd.db"
  std::string config_file;  // "" for none
  std::string cell_name;    // "" for none
  std::vector<CellLink> cell_links;
  Prices prices;
  std::vector<Budget> budgets;
  int64_t started_s = 0;
  bool pages = true;
  std::function<Timestamp()> now;            // the wall clock
  std::function<bool()> confirm_clock;       // an operator says that it is right; false: nothing waits for it
  std::function<double()> steady_ms;         // none: requests are not timed
  std::function<void(const ApiAct&)> audit;  // every change, and what was refused; on the request's thread
  std::function<ServerCounts()> server_counts;
  std::function<std::optional<BackfillProgress>()> backfill;
  std::function<LateProgress()> late_jobs;  // none: their history is not asked for
  std::function<ProcessFacts()> process;
  std::function<uint64_t()> store_bytes;  // on disk
  // If events are sent to a webhook.
  std::function<WebhookCounts()> notifications;
  // If limits go to a webhook.
  std::function<WebhookActuatorCounts()> webhook;
  // If an external recommender is configured.
  std::function<ExternalHealth()> external;
  // If a Kubernetes cluster is watched.
  std::function<KubernetesFacts()> kubernetes;
  // The container that a job is of, if such a cluster has pods of it.
  std::function<std::optional<TemplateContainer>(const std::string& job)> container;
  // What a pod with this container is to have in all, if such a cluster has one.
  std::function<std::optional<PodTotals>(const std::string& job)> pod_totals;
  // What its pods there say that people should know; "": nothing.
  std::function<std::string(const std::string& job)> cluster_notice;
  // Why no limit is decided yet, for /readyz; "": limits are decided.
  std::function<std::string()> why_undecided;
  // Both or none; none: the daemon does not listen to agents.
  std::function<std::vector<AgentView>()> agents;
  std::function<std::vector<RefusedAgent>()> refused_agents;
  std::function<AgentHubCounts()> agent_counts;
  // What the tasks of a job need of memory, where agents probe it, and of all jobs.
  std::function<std::optional<NeededMemory>(const std::string& job)> memory_needed_by;
  std::function<std::map<std::string, NeededMemory>()> memory_needed;
  std::function<AgentServerCounts()> agent_port_counts;
  // If a price file is configured; outlives the API.
  const brain::Pricing* pricing = nullptr;
  // What edited price files changed of the past, in the order in which they were read.
  std::vector<brain::SeenPriceChange> price_changes;
  // If quota is configured; outlives the API.
  QuotaDesk* quota = nullptr;
  // If budgets of businesses are configured; outlives the API.
  BudgetDesk* businesses = nullptr;
  // Both or none; none: there is no source of machines. The desk outlives the API.
  MachineDesk* machines = nullptr;
  std::function<MachineRunCounts()> machine_counts;
  // Both or none; the desk outlives the API.
  CapacityDesk* capacity = nullptr;
  std::function<uint64_t()> capacity_failed_saves;
  // If the daemon listens for KEDA.
  std::function<ScalerServerCounts()> scaler_counts;
  // If people sign in with a provider; outlives the API.
  LoginDesk* login = nullptr;
  bool takes_tokens = false;  // else no authentication is required
  // If requests for quota come by gRPC.
  std::function<AdmissionServerCounts()> quota_port_counts;
};

// Handle is thread-safe: the server's handler.
class Api {
 public:
  // `control` must outlive it; listens to its ticks.
  Api(ControlPlane& control, ApiOptions options);

  HttpResponse Handle(const HttpRequest& request);
  // As GET /api/v1/budgets; none without budgets. Errors as LabelBudgets::States.
  absl::StatusOr<std::shared_ptr<const BudgetStates>> budget_states() {
    return budgets_.States(control_.history(), *control_.view(), options_.prices, NowSeconds());
  }
  // Sends what happened to those who listen to /api/v1/events.
  void Publish(const TickEvents& events);
  // No more events: before the server stops.
  void Close();
  // All that Handle answers, but for /healthz, /readyz, and what browsers ask for to sign in and out.
  static std::vector<ApiRoute> Routes();
  // What is answered without a role with ApiOptions::login: the page, its files, and the way to a session.
  static std::vector<std::string> OpenPathsWithLogin();

 private:
  // Of the caller, for the act of the route: nothing beyond the reach may be shown or changed.
  using Handler = HttpResponse (Api::*)(const HttpRequest&, const Reach&);
  struct RouteRow {
    std::string_view method, path;
    Handler handler;
    Act act;
  };
  static std::span<const RouteRow> RouteRows();
  using JobHandler = HttpResponse (Api::*)(const HttpRequest&, JobId);
  struct JobRouteRow {
    std::string_view method, what;  // what: after the job's name, "" for nothing
    JobHandler handler;
    Act act;
  };
  static std::span<const JobRouteRow> JobRouteRows();
  HttpResponse Answer(const HttpRequest& request);
  HttpResponse Route(const HttpRequest& request);
  HttpResponse JobRoute(const HttpRequest& request);
  void Audit(const HttpRequest& request, const HttpResponse& response) const;

  // group_access.cc: what callers who are bound to groups reach.
  Reach ReachOf(const HttpRequest& request, Act act) const;
  std::shared_ptr<const FleetView> ViewOf(const Reach& reach) { return views_.Of(reach, control_.view()); }
  // nullopt also for a job that is not in reach: the caller cannot tell them apart.
  std::optional<JobId> FindJob(std::string_view name, const Reach& reach) const;
  bool Reaches(const Reach& reach, JobId id) const;
  // As Reaches, kept for the jobs that were asked for.
  std::function<bool(JobId)> ReachedJobs(const Reach& reach) const;
  // No prices for a caller who may not see the money of all that `shown` has.
  const Prices& PricesFor(const HttpRequest& request, const Reach& shown) const;
  void PutCaller(const HttpRequest& request, JsonWriter& json) const;
  HttpResponse GroupStatus(const HttpRequest& request);
  void PutAbout(JsonWriter& json) const;  // daemon_handlers.cc
  // events.cc
  HttpResponse SubscribeGroup(const HttpRequest& request);
  void PublishToGroups(const TickEvents& events);
  using SendEvent =
      absl::FunctionRef<void(std::string_view event, const std::string& data, std::string_view id)>;
  // What of `events` is in reach, one after the other.
  void SendEvents(const TickEvents& events, const Reach& reach, const Prices& prices, SendEvent send);

  HttpResponse NoJob(std::string_view name,
                     const Reach& reach);  // 404, with names it may have been meant for

  HttpResponse Write(const HttpRequest& request, const Reach& reach);
  HttpResponse Fleet(const HttpRequest& request, const Reach& reach);
  HttpResponse History(const HttpRequest& request, const Reach& reach);
  HttpResponse Jobs(const HttpRequest& request, const Reach& reach);
  HttpResponse Totals(const HttpRequest& request, const Reach& reach);
  HttpResponse Costs(const HttpRequest& request, const Reach& reach);  // cost_handlers.cc
  HttpResponse Budgets(const HttpRequest& request, const Reach& reach);
  HttpResponse Allocation(const HttpRequest& request, const Reach& reach);  // allocation.cc
  HttpResponse Job(const HttpRequest& request, JobId id);
  HttpResponse Usage(const HttpRequest& request, JobId id);
  HttpResponse ReplicasOfJob(const HttpRequest& request, JobId id);
  HttpResponse Explain(const HttpRequest& request, JobId id);
  void PutMemoryNeeded(JobId id, JsonWriter& json) const;  // memory_needed.cc
  void PutNeededMetrics(MetricsText& out) const;
  HttpResponse GetSettings(const HttpRequest& request, JobId id);
  HttpResponse SettingsOf(JobId id);
  HttpResponse PatchSettings(const HttpRequest& request, JobId id);
  HttpResponse WhatIfOf(const HttpRequest& request, JobId id);
  HttpResponse Decisions(const HttpRequest& request, const Reach& reach);
  HttpResponse OneDecision(const HttpRequest& request, const Reach& reach);
  HttpResponse Ooms(const HttpRequest& request, const Reach& reach);
  // tier_act_handlers.cc
  HttpResponse TierActs(const HttpRequest& request, const Reach& reach);
  // Of a job by its name; one that is not known is in reach of those alone who see everything.
  bool ReachesNamed(const Reach& reach, std::string_view job) const;
  void PutTierActMetrics(MetricsText& out) const;
  HttpResponse Settings(const HttpRequest& request, const Reach& reach);
  HttpResponse Recommenders(const HttpRequest& request, const Reach& reach);
  HttpResponse PatchMany(const HttpRequest& request, const Reach& reach);  // bulk_settings.cc
  HttpResponse Status(const HttpRequest& request, const Reach& reach);
  HttpResponse ConfirmClock(const HttpRequest& request, const Reach& reach);
  HttpResponse Agents(const HttpRequest& request, const Reach& reach);
  static uint64_t SenderOf(const std::string& peer);  // as SaidTime::sender
  HttpResponse Events(const HttpRequest& request, const Reach& reach);
  HttpResponse Metrics(const HttpRequest& request, const Reach& reach);
  HttpResponse File(const HttpRequest& request, const Reach& reach);

  int64_t NowSeconds() const;
  std::string NameOf(JobId id) const;
  void PutRules(JsonWriter& json) const;
  void PutCell(JsonWriter& json) const;
  void PutBudgetMetrics(MetricsText& out);                             // cost_handlers.cc
  HttpResponse Bills(const HttpRequest& request, const Reach& reach);  // bill_handler.cc
  // quota_handlers.cc
  HttpResponse Quota(const HttpRequest& request, const Reach& reach);
  HttpResponse Admission(const HttpRequest& request, const Reach& reach);
  HttpResponse QuotaRequests(const HttpRequest& request, const Reach& reach);
  HttpResponse MakeQuotaRequest(const HttpRequest& request, const Reach& reach);
  HttpResponse OneQuotaRequest(const HttpRequest& request, const Reach& reach);
  HttpResponse WithdrawQuotaRequest(const HttpRequest& request, const Reach& reach);
  void PutQuotaMetrics(MetricsText& out) const;
  FleetShown FleetShownTo(const Reach& reach, const Prices& prices) const {
    return {options_.machine, prices, control_.actuator_name(), reach.all()};
  }
  // login_handlers.cc
  HttpResponse LoginWays(const HttpRequest& request, const Reach& reach);
  std::optional<HttpResponse> LoginRoute(const HttpRequest& request);  // nullopt: none of these
  HttpResponse BeginLogin();
  HttpResponse LoginCallback(const HttpRequest& request);
  HttpResponse LoginWait(const HttpRequest& request);
  HttpResponse Logout(const HttpRequest& request);
  void AuditLogin(const HttpRequest& request, std::string_view who, std::string roles, int status,
                  std::string_view text) const;
  void PutLoginMetrics(MetricsText& out) const;
  // business_handlers.cc
  HttpResponse Businesses(const HttpRequest& request, const Reach& reach);
  HttpResponse BudgetLedger(const HttpRequest& request, const Reach& reach);
  HttpResponse EnterInBudgetLedger(const HttpRequest& request, const Reach& reach);
  void PutBusinessMetrics(MetricsText& out) const;
  // machine_handlers.cc
  HttpResponse Machines(const HttpRequest& request, const Reach& reach);
  HttpResponse OneMachine(const HttpRequest& request, const Reach& reach);
  void PutMachineMetrics(MetricsText& out) const;
  // capacity_handler.cc
  HttpResponse Capacity(const HttpRequest& request, const Reach& reach);
  void PutCapacityMetrics(MetricsText& out) const;
  // promise_handlers.cc
  HttpResponse Promises(const HttpRequest& request, const Reach& reach);
  void PutPromiseMetrics(MetricsText& out) const;

  ControlPlane& control_;
  const ApiOptions options_;
  // Of one caller who is bound to groups.
  struct GroupStream {
    std::shared_ptr<EventStream> stream;
    HttpRequest caller;  // without headers and body
  };
  EventHub events_;  // of callers who see everything
  std::mutex group_streams_mutex_;
  std::vector<GroupStream> group_streams_;
  GroupViews views_;
  RouteTimes times_;
  LabelBudgets budgets_;
};

// The dashboard is built in.
bool HasPages();
using taut::ErrorResponse;  // of a status code and a text: src/common/net/http.h
// {"error": text} with the status code that an absl::Status stands for.
HttpResponse ErrorResponse(const absl::Status& status);

}  // namespace taut::server
