#include "server/config/ingest_config.h"

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "server/config/daemon_section.h"

namespace taut::server {
namespace {

using enum FieldUnit;

constexpr EnumName<KubernetesJobs> kJobs[] = {{KubernetesJobs::kPods, "pods"},
                                              {KubernetesJobs::kContainers, "containers"}};

const DaemonSetting kIngestRows[] = {
    {"ingest.grace", "a five-minute window closes this long after its end, to wait for late samples",
     kDuration, 0, brain::kHour, TAUT_DAEMON_FIELD(ingest.options.windows.grace_seconds)},
    {"ingest.max_future", "samples further in the future than this are dropped", kDuration, 0, brain::kDay,
     TAUT_DAEMON_FIELD(ingest.options.windows.max_future_seconds)},
    {"ingest.idle", "a series without samples is forgotten after this time", kDuration, 300, kYearSeconds,
     TAUT_DAEMON_FIELD(ingest.options.idle_seconds)},
    {"ingest.max_series", "maximum number of series; further ones are refused", kPlain, 1, 1e9,
     TAUT_DAEMON_FIELD(ingest.options.max_series)},
    {"ingest.job_labels",
     "labels of series and (kube_pod_labels) of pods that become labels of jobs, for rules and totals",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(ingest.options.job_labels)},
    {"ingest.max_jobs",
     "maximum number of known jobs, without forgotten ones; series of further jobs are refused", kPlain, 1,
     1e8, TAUT_DAEMON_FIELD(ingest.options.max_jobs)},
    {"ingest.max_waiting_samples",
     "maximum number of samples in open windows; above it, requests are answered 503 until a window closes",
     kPlain, 1000, 1e11, TAUT_DAEMON_FIELD(ingest.options.max_waiting_samples)},
    {"ingest.max_request", "largest remote-write request, decompressed", kBytes, kMiB, 4 * kGiB,
     TAUT_DAEMON_FIELD(ingest.options.limits.max_decompressed_bytes)},
    {"ingest.builtin_mapping", "use the built-in mapping rules after those of ingest.mapping", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(ingest.builtin_mapping)},
    {"ingest.kubernetes_jobs",
     "a job in Kubernetes: containers (each container of an owner's pods: NAMESPACE/KIND/OWNER/CONTAINER) "
     "or pods (an owner's pods, each the sum of its containers)",
     kPlain, 0, 0, TAUT_DAEMON_CHOICE(kJobs, ingest.kubernetes_jobs)},
    {"backfill.prometheus",
     "URL of a Prometheus whose history fills an empty store, gaps and the past of jobs that appear later",
     kUrl, 0, 0, TAUT_DAEMON_FIELD(backfill.prometheus_url)},
    {"backfill.history", "most history to read", kDuration, 0, 366 * brain::kDay,
     TAUT_DAEMON_FIELD(backfill.days), Was("backfill.days", brain::kDay, brain::kDay)},
    {"backfill.later_jobs", "how often the history of jobs that appeared later is requested; 0: never",
     kDuration, 0, brain::kDay, TAUT_DAEMON_FIELD(backfill.later_jobs_s)},
    {"backfill.labels", "external_labels of the Prometheus, NAME=VALUE", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(backfill.labels)},
    {"backfill.bearer_token_file", "file with its bearer token", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(backfill.bearer_token_file)},
    {"backfill.ca_file", "PEM file of the CA of its certificate; empty: the system's", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(backfill.ca_file)},
};

absl::Status CheckIngest(const DaemonConfig& config) {
  for (const std::string& label : config.backfill.labels) {
    if (const auto parsed = ParseBackfillLabel(label); !parsed.ok()) return parsed.status();
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<MappingRule> MappingRulesOf(const IngestConfig& config) {
  std::vector<MappingRule> rules = config.mapping;
  if (!config.builtin_mapping) return rules;
  for (MappingRule& rule : BuiltinRules(config.kubernetes_jobs)) rules.push_back(std::move(rule));
  return rules;
}

absl::StatusOr<std::pair<std::string, std::string>> ParseBackfillLabel(std::string_view label) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  const size_t equals = label.find('=');
  const std::string_view name = label.substr(0, equals);
  const bool is_name = !name.empty() && name.find_first_not_of(kLetters) == std::string_view::npos &&
                       !(name.front() >= '0' && name.front() <= '9') && !name.starts_with("__");
  if (equals == std::string_view::npos || equals + 1 == label.size() || !is_name) {
    return absl::InvalidArgumentError(
        StrCat("backfill.labels: \"", label, "\" is not NAME=VALUE, as in external_labels of Prometheus"));
  }
  return std::pair(std::string(name), std::string(label.substr(equals + 1)));
}

DaemonSection IngestSection() { return {kIngestRows, CheckIngest}; }

}  // namespace taut::server
