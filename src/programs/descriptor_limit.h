// The usual soft limit of 1,024 open files is there for programs that use select(); ours do not.
#pragma once

#include <sys/resource.h>

namespace taut {

// As far up as the owner of the machine allows; stays as it is if it cannot.
inline void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace taut
