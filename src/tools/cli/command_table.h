// The commands of taut. Each command is a row in the source file of the command: name, group in the help,
// options and function.
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

// The headings of `taut --help`, in the order of the output.
enum class CommandGroup : uint8_t { kAsk, kChange, kOperate, kLab, kHelp };
inline constexpr int kCommandGroups = 5;
const char* Heading(CommandGroup group);

// Returns the command of this name directly below `app`; nullptr if there is none.
CLI::App* FindCommand(const CLI::App& app, std::string_view name);

struct CommandRow {
  const char* name;     // the words as the user types them: "get jobs"
  CommandGroup group;   // a command of two words has the group of its first word
  const char* summary;  // one line of the help, at most 70 columns
  const char* help;     // sentences; a blank line; "Examples:" and one line for each
  // Names in earlier versions. These names work until the next release, with a warning that contains the new
  // name.
  std::vector<std::string_view> old_names = {};
  // Names that users look for, each with the words that it is replaced by. These names work without a
  // warning.
  std::vector<std::pair<std::string_view, std::string_view>> other_names = {};
};

class CommandTable {
 public:
  // `program` must outlive the table.
  explicit CommandTable(CLI::App& program);

  // Adds a first word of several commands, such as `get`. REQUIRES: no command with this first word was
  // added.
  void AddWord(const CommandRow& row) { AddApp(row)->require_subcommand(1); }
  // Adds a command. `options(CLI::App&, Args&)` adds its options. `run(const Args&)` runs it and returns its
  // exit code.
  template <typename Args, typename Options, typename Run>
  void Add(const CommandRow& row, const Options& options, Run run) {
    const auto args = std::make_shared<Args>();
    CLI::App* command = AddApp(row);
    options(*command, *args);
    commands_.emplace_back(command, [args, run = std::move(run)] { return run(*args); });
  }

  // Runs the command that was parsed and returns its exit code; nullopt if no command was parsed.
  std::optional<int> Run() const;

  // Replaces first words that are an old or other name. Returns the warning about an old name; "" if there is
  // none.
  std::string Rename(std::vector<std::string>& words) const;
  // Returns the output of `taut` without a command: the headings with the names of their commands.
  std::string ShortHelp() const;
  CLI::App& program() const { return program_; }

 private:
  CLI::App* AddApp(const CommandRow& row);

  CLI::App& program_;
  std::vector<CommandRow> rows_;
  std::vector<std::pair<const CLI::App*, std::function<int()>>> commands_;
};

}  // namespace taut::tools
