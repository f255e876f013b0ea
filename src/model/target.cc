#include "model/target.h"

#include "base/strings.h"

namespace taut {

std::optional<Target> TargetNamed(std::string_view name) {
  for (const Resource r : kResources) {
    if (Name(r) == name) return r;
  }
  if (name == Name(Target::Replicas())) return Target::Replicas();
  return std::nullopt;
}

std::string Describe(Target target) {
  return target.is_replicas() ? std::string(Name(target)) : StrCat(Name(target), " limit");
}

}  // namespace taut
