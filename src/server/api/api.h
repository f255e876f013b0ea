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

#include "common/base/metrics_text.h"
#include "common/net/event_stream.h"
#include "common/net/http.h"
#include "server/agents/agents_run.h"
#include "server/api/group_views.h"
#include "server/api/json.h"
#include "server/api/reach.h"
#include "server/api/route_times.h"
#include "server/auth/login_desk.h"
#include "server/control/control_plane.h"
#include "server/control/past/late_history.h"
#include "server/kubernetes/run/cluster_run.h"
#include "server/pool/budget_desk.h"
#include "server/pool/budgets.h"
#include "server/pool/capacity_desk.h"
#include "server/pool/machine_desk.h"
#include "server/pool/price_book.h"
#include "server/pool/quota_desk.h"

namespace taut::server {

// Another cell's dashboard.
struct CellLink {
  std::string name, url;
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

// What the API shows. All that is pointed at outlives the API; null is what the daemon does not have.
struct ApiOptions {
  MachineSize machine;
  std::string version;
  std::string store_text;   // for people: "SQLite, /var/lib/tautd/tautd.db"
  std::string config_file;  // "" for none
  std::string cell_name;    // "" for none
  std::vector<CellLink> cell_links;
  Prices prices;
  int64_t started_s = 0;
  bool pages = true;
  bool has_external = false;                 // an external recommender is configured
  bool takes_tokens = false;                 // else no authentication is required
  std::function<Timestamp()> now;            // the wall clock
  std::function<bool()> confirm_clock;       // an operator says that it is right; false: nothing waits for it
  std::function<double()> steady_ms;         // none: requests are not timed
  std::function<void(const ApiAct&)> audit;  // every change, and what was refused; on the request's thread
  // Puts the metrics of all components, and returns what is wrong with them.
  std::function<void(MetricsText&)> collect;
  std::function<std::vector<std::string>()> warnings;
  // What the pods of a job say that people should know; "": nothing.
  std::function<std::string(const std::string& job)> cluster_notice;
  const ClusterRun* cluster = nullptr;
  const AgentsRun* agents = nullptr;
  const BackfillRun* backfill = nullptr;
  const LateHistory* late_history = nullptr;
  const PriceBook* price_book = nullptr;
  const LabelBudgets* budgets = nullptr;
  QuotaDesk* quota = nullptr;
  BudgetDesk* businesses = nullptr;
  MachineDesk* machines = nullptr;
  CapacityDesk* capacity = nullptr;
  LoginDesk* login = nullptr;  // people sign in with a provider

  const KubernetesRun* pods() const { return cluster == nullptr ? nullptr : &cluster->cluster(); }
  const brain::Pricing* pricing() const { return price_book == nullptr ? nullptr : price_book->pricing(); }
  std::optional<BackfillProgress> backfill_progress() const {
    return backfill == nullptr ? std::nullopt : backfill->progress();
  }
};

// Handle is thread-safe: the server's handler.
class Api {
 public:
  // `control` must outlive it; listens to its ticks.
  Api(ControlPlane& control, ApiOptions options);

  HttpResponse Handle(const HttpRequest& request);
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
  HttpResponse Bills(const HttpRequest& request, const Reach& reach);  // bill_handler.cc
  // quota_handlers.cc
  HttpResponse Quota(const HttpRequest& request, const Reach& reach);
  HttpResponse Admission(const HttpRequest& request, const Reach& reach);
  HttpResponse QuotaRequests(const HttpRequest& request, const Reach& reach);
  HttpResponse MakeQuotaRequest(const HttpRequest& request, const Reach& reach);
  HttpResponse OneQuotaRequest(const HttpRequest& request, const Reach& reach);
  HttpResponse WithdrawQuotaRequest(const HttpRequest& request, const Reach& reach);
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
  // business_handlers.cc
  HttpResponse Businesses(const HttpRequest& request, const Reach& reach);
  HttpResponse BudgetLedger(const HttpRequest& request, const Reach& reach);
  HttpResponse EnterInBudgetLedger(const HttpRequest& request, const Reach& reach);
  // machine_handlers.cc
  HttpResponse Machines(const HttpRequest& request, const Reach& reach);
  HttpResponse OneMachine(const HttpRequest& request, const Reach& reach);
  // capacity_handler.cc
  HttpResponse Capacity(const HttpRequest& request, const Reach& reach);
  // promise_handlers.cc
  HttpResponse Promises(const HttpRequest& request, const Reach& reach);

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
};

// The dashboard is built in.
bool HasPages();
using taut::ErrorResponse;  // of a status code and a text: src/common/net/http.h
// {"error": text} with the status code that an absl::Status stands for.
HttpResponse ErrorResponse(const absl::Status& status);

}  // namespace taut::server
