// Detects stored Kubernetes jobs whose names belong to another value of ingest.kubernetes_jobs.
#pragma once

#include <span>
#include <string>

#include "server/ingest/mapping_rules.h"

namespace taut::server {

// Returns a notice about stored jobs of whole pods (shop/deployment/web) if each container is a job now. ""
// if there are none, or if jobs are whole pods.
std::string OldUnitNotice(std::span<const std::string> stored, KubernetesJobs jobs);

}  // namespace taut::server
