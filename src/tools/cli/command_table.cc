#include "tools/cli/command_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "common/base/strings.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

// Prints each command with its summary. `taut COMMAND --help` prints the full help of one command.
class SummaryFormatter final : public CLI::Formatter {
 public:
  void Add(const CLI::App* command, const char* summary) { summaries_[command] = summary; }
  std::string make_subcommand(const CLI::App* command) const override {
    const auto it = summaries_.find(command);
    std::stringstream out;
    CLI::detail::format_help(out, command->get_name(), it == summaries_.end() ? "" : it->second, 16);
    return out.str();
  }
  // CLI11 lists the options that an option needs and excludes in the order of their addresses.
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string out = CLI::Formatter::make_option_opts(option);
    SortNames(get_label("Needs"), option->get_needs(), out);
    SortNames(get_label("Excludes"), option->get_excludes(), out);
    return out;
  }

 private:
  static void SortNames(const std::string& label, const std::set<CLI::Option*>& options, std::string& text) {
    std::vector<std::string> names;
    for (const CLI::Option* option : options) names.push_back(" " + option->get_name());
    const std::string unsorted = label + ":" + Join(names, "");
    std::ranges::sort(names);
    if (const size_t at = text.find(unsorted); at != std::string::npos)
      text.replace(at, unsorted.size(), label + ":" + Join(names, ""));
  }

  std::map<const CLI::App*, std::string> summaries_;
};

SummaryFormatter& FormatterOf(const CLI::App& program) {
  return static_cast<SummaryFormatter&>(*program.get_formatter());
}

std::vector<std::string> WordsOfName(std::string_view name) {
  std::vector<std::string> out;
  for (const std::string_view word : Split(name, ' ')) out.emplace_back(word);
  return out;
}

bool BeginsWith(const std::vector<std::string>& words, const std::vector<std::string>& name) {
  return words.size() >= name.size() && std::equal(name.begin(), name.end(), words.begin());
}

}  // namespace

const char* Heading(CommandGroup group) {
  switch (group) {
    case CommandGroup::kAsk:
      return "Ask a running tautd";
    case CommandGroup::kChange:
      return "Change and request";
    case CommandGroup::kOperate:
      return "Operate tautd";
    case CommandGroup::kLab:
      return "Replay recorded usage and simulate a cell";
    case CommandGroup::kHelp:
      break;
  }
  return "Help";
}

CLI::App* FindCommand(const CLI::App& app, std::string_view name) {
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (command->get_name() == name) return app.get_subcommand(std::string(name));
  }
  return nullptr;
}

CommandTable::CommandTable(CLI::App& program) : program_(program) {
  program.formatter(std::make_shared<SummaryFormatter>());
}

CLI::App* CommandTable::AddApp(const CommandRow& row) {
  const std::vector<std::string> words = WordsOfName(row.name);
  CLI::App* parent = words.size() == 1 ? &program_ : program_.get_subcommand(words.front());
  CLI::App* command = parent->add_subcommand(words.back(), row.help);
  command->group(words.size() == 1 ? Heading(row.group) : "Commands");
  FormatterOf(program_).Add(command, row.summary);
  rows_.push_back(row);
  return command;
}

std::optional<int> CommandTable::Run() const {
  for (const auto& [command, run] : commands_) {
    if (command->parsed()) return run();
  }
  return std::nullopt;
}

std::string CommandTable::Rename(std::vector<std::string>& words) const {
  std::vector<std::string> typed, now;
  bool is_old = false;
  // The longest matching name counts: "requests make" precedes "requests".
  const auto consider = [&](std::string_view name, std::string_view stands_for, bool old) {
    std::vector<std::string> name_words = WordsOfName(name);
    if (!BeginsWith(words, name_words) || name_words.size() <= typed.size()) return;
    typed = std::move(name_words);
    now = WordsOfName(stands_for);
    is_old = old;
  };
  for (const CommandRow& row : rows_) {
    consider(row.name, row.name, false);
    for (const std::string_view name : row.old_names) consider(name, row.name, true);
    for (const auto& [name, stands_for] : row.other_names) consider(name, stands_for, false);
  }
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(typed.size()));
  words.insert(words.begin(), now.begin(), now.end());
  if (!is_old) return "";
  return StrCat("`taut ", Join(typed, " "), "` is now `taut ", Join(now, " "),
                "`; the next release removes the old name");
}

std::string CommandTable::ShortHelp() const {
  std::string out = "Recommends CPU and memory limits from measured usage.\n\n";
  for (int g = 0; g < kCommandGroups; ++g) {
    std::string names;
    for (const CommandRow& row : rows_) {
      const std::string_view name = row.name;
      if (row.group != CommandGroup{static_cast<uint8_t>(g)} || name.find(' ') != std::string_view::npos ||
          *row.summary == '\0')
        continue;
      StrAppend(&names, names.empty() ? "" : " ", name);
    }
    StrAppend(&out, Heading(CommandGroup{static_cast<uint8_t>(g)}), ":\n", Wrapped(names, "  "));
  }
  return out +
         "\n`taut --help` has a line for each command, `taut COMMAND --help` its options and examples.\n";
}

}  // namespace taut::tools
