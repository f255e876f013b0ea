#include "common/model/target.h"

#include "common/base/row_named.h"
#include "common/base/strings.h"

namespace taut {

std::optional<Target> TargetNamed(std::string_view name) {
  if (const std::optional<Resource> r = ResourceNamed(name); r.has_value()) return *r;
  if (name == Name(Target::Replicas())) return Target::Replicas();
  return std::nullopt;
}

std::string TargetNames() { return RowNames(kResourceRows, {Name(Target::Replicas())}); }

std::string Describe(Target target) {
  return target.is_replicas() ? std::string(Name(target)) : StrCat(Name(target), " limit");
}

}  // namespace taut
