// Recommendations as changes of Kubernetes workloads, for GitOps.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/export_plan.h"
#include "tools/cli/export_text.h"

namespace taut::tools {

// What a recommendation changes of a container.
struct ContainerChange {
  std::string namespace_name = {}, kind = {}, workload = {}, container = {};  // the kind in lower case
  bool is_init = false;
  // "cpu: 250m, memory: 96Mi"; "": none. Without either there is nothing to change, and the comment says why.
  std::string requests = {}, limits = {};
  std::string comment = {};
};
// nullopt: the job is not a container of a workload whose template can be changed.
std::optional<ContainerChange> ChangeOfJob(const PatchOptions& options, const ExportedJob& job);

// A YAML scalar that is safe for any text: JSON's.
std::string YamlScalar(std::string_view text);

// patch: strategic merge patches, a YAML document for each workload. kustomize: one kustomization.yaml with them.
// Jobs are "[CLUSTER/]NAMESPACE/KIND/NAME/CONTAINER" (ingest.kubernetes_jobs: containers). Each change has a
// comment:
// the owner's limit, what is recommended, and why. What has no such name, no template that can be patched, or no
// recommendation stands as a comment at the end.
enum class PatchForm : uint8_t { kPatch, kKustomize };
// Why the exports above, and Helm's values, would change nothing at all; "": they change something.
std::string WhyNoChange(const PatchOptions& options, const std::vector<ExportedJob>& jobs);
std::string PatchText(PatchForm form, const PatchOptions& options, const std::vector<ExportedJob>& jobs);

}  // namespace taut::tools
