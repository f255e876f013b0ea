// Parses the command line of taut: commands, options, exit codes.
//
//   0  done          2  the command line or a settings file is invalid
//   1  failed        3  interrupted; the output states that it is partial
#pragma once

#include <string>
#include <vector>

namespace taut::tools {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitPartial = 3;

// Parses the command line and runs the command. Returns the exit code.
int RunCli(int argc, char** argv);
// Runs the command line `words`, which lacks the program's name. Restores KeepsNamesWhole() (terminal.h) at the
// end.
int RunCli(std::vector<std::string> words);

}  // namespace taut::tools
