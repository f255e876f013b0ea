// For tests against programs of the machine, which are skipped where these are not installed.
#pragma once

#include <cstdlib>

#include "common/base/strings.h"

namespace taut {

inline bool HasProgram(const char* name) {
  return std::system(StrCat("command -v ", name, " >/dev/null 2>&1").c_str()) == 0;
}

}  // namespace taut
