#include "model/target.h"

#include "base/strings.h"

namespace taut {

std::optional<Target> TargetNamed(std::string_view name) {
  for (const Target target : {Target(Resource::kCpu), Target(Resource::kMemory), Target::Replicas()}) {
    if (Name(target) == name) return target;
  }
  return std::nullopt;
}

std::string Describe(Target target) {
  return target.is_replicas() ? std::string(Name(target)) : StrCat(Name(target), " limit");
}

}  // namespace taut
