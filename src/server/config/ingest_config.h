// Settings of samples: how they become windows of jobs, and the history that is read from a Prometheus.
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

// The mapping rules of the file, and after them the built-in ones unless they were left out.
std::vector<MappingRule> MappingRulesOf(const IngestConfig& config);

}  // namespace taut::server
