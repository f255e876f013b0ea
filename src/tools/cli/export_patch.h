// Exports recommendations as patches of Kubernetes workloads, for GitOps.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/export_plan.h"
#include "tools/cli/export_text.h"

namespace taut::tools {

// Change of a container's resources by a recommendation.
struct ContainerChange {
  std::string namespace_name = {}, kind = {}, workload = {}, container = {};  // `kind` in lower case
  bool is_init = false;
  // Texts such as "cpu: 250m, memory: 96Mi"; "": unchanged. If both are "", `comment` contains the reason.
  std::string requests = {}, limits = {};
  std::string comment = {};
};
// Returns the change of a job; nullopt unless the job is a container of a workload whose template can be changed.
std::optional<ContainerChange> ChangeOfJob(const PatchOptions& options, const ExportedJob& job);

// Returns the text as a quoted YAML scalar in JSON's notation, which needs no further escapes.
std::string YamlScalar(std::string_view text);

// kPatch: strategic merge patches, one YAML document per workload. kKustomize: one kustomization.yaml that
// contains these patches. Names of jobs have the form "[CLUSTER/]NAMESPACE/KIND/NAME/CONTAINER"
// (ingest.kubernetes_jobs: containers). A comment before each change states the owner's limit, the recommendation
// and the reason. A job with another name, with a template that cannot be patched, or without a recommendation
// only results in a comment at the end.
enum class PatchForm : uint8_t { kPatch, kKustomize };
// Returns the reason why PatchText() and HelmValuesText() would change nothing; "" if they would change a job.
std::string WhyNoChange(const PatchOptions& options, const std::vector<ExportedJob>& jobs);
// Returns an error text if the jobs that PatchText() would change belong to several clusters, else "". Patches
// name no cluster, so workloads with equal names in two clusters would be one workload.
std::string WhyNotOneCluster(const PatchOptions& options, const std::vector<ExportedJob>& jobs);
// Returns the patches in the given form. REQUIRES: WhyNotOneCluster() is "".
std::string PatchText(PatchForm form, const PatchOptions& options, const std::vector<ExportedJob>& jobs);

}  // namespace taut::tools
