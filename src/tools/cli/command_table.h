// The commands of taut. Each command is one row, which its source file defines: name, group in the help, options
// and function.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"

namespace taut::tools {

// Headings of `taut --help`, in the order of the output.
enum class CommandGroup : uint8_t { kAsk, kChange, kOperate, kLab, kHelp };
inline constexpr int kCommandGroups = 5;
const char* Heading(CommandGroup group);

// Returns the direct subcommand of `app` with this name; nullptr if there is none.
CLI::App* FindCommand(const CLI::App& app, std::string_view name);

struct CommandRow {
  const char* name;     // words as the user types them, such as "get jobs"
  CommandGroup group;   // heading in the help; a command of two words has the group of its first word
  const char* summary;  // line of the help, at most 70 columns
  const char* help;     // sentences, a blank line, "Examples:", and one line per example
  // Names in earlier versions. Each name works until the next release and prints a warning with the new name.
  std::vector<std::string_view> old_names = {};
  // Names that users may expect, each with the words that replace it. These names work without a warning.
  std::vector<std::pair<std::string_view, std::string_view>> other_names = {};
};

class CommandTable {
 public:
  // `program` must outlive the table.
  explicit CommandTable(CLI::App& program);

  // Adds the first word of several commands, such as `get`. REQUIRES: no command that starts with this word was
  // added.
  void AddWord(const CommandRow& row) { AddApp(row)->require_subcommand(1); }
  // Adds a command. `options(CLI::App&, Args&)` declares the command's options. `run(const Args&)` executes the
  // command and returns the exit code.
  template <typename Args, typename Options, typename Run>
  void Add(const CommandRow& row, const Options& options, Run run) {
    const auto args = std::make_shared<Args>();
    CLI::App* command = AddApp(row);
    options(*command, *args);
    commands_.emplace_back(command, [args, run = std::move(run)] { return run(*args); });
  }

  // Runs the command that was parsed, and returns its exit code. Returns nullopt if no command was parsed.
  std::optional<int> Run() const;

  // Replaces an old or alternative name at the start of `words`. Returns a warning if the name is old, else "".
  std::string Rename(std::vector<std::string>& words) const;
  // Returns the output of `taut` without a command: each heading with the names of its commands.
  std::string ShortHelp() const;
  CLI::App& program() const { return program_; }

 private:
  CLI::App* AddApp(const CommandRow& row);

  CLI::App& program_;
  std::vector<CommandRow> rows_;
  std::vector<std::pair<const CLI::App*, std::function<int()>>> commands_;
};

}  // namespace taut::tools
