// Detects stored Kubernetes jobs that were created with another value of ingest.kubernetes_jobs.
#pragma once

#include <span>
#include <string>

#include "common/model/workload.h"
#include "server/ingest/mapping_rules.h"

namespace taut::server {

// Returns a notice about stored jobs of whole pods (shop/deployment/web) if each container is a job now.
// Returns "" if there are no such jobs, or if jobs are whole pods.
std::string OldUnitNotice(std::span<const Workload> stored, KubernetesJobs jobs);

}  // namespace taut::server
