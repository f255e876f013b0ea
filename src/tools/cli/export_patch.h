// Exports recommendations as patches of Kubernetes workloads, for GitOps.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/export_plan.h"
#include "tools/cli/export_text.h"

namespace taut::tools {

// The change of a container by a recommendation.
struct ContainerChange {
  std::string namespace_name = {}, kind = {}, workload = {}, container = {};  // `kind` is in lower case
  bool is_init = false;
  // "cpu: 250m, memory: 96Mi"; "": unchanged. If both are empty, nothing changes, and the comment contains
  // the reason.
  std::string requests = {}, limits = {};
  std::string comment = {};
};
// Returns the change of a job; nullopt if the job is not a container of a workload whose template can be
// changed.
std::optional<ContainerChange> ChangeOfJob(const PatchOptions& options, const ExportedJob& job);

// Returns the text as a safe YAML scalar, in JSON's notation.
std::string YamlScalar(std::string_view text);

// kPatch: strategic merge patches, one YAML document per workload. kKustomize: one kustomization.yaml with the
// patches. Jobs are named "[CLUSTER/]NAMESPACE/KIND/NAME/CONTAINER" (ingest.kubernetes_jobs: containers). Each
// change has a comment with the owner's limit, the recommendation and its reason. Jobs without such a name,
// without a template that can be patched, or without a recommendation are comments at the end.
enum class PatchForm : uint8_t { kPatch, kKustomize };
// Returns the reason why the exports of PatchText and HelmValuesText would change nothing; "" if they change
// something.
std::string WhyNoChange(const PatchOptions& options, const std::vector<ExportedJob>& jobs);
std::string PatchText(PatchForm form, const PatchOptions& options, const std::vector<ExportedJob>& jobs);

}  // namespace taut::tools
