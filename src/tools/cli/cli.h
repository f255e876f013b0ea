// The command line of taut: verbs, options, exit codes.
//
//   0  done          2  the command line or a settings file is wrong
//   1  it failed     3  interrupted; what was printed is partial and says so
#pragma once

namespace taut::tools {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitPartial = 3;

int RunCli(int argc, char** argv);

}  // namespace taut::tools
