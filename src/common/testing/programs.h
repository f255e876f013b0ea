// For tests that need a program of the machine and are skipped if it is not installed.
#pragma once

#include <cstdlib>

#include "common/base/strings.h"

namespace taut {

// Returns true if the shell finds the program. `name` is passed to a shell unquoted.
inline bool HasProgram(const char* name) {
  return std::system(StrCat("command -v ", name, " >/dev/null 2>&1").c_str()) == 0;
}

}  // namespace taut
