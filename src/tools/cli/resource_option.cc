#include "tools/cli/resource_option.h"

#include <algorithm>
#include <optional>

#include "common/base/row_named.h"

namespace taut::tools {

absl::StatusOr<std::vector<Resource>> ToResources(const std::vector<std::string>& names) {
  if (names.empty()) return std::vector<Resource>(kResources.begin(), kResources.end());
  std::vector<Resource> out;
  for (const std::string& name : names) {
    const std::optional<Resource> r = ResourceNamed(name);
    if (!r.has_value())
      return absl::InvalidArgumentError(
          StrCat("invalid --resource \"", name, "\": expected ", RowNames(kResourceRows)));
    if (std::ranges::find(out, *r) == out.end()) out.push_back(*r);
  }
  return out;
}

}  // namespace taut::tools
