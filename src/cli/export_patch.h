// Recommendations as changes of Kubernetes workloads, for GitOps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/export_plan.h"
#include "cli/export_text.h"

namespace taut {

// patch: strategic merge patches, a YAML document for each workload. kustomize: one kustomization.yaml with them.
// Jobs are "[CLUSTER/]NAMESPACE/KIND/NAME/CONTAINER" (ingest.kubernetes_jobs: containers). Each change has a comment:
// the owner's limit, what is recommended, and why. What has no such name, no template that can be patched, or no
// recommendation stands as a comment at the end.
enum class PatchForm : uint8_t { kPatch, kKustomize };
std::string PatchText(PatchForm form, const PatchOptions& options, const std::vector<ExportedJob>& jobs);

}  // namespace taut
