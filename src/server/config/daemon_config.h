// All configuration of tautd, in one YAML file; every value has a default, and no file at all is fine.
// docs/configuration.md is made from the table here; docs/tautd.example.yaml is an example.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/recommend/settings.h"
#include "brain/rollout/migration.h"
#include "brain/rollout/rules.h"
#include "common/base/clock_source.h"
#include "common/model/machine_size.h"
#include "common/net/server_options.h"
#include "server/config/config_field.h"
#include "server/ingest/ingest.h"
#include "server/ingest/mapping_rules.h"

namespace taut::server {

// People sign in to the pages with the provider.
struct LoginConfig {
  std::string client_id;  // "": none
  std::string client_secret_file, redirect_url, name;
  std::string scopes = "openid";
  int64_t session_s = 12 * 3600;
  std::vector<std::string> proxies;  // addresses whose X-Forwarded-For is believed
};

// Tokens of an OpenID Connect provider (src/server/auth/).
struct OidcConfig {
  std::string issuer;  // "": none
  std::string audience, user_claim = "sub", groups_claim = "groups", ca_file;
  std::vector<std::string> bindings;  // "CLAIM: ROLE GROUP,GROUP"
  int64_t keep_keys_s = 24 * 3600;
  LoginConfig login;
};

struct ServerConfig {
  // `listen` is 127.0.0.1:7070. Tokens are not in here: they stay in their files until OpenServerOptions.
  ServerOptions options;
  std::string writer_tokens_file, reader_tokens_file, operator_tokens_file;  // "": none
  std::string group_tokens_file, platform_tokens_file;
  OidcConfig oidc;
  bool pages = true;  // serve the dashboard, not only the API
  ServerConfig();
};

struct StoreConfig {
  std::string path = "tautd.db";  // "memory": nothing outlives the daemon
  int history_days = 30;          // of usage
  int decision_days = 90;
  int checkpoint_windows = 6;
  int forget_jobs_days = 30;
};

struct IngestConfig {
  Ingest::Options options;
  bool builtin_mapping = true;
  KubernetesJobs kubernetes_jobs = KubernetesJobs::kContainers;
  std::vector<MappingRule> mapping;  // of the file; they come before the built-in ones
};

// History that is there already: read when the store is empty, after a gap, and for jobs that appear later.
struct BackfillConfig {
  std::string prometheus_url;  // "": none
  double days = 14;
  int64_t later_jobs_s = 3600;  // how often it is asked for the past of jobs that appeared later; 0: never
  std::vector<std::string> labels;  // "NAME=VALUE", which Prometheus adds to what it sends
  std::string bearer_token_file, ca_file;
};
// Name and value of such a label. InvalidArgument says what is wanted.
absl::StatusOr<std::pair<std::string, std::string>> ParseBackfillLabel(std::string_view label);

// Where agents come to (src/server/agents/agent_server.h).
struct AgentsConfig {
  std::vector<std::string> listen;  // empty: no agents
  std::string tokens_file, certificate_file, key_file, client_ca_file;
};

// Where KEDA comes to (src/server/connectors/external_scaler.h).
struct ExternalScalerConfig {
  std::vector<std::string> listen;  // empty: off
  std::string certificate_file, key_file, client_ca_file;
};

// Where requests for quota come to by gRPC (src/server/pool/admission_server.h).
struct QuotaGrpcConfig {
  std::vector<std::string> listen;  // empty: off
  std::string certificate_file, key_file, client_ca_file;
};

// The owner's service that recommends (src/server/connectors/external_recommender.h).
struct ExternalRecommenderConfig {
  std::string address;  // HOST:PORT; "": none
  int64_t deadline_s = 10, hold_s = 1800;
  double max_step = 10;  // as ExternalBounds
  std::string ca_file, certificate_file, key_file;
};

// What a core and a GiB of memory cost for an hour; 0: not known, and no money is shown.
struct PricesConfig {
  double core_hour = 0, gib_hour = 0;
  std::string currency = "EUR";
  std::vector<std::string> budgets;                          // "LABEL=VALUE: AMOUNT"
  std::vector<std::string> alerts = {"50%", "80%", "100%"};  // shares of a budget that are notified
  std::string file = {};                                     // price file (price_file.h); "": no bills
};
// Money for a calendar month: of jobs with this value of a label, or of all.
struct BudgetLine {
  std::string label, value;  // "": all jobs
  double per_month = 0;
};
// The error says what is wanted.
absl::StatusOr<BudgetLine> ParseBudget(std::string_view text);

// Who may use how much (src/server/pool/): the quota file and the rules by which jobs find their group.
struct QuotaConfig {
  std::string file;  // "": no quota
  std::string group = "{namespace}", tier;
  std::string default_tier = "production";
  int64_t start_within_s = 3600, gone_after_s = 900;
  size_t max_requests = 1000;  // of a group, waiting or holding quota, where the file does not say it
};

// Money of businesses and groups (src/server/pool/budget_desk.h).
struct BudgetsConfig {
  std::string file;  // "": none
  int entries_per_day = 500;
};

// The machines of the cell (src/server/pool/).
struct MachinesConfig {
  double risk = 0.01;
};

// Shares, ascending: "80%" is 0.8. The error says what is wanted.
absl::StatusOr<std::vector<double>> ParseBudgetAlerts(std::span<const std::string> texts);

// The log on standard error.
struct LogConfig {
  std::string level = "info", format = "text";
};

// Notifications by webhook.
struct NotifyConfig {
  std::string url;  // "": none
  std::vector<std::string> events = {"limit_lowered",      "limit_rolled_back", "oom_kill",
                                     "agent_disconnected", "store_not_ready",   "store_ready",
                                     "replicas_step_back", "budget_share",      "budget_forecast"};
  std::string secret_file, ca_file;
};

// The owner's endpoint that applies limits (src/server/connectors/webhook_actuator.h).
struct WebhookConfig {
  std::string url;  // "": none
  std::string secret_file, ca_file;
  std::string jobs;             // a pattern of names (src/common/base/pattern.h); "": every job
  std::string targets = "all";  // or limits, replicas
  int64_t timeout_s = 10, give_up_after_s = 3600;
};

// The webhooks about new pods: the mutating one, which gives them what is set for their workload, and the
// validating one, which holds them to quota.
struct AdmissionConfig {
  std::string listen;                       // ADDRESS:PORT; "": none
  std::string name = "tautd.tautline.svc";  // that the API server calls it by: a DNS name or an IP address
  std::string configuration = "tautline";   // the webhook configurations of this name get the certificate
  QuotaWebhook quota = QuotaWebhook::kOff;
  HeldPods held = HeldPods::kNew;
};

// A Kubernetes cluster of which tautd reads usage, and whose pods it resizes (src/server/kubernetes/).
struct KubernetesConfig {
  std::string kubeconfig;          // a file, "in-cluster", or "": none
  std::string cluster;             // begins the names of its jobs; "": nothing does
  int64_t scrape_interval_s = 15;  // of kubelets' figures; 0: not read
  KubeletUsage usage = KubeletUsage::kCadvisor;
  ResizeFallback fallback = ResizeFallback::kWait;
  int64_t evict_after_s = 300;      // of a resize that the kubelet defers, with kEvict
  std::string node_group_label;     // of nodes, by whose value DaemonSets are split; "": they are not
  std::string lease;                // NAMESPACE/NAME; "": none
  std::string namespaces;           // a pattern; "": every one
  bool events = true;               // Events of decisions
  bool status_annotations = false;  // tautline.dev/status of workloads
  bool annotations = true;          // of namespaces and workloads are settings of their jobs
  bool scale = false;               // numbers of tasks, through /scale
  bool vpa = false;                 // the status of VerticalPodAutoscalers that name it
  bool resource_quotas = false;     // of the namespaces that are groups of quota.file
  AdmissionConfig admission;
};

// Namespace and name of KubernetesConfig::lease; absent: it has not this form.
std::optional<std::pair<std::string, std::string>> LeaseName(std::string_view lease);

// What this cell is called, for people, and where others are: "NAME=URL".
struct CellConfig {
  std::string name;
  std::vector<std::string> links;
};
// NAME and URL of a link, which is http or https: a browser goes there. The error says what is wanted.
absl::StatusOr<std::pair<std::string, std::string>> ParseCellLink(std::string_view link);

struct DaemonConfig {
  CellConfig cell;
  ServerConfig server;
  ClockSource clock = ClockSource::kWall;
  int clock_wait_s = 600;  // of a start far beyond the stored data, until the clock is believed; 0: none
  StoreConfig store;
  IngestConfig ingest;
  BackfillConfig backfill;
  MachineSize machine;
  PricesConfig prices;
  QuotaConfig quota;
  BudgetsConfig budgets;
  MachinesConfig machines;
  brain::PolicyRules rules;  // with the defaults of jobs
  brain::MigrationSettings migration;
  brain::VerticalSettings recommenders;
  ActuatorKind actuator = ActuatorKind::kDryRun;
  AgentsConfig agents;
  ExternalScalerConfig external_scaler;
  QuotaGrpcConfig quota_grpc;
  ExternalRecommenderConfig external_recommender;
  LogConfig log;
  NotifyConfig notify;
  WebhookConfig webhook;
  KubernetesConfig kubernetes;
};

// InvalidArgument "file:line: ..." for a key that does not exist (with the nearest one that does), one that
// is there twice, or a value that cannot be (with what can).
absl::StatusOr<DaemonConfig> ParseDaemonConfig(std::string_view yaml, std::string_view name);
// NotFound if the file cannot be read; else as ParseDaemonConfig.
absl::StatusOr<DaemonConfig> ReadDaemonConfig(const std::string& path);

// The mapping rules of the file, and after them the built-in ones unless they were left out.
std::vector<MappingRule> MappingRulesOf(const IngestConfig& config);
// Those of the file at `path`; of "" the built-in ones. Errors as ReadDaemonConfig.
absl::StatusOr<std::vector<MappingRule>> ReadMappingRules(const std::string& path);

// The options with their tokens read, and checked. A token file has one token a line, and after a blank the
// name of who has it, if anybody in particular; blank lines and those after a '#' do not count. In a file of
// groups' tokens role and groups stand between both, and a name is needed; a token of several lines has the
// bindings of all. Errors name the file and the line, never a token.
absl::StatusOr<ServerOptions> OpenServerOptions(const ServerConfig& config);
// InvalidArgument names the file and the group if tokens are bound to a group that the quota does not have.
// `quota_file`: its name, "" for none. `groups`: of the quota.
absl::Status CheckBoundGroups(const ServerConfig& config, const ServerOptions& options,
                              const std::string& quota_file, std::span<const std::string> groups);
// The same of one binding; `where` begins the error.
absl::Status CheckBoundGroup(std::string_view where, const GroupBinding& binding,
                             const std::string& quota_file, std::span<const std::string> groups);
// The tokens in a file, as above; none for "".
absl::StatusOr<std::vector<std::string>> ReadTokenFile(const std::string& path);
// The one secret in a file, without blanks around it. "" for no file. Errors as OpenServerOptions.
absl::StatusOr<std::string> ReadSecretFile(const std::string& path);

// One plain value of the file; lists of rules and the settings of jobs and recommenders have tables of their
// own.
struct DaemonSetting {
  std::string_view key;  // "server.limits.body"
  std::string_view help;
  FieldUnit unit = FieldUnit::kPlain;
  double min = 0, max = 0;  // of numbers, in plain units, bytes or seconds
  ConfigField (*field)(DaemonConfig&);
  bool reloads = false;  // SIGHUP takes another value over; else a restart does

  FieldSpec spec() const { return {key, unit, min, max}; }
};
std::span<const DaemonSetting> DaemonSettingsTable();
// Sets a value from the items of a list, or from one. InvalidArgument without a place.
absl::Status SetDaemonSetting(const DaemonSetting& setting, std::span<const std::string> values,
                              DaemonConfig& config);
// Keys whose values differ, of the table and of the lists of rules ("ingest.mapping").
std::vector<std::string> ChangedKeys(const DaemonConfig& before, const DaemonConfig& after);
// Rows that reload, of one section: those of "quota" have no further dot ("quota.file").
std::vector<const DaemonSetting*> ReloadableOf(std::string_view section);
// Copies their values from `next` to `running`.
void TakeReloadable(std::string_view section, const DaemonConfig& next, DaemonConfig& running);
// As people write it: "16MiB", "[127.0.0.1:7070]".
std::string GetDaemonSetting(const DaemonSetting& setting, const DaemonConfig& config);

// docs/configuration.md.
std::string DaemonSettingsMarkdown();

}  // namespace taut::server
