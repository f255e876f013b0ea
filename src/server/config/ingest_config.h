// Settings of samples: their conversion to windows of jobs, and the history that is read from a Prometheus.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/ingest/ingest.h"
#include "server/ingest/mapping_rules.h"

namespace taut::server {

struct IngestConfig {
  Ingest::Options options;
  bool builtin_mapping = true;
  KubernetesJobs kubernetes_jobs = KubernetesJobs::kContainers;
  std::vector<MappingRule> mapping;  // rules of the file; they precede the built-in rules
};

// History that is backfilled: into an empty store, for a gap, and for jobs that appear later.
struct BackfillConfig {
  std::string prometheus_url;  // URL of the Prometheus server; "": disabled
  double days = 14;
  // Interval between requests for the history of jobs that appeared later; 0: never.
  int64_t later_jobs_s = 3600;
  std::vector<std::string> labels;  // labels "NAME=VALUE" that Prometheus adds on remote write
  std::string bearer_token_file, ca_file;
};
// Parses name and value of an item in BackfillConfig::labels. Returns InvalidArgument if the item is malformed.
absl::StatusOr<std::pair<std::string, std::string>> ParseBackfillLabel(std::string_view label);

// Returns the mapping rules of the file, then the built-in rules unless these are disabled.
std::vector<MappingRule> MappingRulesOf(const IngestConfig& config);

}  // namespace taut::server
