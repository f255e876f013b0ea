// Workloads of jobs in the form of the API, for tests of exports.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/strings.h"
#include "common/model/workload.h"
#include "tools/cli/json_text.h"

namespace taut::tools {

// Returns the workload of the Kubernetes job with this name, such as "east/shop/statefulset/db@0/app"; null
// for any other name.
inline Json WorkloadOfTest(const std::string& job) {
  const bool has_cell = Split(job, '/').size() == 5;
  const std::optional<Workload> workload =
      WorkloadOfStoredName(job, has_cell ? std::string_view(job).substr(0, job.find('/')) : "");
  if (!workload.has_value()) return nullptr;
  const auto part = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {{"source", Name(workload->source)},
          {"cluster", part(workload->cell)},
          {"namespace", workload->namespace_name},
          {"kind", workload->kind},
          {"name", workload->name},
          {"group", part(workload->group)},
          {"container", part(workload->container)}};
}

}  // namespace taut::tools
