// Commands of taut: each with its options, its arguments and what it does.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"

namespace taut::tools {

class VerbList {
 public:
  // The program outlives it.
  explicit VerbList(CLI::App& program) : program_(program) {}

  // `options(CLI::App&, Args&)` adds the options of the command, `run(const Args&)` carries it out and returns its
  // exit code.
  template <typename Args, typename Options, typename Run>
  void Add(const char* name, const char* help, const Options& options, Run run) {
    const auto args = std::make_shared<Args>();
    CLI::App* verb = program_.add_subcommand(name, help);
    options(*verb, *args);
    verbs_.emplace_back(verb, [args, run = std::move(run)] { return run(*args); });
  }
  // Runs the command that was typed: its exit code. nullopt: it is none of these.
  std::optional<int> Run() const {
    for (const auto& [verb, run] : verbs_) {
      if (verb->parsed()) return run();
    }
    return std::nullopt;
  }

 private:
  CLI::App& program_;
  std::vector<std::pair<const CLI::App*, std::function<int()>>> verbs_;
};

}  // namespace taut::tools
