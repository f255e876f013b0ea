// Jobs of Kubernetes that are stored by the names of another ingest.kubernetes_jobs.
#pragma once

#include <span>
#include <string>

#include "server/ingest/mapping_rules.h"

namespace taut::server {

// What happens to jobs that are stored as whole pods (shop/deployment/web) while each container is one; "": there
// are
// none, or pods are what is asked for.
std::string OldUnitNotice(std::span<const std::string> stored, KubernetesJobs jobs);

}  // namespace taut::server
