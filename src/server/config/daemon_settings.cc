// The table of plain values.
#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "server/config/daemon_config.h"

namespace taut::server {
namespace {

constexpr double kYear = 365 * brain::kDay;

using enum FieldUnit;
constexpr bool kReloads = true;

#define TAUT_FIELD(name) +[](DaemonConfig& c) -> ConfigField { return &c.name; }
const DaemonSetting kDaemonSettings[] = {
    {"server.listen",
     "addresses to listen on, ADDRESS:PORT; addresses other than loopback need tokens or a client CA", kPlain,
     0, 0, TAUT_FIELD(server.options.listen)},
    {"server.threads", "requests answered concurrently", kPlain, 1, 256, TAUT_FIELD(server.options.threads)},
    {"server.names", "names of this server that browsers use, besides localhost and addresses", kPlain, 0, 0,
     TAUT_FIELD(server.options.names)},
    {"server.pages", "serve the dashboard and not only the API", kPlain, 0, 0, TAUT_FIELD(server.pages)},
    {"server.tls.certificate", "PEM file of the certificate and its chain; with it, HTTPS only", kPlain, 0, 0,
     TAUT_FIELD(server.options.certificate_file), kReloads},
    {"server.tls.key", "PEM file of its key", kPlain, 0, 0, TAUT_FIELD(server.options.key_file), kReloads},
    {"server.tls.client_ca", "PEM file: clients with a certificate of this CA are authenticated", kPlain, 0,
     0, TAUT_FIELD(server.options.client_ca_file), kReloads},
    {"server.tls.client_role", "their role: writer, reader, platform or operator", kPlain, 0, 0,
     TAUT_FIELD(server.options.client_role)},
    {"server.tokens.writer_file",
     "file of tokens that may only send samples (POST /api/v1/write), for Prometheus; one per line, followed "
     "by a blank and a name",
     kPlain, 0, 0, TAUT_FIELD(server.writer_tokens_file), kReloads},
    {"server.tokens.reader_file", "file of read-only tokens, in the same form", kPlain, 0, 0,
     TAUT_FIELD(server.reader_tokens_file), kReloads},
    {"server.tokens.platform_file",
     "file of tokens, in the same form, that see everything and act on the quota of every group", kPlain, 0,
     0, TAUT_FIELD(server.platform_tokens_file), kReloads},
    {"server.tokens.group_file",
     "file of tokens of groups' people; a line has the token, a role (member, owner or budget_holder), the "
     "groups "
     "of the quota file with commas between, and a name: `TOKEN owner shop,media anna`",
     kPlain, 0, 0, TAUT_FIELD(server.group_tokens_file), kReloads},
    {"server.tokens.operator_file",
     "file of operators' tokens; the name is recorded with each change of a setting", kPlain, 0, 0,
     TAUT_FIELD(server.operator_tokens_file), kReloads},
    {"server.oidc.issuer",
     "address of an OpenID Connect provider, https://HOST/...; its signed tokens are taken as bearer tokens. "
     "Keys under server.oidc need a restart, but for bindings",
     kPlain, 0, 0, TAUT_FIELD(server.oidc.issuer)},
    {"server.oidc.audience", "audience that the provider's tokens must have; required with an issuer", kPlain,
     0, 0, TAUT_FIELD(server.oidc.audience)},
    {"server.oidc.user_claim",
     "claim that names the person in the log; choose one that people cannot set themselves", kPlain, 0, 0,
     TAUT_FIELD(server.oidc.user_claim)},
    {"server.oidc.groups_claim",
     "claim that bindings compare: a text or a list; dots lead into objects, as in realm_access.roles",
     kPlain, 0, 0, TAUT_FIELD(server.oidc.groups_claim)},
    {"server.oidc.bindings",
     "what people with a value of this claim may do: `VALUE: reader`, platform or operator, or `VALUE: owner "
     "shop,media`, member or budget_holder of groups of the quota file",
     kPlain, 0, 0, TAUT_FIELD(server.oidc.bindings), kReloads},
    {"server.oidc.keep_keys", "while the provider cannot be reached, its last keys are used for this time",
     kDuration, 60, kYear, TAUT_FIELD(server.oidc.keep_keys_s)},
    {"server.oidc.ca_file", "PEM file of CAs for the provider; without it those of the system", kPlain, 0, 0,
     TAUT_FIELD(server.oidc.ca_file)},
    {"server.oidc.login.client_id",
     "ID under which tautd is registered at the provider: people sign in to the pages with it; empty: they "
     "do not",
     kPlain, 0, 0, TAUT_FIELD(server.oidc.login.client_id)},
    {"server.oidc.login.client_secret_file",
     "file with the secret of that client; without it, a public client", kPlain, 0, 0,
     TAUT_FIELD(server.oidc.login.client_secret_file)},
    {"server.oidc.login.redirect_url",
     "address of the pages with /login/callback at the end, as it is registered at the provider: "
     "https://HOST/login/callback, or http:// on this machine; required with a client_id",
     kPlain, 0, 0, TAUT_FIELD(server.oidc.login.redirect_url)},
    {"server.oidc.login.scopes",
     "what the provider is asked for, with blanks between: openid, and what brings groups_claim into the ID "
     "token",
     kPlain, 0, 0, TAUT_FIELD(server.oidc.login.scopes)},
    {"server.oidc.login.session", "a session ends this long after the sign-in, and when tautd stops",
     kDuration, 60, 7 * 24 * 3600, TAUT_FIELD(server.oidc.login.session_s)},
    {"server.oidc.login.proxies",
     "IP addresses of proxies before the pages: the last address of their X-Forwarded-For is the browser's, "
     "by which sign-ins are limited",
     kPlain, 0, 0, TAUT_FIELD(server.oidc.login.proxies)},
    {"server.oidc.login.name", "name of the provider on the button; empty: the host of the issuer", kPlain, 0,
     0, TAUT_FIELD(server.oidc.login.name)},
    {"server.limits.header", "largest header of a request", kBytes, 1024, kMiB,
     TAUT_FIELD(server.options.max_header_bytes)},
    {"server.limits.body", "largest body of a request, as received (compressed)", kBytes, 1024, kGiB,
     TAUT_FIELD(server.options.max_body_bytes)},
    {"server.limits.buffered", "total size of bodies being received; above it, requests are answered 503",
     kBytes, kMiB, 1024 * kGiB, TAUT_FIELD(server.options.max_buffered_bytes)},
    {"server.limits.connections", "maximum number of open connections", kPlain, 1, 1e6,
     TAUT_FIELD(server.options.max_connections)},
    {"server.limits.connections_per_address",
     "maximum number of connections from one address (IPv6: one /64); when it is reached, idle ones without "
     "a token are closed first",
     kPlain, 1, 1e6, TAUT_FIELD(server.options.max_connections_per_address)},
    {"server.limits.streams", "maximum number of open event streams", kPlain, 0, 1e6,
     TAUT_FIELD(server.options.max_streams)},
    {"server.limits.streams_per_caller",
     "maximum number of open event streams of one caller: of the name beside the token, without one of the "
     "address",
     kPlain, 0, 1e6, TAUT_FIELD(server.options.max_streams_per_caller)},
    {"server.limits.idle", "a connection without a request is closed after this time", kDuration, 1,
     brain::kDay, TAUT_FIELD(server.options.idle_timeout)},
    {"server.limits.body_time", "time limit for receiving a body, plus one second for each 16 KiB", kDuration,
     1, brain::kDay, TAUT_FIELD(server.options.body_timeout)},
    {"server.limits.answer_time", "time limit for sending a response, plus one second for each 16 KiB",
     kDuration, 1, brain::kDay, TAUT_FIELD(server.options.write_timeout)},
    {"server.limits.grace", "time that tautd waits for requests in flight when it stops", kDuration, 0,
     brain::kHour, TAUT_FIELD(server.options.grace)},
    {"cell.name", "name of this cell, shown in the dashboard", kPlain, 0, 0, TAUT_FIELD(cell.name)},
    {"cell.links", "links to other cells' dashboards, NAME=URL", kPlain, 0, 0, TAUT_FIELD(cell.links)},
    {"clock",
     "wall: the clock of this machine; samples: the time of the newest sample, for replayed or accelerated "
     "data",
     kPlain, 0, 0, TAUT_FIELD(clock)},
    {"clock_wait",
     "a start more than an hour beyond the stored data decides and ends nothing for this time, unless "
     "samples of two other machines agree with the clock or an operator confirms it; 0: does not wait",
     kDuration, 0, brain::kDay, TAUT_FIELD(clock_wait_s)},
    {"store.path", "file of the store, created if missing; memory: lost when tautd stops", kPlain, 0, 0,
     TAUT_FIELD(store.path)},
    {"store.history_days", "days for which usage is kept", kPlain, 1, 3650, TAUT_FIELD(store.history_days)},
    {"store.decision_days", "days for which decisions, OOM kills, fleet totals and costs are kept", kPlain, 1,
     3650, TAUT_FIELD(store.decision_days)},
    {"store.checkpoint_windows",
     "each job is saved once per this many five-minute windows; a restart re-processes at most this many",
     kPlain, 1, 288, TAUT_FIELD(store.checkpoint_windows)},
    {"store.forget_jobs_days",
     "a job without usage for this many days is forgotten; a younger job after as many days as it was known "
     "when last used, at least one",
     kPlain, 1, 3650, TAUT_FIELD(store.forget_jobs_days)},
    {"ingest.grace", "a five-minute window closes this long after its end, to wait for late samples",
     kDuration, 0, brain::kHour, TAUT_FIELD(ingest.options.windows.grace_seconds)},
    {"ingest.max_future", "samples further in the future than this are dropped", kDuration, 0, brain::kDay,
     TAUT_FIELD(ingest.options.windows.max_future_seconds)},
    {"ingest.idle", "a series without samples is forgotten after this time", kDuration, 300, kYear,
     TAUT_FIELD(ingest.options.idle_seconds)},
    {"ingest.max_series", "maximum number of series; further ones are refused", kPlain, 1, 1e9,
     TAUT_FIELD(ingest.options.max_series)},
    {"ingest.job_labels",
     "labels of series and (kube_pod_labels) of pods that become labels of jobs, for rules and totals",
     kPlain, 0, 0, TAUT_FIELD(ingest.options.job_labels)},
    {"ingest.max_jobs",
     "maximum number of known jobs, without forgotten ones; series of further jobs are refused", kPlain, 1,
     1e8, TAUT_FIELD(ingest.options.max_jobs)},
    {"ingest.max_waiting_samples",
     "maximum number of samples in open windows; above it, requests are answered 503 until a window closes",
     kPlain, 1000, 1e11, TAUT_FIELD(ingest.options.max_waiting_samples)},
    {"ingest.max_request", "largest remote-write request, decompressed", kBytes, kMiB, 4 * kGiB,
     TAUT_FIELD(ingest.options.limits.max_decompressed_bytes)},
    {"ingest.builtin_mapping", "use the built-in mapping rules after those of ingest.mapping", kPlain, 0, 0,
     TAUT_FIELD(ingest.builtin_mapping)},
    {"ingest.kubernetes_jobs",
     "what is one job in Kubernetes: containers (each container of an owner's pods: "
     "NAMESPACE/KIND/OWNER/CONTAINER), or pods (of an owner, each the sum of its containers)",
     kPlain, 0, 0, TAUT_FIELD(ingest.kubernetes_jobs)},
    {"backfill.prometheus",
     "URL of a Prometheus whose history fills an empty store, gaps and the past of jobs that appear later",
     kUrl, 0, 0, TAUT_FIELD(backfill.prometheus_url)},
    {"backfill.days", "days of history to read, at most", kPlain, 0, 366, TAUT_FIELD(backfill.days)},
    {"backfill.later_jobs", "how often the history of jobs that appeared later is requested; 0: never",
     kDuration, 0, brain::kDay, TAUT_FIELD(backfill.later_jobs_s)},
    {"backfill.labels", "labels that Prometheus adds to what it sends (its external_labels), NAME=VALUE",
     kPlain, 0, 0, TAUT_FIELD(backfill.labels)},
    {"backfill.bearer_token_file", "file with its bearer token", kPlain, 0, 0,
     TAUT_FIELD(backfill.bearer_token_file)},
    {"backfill.ca_file", "PEM file of the CA of its certificate; empty: the system's", kPlain, 0, 0,
     TAUT_FIELD(backfill.ca_file)},
    {"machine.cores", "cores of the machine in which savings are counted", kPlain, 0.001, 1e6,
     TAUT_FIELD(machine.of[kCpuIndex])},
    {"machine.memory", "its memory", kBytes, kMiB, 1024 * kGiB * 1024, TAUT_FIELD(machine.of[kMemoryIndex])},
    {"prices.core_hour", "price per core and hour; with it, savings are also shown in money", kPlain, 0, 1e6,
     TAUT_FIELD(prices.core_hour)},
    {"prices.gib_hour", "price per GiB of memory and hour", kPlain, 0, 1e6, TAUT_FIELD(prices.gib_hour)},
    {"prices.budgets",
     "money for a calendar month, LABEL=VALUE: AMOUNT or all: AMOUNT, such as \"team=shop: 500\"", kPlain, 0,
     0, TAUT_FIELD(prices.budgets)},
    {"prices.alerts", "shares of a budget, such as 80%, that are logged and notified when they are spent",
     kPlain, 0, 0, TAUT_FIELD(prices.alerts)},
    {"prices.currency", "currency of the prices, as displayed", kPlain, 0, 0, TAUT_FIELD(prices.currency)},
    {"prices.file",
     "price file: tiers and groups, what each promises and pays, and what the machines have and cost "
     "(docs/formats.md), for bills and capacity",
     kPlain, 0, 0, TAUT_FIELD(prices.file)},
    {"machines.risk",
     "ordered share of machine-days whose peak passes the prediction of what all tasks of a machine use",
     kPlain, 0.001, 0.5, TAUT_FIELD(machines.risk)},
    {"quota.file", "quota file: groups and what each may use (docs/formats.md); empty: no quota", kPlain, 0,
     0, TAUT_FIELD(quota.file), kReloads},
    {"quota.group", "template of the group that a job counts for, over its labels", kPlain, 0, 0,
     TAUT_FIELD(quota.group), kReloads},
    {"quota.tier", "template of its tier; empty: quota.default_tier for every job", kPlain, 0, 0,
     TAUT_FIELD(quota.tier), kReloads},
    {"quota.default_tier", "tier of a job without a value for quota.tier", kPlain, 0, 0,
     TAUT_FIELD(quota.default_tier), kReloads},
    {"quota.start_within", "an admitted request ends if its job is not measured within this time", kDuration,
     60, kYear, TAUT_FIELD(quota.start_within_s)},
    {"quota.gone_after", "a job that is not measured for this long uses nothing", kDuration, 300, brain::kDay,
     TAUT_FIELD(quota.gone_after_s)},
    {"quota.max_requests",
     "maximum number of requests of a group that are queued, admitted or running, where the quota file does "
     "not "
     "say it (max_requests)",
     kPlain, 0, 1e6, TAUT_FIELD(quota.max_requests)},
    {"budgets.file",
     "budgets file: businesses, what they have a period, and which groups of quota.file they pay for "
     "(docs/formats.md); empty: none",
     kPlain, 0, 0, TAUT_FIELD(budgets.file), kReloads},
    {"budgets.entries_per_day",
     "requests to the budget ledger that one person may make about one business or group in a day of UTC",
     kPlain, 1, 1e6, TAUT_FIELD(budgets.entries_per_day)},
    {"migration.enabled", "move small jobs from observe to auto automatically, after a notice", kPlain, 0, 0,
     TAUT_FIELD(migration.enabled), kReloads},
    {"migration.max_cpu", "a job is small if the limits of all its tasks are at most this many cores", kPlain,
     0, 1e6, TAUT_FIELD(migration.max_cpu_cores), kReloads},
    {"migration.max_memory", "and at most this much memory", kBytes, 0, 1024 * kGiB * 1024,
     TAUT_FIELD(migration.max_memory_bytes), kReloads},
    {"migration.observe_days", "minimum days in observe", kPlain, 1, 3650, TAUT_FIELD(migration.observe_days),
     kReloads},
    {"migration.max_days_over", "maximum share of these days with usage above the recommended limit", kPlain,
     0, 1, TAUT_FIELD(migration.max_days_over), kReloads},
    {"migration.notice_days", "days between the notice and the move", kPlain, 0, 365,
     TAUT_FIELD(migration.notice_days), kReloads},
    {"actuator.kind",
     "applies limits through: dry_run (decisions are only stored), agents or kubernetes "
     "(kubernetes.kubeconfig); "
     "with webhook.url, those of jobs outside webhook.jobs",
     kPlain, 0, 0, TAUT_FIELD(actuator)},
    {"webhook.url",
     "URL of your own endpoint, to which the orders for webhook.jobs are sent by POST; empty: none", kUrl, 0,
     0, TAUT_FIELD(webhook.url)},
    {"webhook.secret_file",
     "file with the key of the HMAC-SHA256 in Tautline-Signature; required with webhook.url; read again when "
     "it "
     "changes",
     kPlain, 0, 0, TAUT_FIELD(webhook.secret_file)},
    {"webhook.jobs",
     "names of the jobs whose orders go to the webhook and not to agents: '*' stands for any text, '|' "
     "separates "
     "alternatives; empty: every job",
     kPlain, 0, 0, TAUT_FIELD(webhook.jobs)},
    {"webhook.targets", "what of these jobs goes to the webhook: limits, replicas or all", kPlain, 0, 0,
     TAUT_FIELD(webhook.targets)},
    {"webhook.timeout", "time limit of one request", kDuration, 1, 60, TAUT_FIELD(webhook.timeout_s)},
    {"webhook.give_up_after",
     "an order that could not be delivered for this long fails; it counts anew after a restart", kDuration, 1,
     30 * brain::kDay, TAUT_FIELD(webhook.give_up_after_s)},
    {"webhook.ca_file", "PEM file of the CA of its certificate; empty: the system's", kPlain, 0, 0,
     TAUT_FIELD(webhook.ca_file)},
    {"kubernetes.kubeconfig",
     "kubeconfig file of the cluster whose pods tautd watches, or in-cluster for the service account of "
     "tautd's own pod; empty: none",
     kPlain, 0, 0, TAUT_FIELD(kubernetes.kubeconfig)},
    {"kubernetes.cluster",
     "begins the names of this cluster's jobs, as a label cluster of series does; empty: "
     "nothing does",
     kPlain, 0, 0, TAUT_FIELD(kubernetes.cluster)},
    {"kubernetes.scrape_interval",
     "how often usage is read (kubernetes.usage), through the API server; 0: never, as where Prometheus "
     "sends "
     "it",
     kDuration, 0, 300, TAUT_FIELD(kubernetes.scrape_interval_s)},
    {"kubernetes.usage",
     "what usage is read of: of the kubelets' proxy cadvisor (/metrics/cadvisor) or resource "
     "(/metrics/resource, which has CPU and memory alone, in far fewer bytes); metrics_api: of "
     "metrics.k8s.io, "
     "where the proxy is not allowed",
     kPlain, 0, 0, TAUT_FIELD(kubernetes.usage)},
    {"kubernetes.fallback",
     "what is done where a limit cannot be set in place: wait, or evict (the pod is evicted, so that its "
     "replacement starts with the limit; requires kubernetes.admission.listen)",
     kPlain, 0, 0, TAUT_FIELD(kubernetes.fallback)},
    {"kubernetes.evict_after",
     "with kubernetes.fallback: evict, how long a resize may be deferred by the kubelet before the pod is "
     "evicted",
     kDuration, 10, 86'400, TAUT_FIELD(kubernetes.evict_after_s)},
    {"kubernetes.node_group_label",
     "label of nodes, such as node.kubernetes.io/instance-type: pods of a DaemonSet on nodes with different "
     "values of it are jobs of their own, DAEMONSET@VALUE; empty: those of all nodes are one job",
     kPlain, 0, 0, TAUT_FIELD(kubernetes.node_group_label)},
    {"kubernetes.namespaces",
     "namespaces whose pods are watched: '*' stands for any text, '|' separates alternatives; empty: every "
     "one",
     kPlain, 0, 0, TAUT_FIELD(kubernetes.namespaces)},
    {"kubernetes.lease",
     "NAMESPACE/NAME of a Lease: of several tautds only the one that holds it changes the cluster; empty: "
     "each "
     "changes it",
     kPlain, 0, 0, TAUT_FIELD(kubernetes.lease)},
    {"kubernetes.annotations",
     "annotations tautline.dev/KEY of namespaces and workloads are settings of their jobs", kPlain, 0, 0,
     TAUT_FIELD(kubernetes.annotations)},
    {"kubernetes.events", "write an Event of the workload for each decision, at most 10 a second", kPlain, 0,
     0, TAUT_FIELD(kubernetes.events)},
    {"kubernetes.status_annotations",
     "write the annotation tautline.dev/status of workloads, and of custom resources that own pods where "
     "tautd may patch them: what is recommended for each container and why, in one line, at most once in 10 "
     "minutes",
     kPlain, 0, 0, TAUT_FIELD(kubernetes.status_annotations)},
    {"kubernetes.scale", "with actuator.kind kubernetes, set numbers of replicas through /scale", kPlain, 0,
     0, TAUT_FIELD(kubernetes.scale)},
    {"kubernetes.admission.listen",
     "ADDRESS:PORT of the webhooks: the mutating one, which gives new pods what is set for their workload, "
     "with actuator.kind: kubernetes, and that of kubernetes.admission.quota; requires one of the two; "
     "empty: none",
     kPlain, 0, 0, TAUT_FIELD(kubernetes.admission.listen)},
    {"kubernetes.admission.name", "DNS name or IP address by which the API server calls the webhook", kPlain,
     0, 0, TAUT_FIELD(kubernetes.admission.name)},
    {"kubernetes.admission.configuration",
     "name of the MutatingWebhookConfiguration and ValidatingWebhookConfiguration to which tautd writes the "
     "certificate of the webhooks, which it makes itself",
     kPlain, 0, 0, TAUT_FIELD(kubernetes.admission.configuration)},
    {"kubernetes.admission.quota",
     "what the validating webhook does with a new pod that the quota of its group has no room for: off "
     "(there is no such webhook), warn (the pod is created, and its creator gets the reasons as warnings) "
     "or refuse; requires kubernetes.admission.listen and quota.file",
     kPlain, 0, 0, TAUT_FIELD(kubernetes.admission.quota)},
    {"kubernetes.admission.held",
     "which new pods of a group with when_spent: refuse whose budget is spent or frozen that webhook "
     "refuses, or "
     "warns about: new (those of workloads that had no pod in the last hour), all (also those that replace "
     "or "
     "add to the pods of a running workload) or off",
     kPlain, 0, 0, TAUT_FIELD(kubernetes.admission.held)},
    {"kubernetes.resource_quotas",
     "write a ResourceQuota into each namespace that is a group of quota.file: what its pods may request in "
     "all",
     kPlain, 0, 0, TAUT_FIELD(kubernetes.resource_quotas)},
    {"kubernetes.vpa",
     "write recommendations to VerticalPodAutoscalers whose spec.recommenders names tautline; requires "
     "ingest.kubernetes_jobs: containers",
     kPlain, 0, 0, TAUT_FIELD(kubernetes.vpa)},
    {"agents.listen",
     "addresses on which to listen for agents (tautlet), ADDRESS:PORT; empty: none; others than loopback "
     "need tokens or a client CA",
     kPlain, 0, 0, TAUT_FIELD(agents.listen)},
    {"agents.tokens_file", "file of agents' tokens, one per line", kPlain, 0, 0,
     TAUT_FIELD(agents.tokens_file), kReloads},
    {"agents.tls.certificate", "PEM file of the certificate for agents; with it, TLS only", kPlain, 0, 0,
     TAUT_FIELD(agents.certificate_file), kReloads},
    {"agents.tls.key", "PEM file of its key", kPlain, 0, 0, TAUT_FIELD(agents.key_file), kReloads},
    {"agents.tls.client_ca", "PEM file: agents must have a certificate of this CA", kPlain, 0, 0,
     TAUT_FIELD(agents.client_ca_file), kReloads},
    {"quota.grpc.listen",
     "addresses on which to listen for requests for quota by gRPC (proto/admission.proto), ADDRESS:PORT; "
     "empty: "
     "none; requires quota.file; tokens are those of server.tokens, and addresses other than loopback need "
     "some, "
     "or a client CA",
     kPlain, 0, 0, TAUT_FIELD(quota_grpc.listen)},
    {"quota.grpc.tls.certificate", "PEM file of the certificate for them; with it, TLS only", kPlain, 0, 0,
     TAUT_FIELD(quota_grpc.certificate_file), kReloads},
    {"quota.grpc.tls.key", "PEM file of its key", kPlain, 0, 0, TAUT_FIELD(quota_grpc.key_file), kReloads},
    {"quota.grpc.tls.client_ca", "PEM file: clients must have a certificate of this CA", kPlain, 0, 0,
     TAUT_FIELD(quota_grpc.client_ca_file), kReloads},
    {"external_scaler.listen",
     "addresses on which to listen for KEDA (external scaler), ADDRESS:PORT; empty: none; others than "
     "loopback "
     "need a client CA",
     kPlain, 0, 0, TAUT_FIELD(external_scaler.listen)},
    {"external_scaler.tls.certificate", "PEM file of the certificate for KEDA; with it, TLS only", kPlain, 0,
     0, TAUT_FIELD(external_scaler.certificate_file)},
    {"external_scaler.tls.key", "PEM file of its key", kPlain, 0, 0, TAUT_FIELD(external_scaler.key_file)},
    {"external_scaler.tls.client_ca", "PEM file: KEDA must have a certificate of this CA", kPlain, 0, 0,
     TAUT_FIELD(external_scaler.client_ca_file)},
    {"external_recommender.address",
     "HOST:PORT of a recommender of your own (gRPC, proto/recommender.proto), which is asked about jobs "
     "whose "
     "setting external is true; empty: none",
     kPlain, 0, 0, TAUT_FIELD(external_recommender.address)},
    {"external_recommender.deadline", "time limit of one call, of at most 500 jobs", kDuration, 1, 240,
     TAUT_FIELD(external_recommender.deadline_s)},
    {"external_recommender.hold",
     "how long an answer holds while no other comes; then the job's own recommender takes over", kDuration,
     300, 7 * brain::kDay, TAUT_FIELD(external_recommender.hold_s)},
    {"external_recommender.max_step",
     "an answer of more than this many times what a task uses or has, or of this many times the tasks, is "
     "refused",
     kPlain, 1, 1e6, TAUT_FIELD(external_recommender.max_step)},
    {"external_recommender.tls.ca",
     "PEM file of the CA of its certificate; empty, and no certificate: plain text", kPlain, 0, 0,
     TAUT_FIELD(external_recommender.ca_file)},
    {"external_recommender.tls.certificate", "PEM file of the certificate that tautd shows it", kPlain, 0, 0,
     TAUT_FIELD(external_recommender.certificate_file)},
    {"external_recommender.tls.key", "PEM file of its key", kPlain, 0, 0,
     TAUT_FIELD(external_recommender.key_file)},
    {"log.level", "what is logged on standard error: debug, info, warning or error", kPlain, 0, 0,
     TAUT_FIELD(log.level)},
    {"log.format", "text: key=value; json: an object per line", kPlain, 0, 0, TAUT_FIELD(log.format)},
    {"notify.url", "URL to which events are sent as JSON by POST; empty: none", kUrl, 0, 0,
     TAUT_FIELD(notify.url)},
    {"notify.events",
     "events to send: limit_lowered, limit_rolled_back, oom_kill, agent_disconnected, agent_connected, "
     "store_not_ready, "
     "store_ready, setting_changed, replicas_step_back, replicas_held, replicas_hold_ended, budget_share, "
     "budget_forecast, tier_act",
     kPlain, 0, 0, TAUT_FIELD(notify.events)},
    {"notify.secret_file", "file with the key of the HMAC-SHA256 in X-Tautline-Signature; empty: not signed",
     kPlain, 0, 0, TAUT_FIELD(notify.secret_file)},
    {"notify.ca_file", "PEM file of the CA of its certificate; empty: the system's", kPlain, 0, 0,
     TAUT_FIELD(notify.ca_file)},
};
#undef TAUT_FIELD

}  // namespace

std::span<const DaemonSetting> DaemonSettingsTable() { return kDaemonSettings; }

absl::Status SetDaemonSetting(const DaemonSetting& setting, std::span<const std::string> values,
                              DaemonConfig& config) {
  return SetField(setting.spec(), setting.field(config), values);
}

std::vector<std::string> ChangedKeys(const DaemonConfig& before, const DaemonConfig& after) {
  std::vector<std::string> changed;
  for (const DaemonSetting& setting : kDaemonSettings) {
    if (GetDaemonSetting(setting, before) != GetDaemonSetting(setting, after))
      changed.emplace_back(setting.key);
  }
  const auto text = [](const std::vector<MappingRule>& rules) {
    std::string out;
    for (const MappingRule& r : rules) {
      StrAppend(&out, r.name, "\n", r.metric, "\n", static_cast<int>(r.kind), "\n", r.job, "\n", r.task, "\n",
                r.part, "\n", r.scale, "\n");
      for (const LabelMatch& m : r.match) StrAppend(&out, m.label, "\n", m.pattern, "\n", m.negate, "\n");
    }
    return out;
  };
  if (text(before.ingest.mapping) != text(after.ingest.mapping)) changed.emplace_back("ingest.mapping");
  return changed;
}

std::vector<const DaemonSetting*> ReloadableOf(std::string_view section) {
  std::vector<const DaemonSetting*> out;
  for (const DaemonSetting& setting : kDaemonSettings) {
    if (setting.reloads && setting.key.substr(0, setting.key.rfind('.')) == section) out.push_back(&setting);
  }
  return out;
}

void TakeReloadable(std::string_view section, const DaemonConfig& next, DaemonConfig& running) {
  DaemonConfig from = next;
  for (const DaemonSetting* setting : ReloadableOf(section)) {
    std::visit(
        [](auto* value, auto* target) {
          if constexpr (std::is_same_v<decltype(value), decltype(target)>) *target = *value;
        },
        setting->field(from), setting->field(running));
  }
}

std::string GetDaemonSetting(const DaemonSetting& setting, const DaemonConfig& config) {
  DaemonConfig copy = config;
  return ShowField(setting.spec(), setting.field(copy));
}

}  // namespace taut::server
