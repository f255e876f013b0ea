// The workload of a cluster in the terms of the API server, and its conversion from and to the Workload of a
// job.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/model/workload.h"
#include "server/ingest/mapping_rules.h"

namespace taut::server {

struct WorkloadName {
  std::string namespace_name, kind, name;  // the kind in lower case
  std::string container;                   // "" for all containers of its pods
  std::string group = {};                  // of its pods (workload_split.h); "" for pods without a group
  bool operator==(const WorkloadName&) const = default;
};

// Return the key of a workload, without the container: "shop/deployment/web",
// "logging/daemonset/fluentd@large".
std::string WorkloadKey(const WorkloadName& workload);
std::string WorkloadKey(std::string_view namespace_name, std::string_view kind, std::string_view name);

// Decides which pods or containers of a cluster are one job, and the job's name.
struct ClusterNaming {
  std::string cluster;  // the first part of every name; "" if there is none
  KubernetesJobs jobs = KubernetesJobs::kPods;

  // Returns the identity of the job to which a container of these pods belongs.
  Workload IdentityOf(const WorkloadName& pods, std::string_view container) const;
  std::string JobOf(const WorkloadName& pods, std::string_view container) const {
    return IdentityOf(pods, container).JobName();
  }
  // Returns the workload of a job; nullopt if the job is not one of this cluster. The workload need not
  // exist.
  std::optional<WorkloadName> Of(const Workload& job) const;
  // Does the same for a job of which an older version stored the name alone.
  std::optional<WorkloadName> OfStoredName(std::string_view job) const;
};

}  // namespace taut::server
