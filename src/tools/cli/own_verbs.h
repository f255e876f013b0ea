// help, version, completion and man: the commands about the command line itself, and the help of `taut` alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace taut::tools {

class OwnVerbs {
 public:
  // The program outlives it.
  explicit OwnVerbs(CLI::App& program);
  // Runs the command that was typed: its exit code. nullopt: it is none of these.
  std::optional<int> Run() const;

 private:
  int Help() const;
  bool WritePage(const CLI::App& app, const std::string& name, const std::string& command,
                 std::vector<std::string> see_also) const;
  int WriteMan() const;

  CLI::App& program_;
  CLI::App *help_, *version_, *completion_, *man_;
  std::vector<std::string> about_;
  std::string shell_, folder_;
};

// Puts the commands into groups, of which `taut --help` has a line each. REQUIRES: all commands were added.
void GroupVerbs(CLI::App& program);
// What `taut` alone prints.
std::string ShortHelp();

}  // namespace taut::tools
