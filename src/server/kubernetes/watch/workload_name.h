// Which workload of a cluster a job is of: the job's Workload in the terms of the API server, and back.
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
  std::string container;                   // "": all containers of its pods
  std::string group = {};                  // of its pods (workload_split.h); "": those of none
  bool operator==(const WorkloadName&) const = default;
};

// "shop/deployment/web", "logging/daemonset/fluentd@large": without the container.
std::string WorkloadKey(const WorkloadName& workload);
std::string WorkloadKey(std::string_view namespace_name, std::string_view kind, std::string_view name);

// What is one job in a cluster, and how it is named.
struct ClusterNaming {
  std::string cluster;  // begins every name; "": none
  KubernetesJobs jobs = KubernetesJobs::kPods;

  // The identity of the job that a container of these pods belongs to.
  Workload IdentityOf(const WorkloadName& pods, std::string_view container) const;
  std::string JobOf(const WorkloadName& pods, std::string_view container) const {
    return IdentityOf(pods, container).JobName();
  }
  // nullopt: not a job of this cluster. The workload need not be there.
  std::optional<WorkloadName> Of(const Workload& job) const;
  // The same of a job of which an older version stored the name alone.
  std::optional<WorkloadName> OfStoredName(std::string_view job) const;
};

}  // namespace taut::server
