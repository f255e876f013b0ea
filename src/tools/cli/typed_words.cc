#include "tools/cli/typed_words.h"

#include <algorithm>
#include <string_view>

#include "common/base/did_you_mean.h"
#include "common/base/strings.h"
#include "tools/cli/parse_help.h"

namespace taut::tools {
namespace {

// Returns true if any command below `app` has this option with a value, which is the next word.
bool HasValue(const CLI::App& app, std::string_view option) {
  for (const CLI::Option* o : app.get_options()) {
    if (o->get_items_expected_max() > 0 && o->check_name(std::string(option))) return true;
  }
  return std::ranges::any_of(app.get_subcommands(nullptr),
                             [&](const CLI::App* command) { return HasValue(*command, option); });
}

std::string UnknownCommand(const CLI::App& app, std::string_view word) {
  if (word == "feed" || word == "bench-write")
    return StrCat("\"", word, "\" is a command of taut-dev: run `taut-dev ", word, "`");
  const std::vector<std::string> names = NamesOf(app);
  return StrCat("unknown command \"", word, "\"",
                DidYouMean(word, std::vector<std::string_view>(names.begin(), names.end())));
}

// Returns an error for an unknown option; "" if `command` has the option.
std::string UnknownOption(const CLI::App& command, std::string_view word) {
  std::vector<std::string> options;
  for (const CLI::Option* o : command.get_options()) {
    for (const std::string& name : o->get_lnames()) options.push_back("--" + name);
  }
  if (std::ranges::find(options, word) != options.end()) return {};
  return StrCat("unknown option \"", word, "\"",
                DidYouMean(word, std::vector<std::string_view>(options.begin(), options.end())));
}

bool AsksAboutTaut(const std::string& word) {
  return word == "-h" || word == "--help" || word == "-V" || word == "--version";
}

// Moves the options that start at index `at` behind the word that follows them. Returns false if no word follows.
bool MoveOptionsBehindWord(const CLI::App& program, size_t at, std::vector<std::string>& words) {
  size_t word = at;
  while (word < words.size() && words[word].starts_with("-")) {
    const bool has_value = words[word].find('=') == std::string::npos && HasValue(program, words[word]);
    if (AsksAboutTaut(words[word])) return false;
    word += has_value ? 2 : 1;
  }
  if (word >= words.size()) return false;
  const auto begin = words.begin() + static_cast<std::ptrdiff_t>(at);
  const auto to = words.begin() + static_cast<std::ptrdiff_t>(word);
  std::rotate(begin, to, to + 1);
  return true;
}

}  // namespace

std::string CommandLine(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  if (!words.empty()) words[0] = "taut";
  return Join(words, " ");
}

std::vector<std::string> CommandFirst(const CommandTable& commands, int argc, char** argv,
                                      std::string& renamed) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const std::vector<std::string> typed = words;
  const CLI::App& program = commands.program();
  // `taut --help get jobs` is equivalent to `taut get jobs --help`.
  if (words.size() > 1 && (words.front() == "-h" || words.front() == "--help"))
    std::rotate(words.begin(), words.begin() + 1, words.end());
  if (!MoveOptionsBehindWord(program, 0, words)) return typed;
  renamed = commands.Rename(words);
  const CLI::App* first = FindCommand(program, words.front());
  if (first == nullptr) return typed;
  if (!NamesOf(*first).empty()) MoveOptionsBehindWord(program, 1, words);
  return words;
}

std::string NameOfCommand(const CLI::App& program, const std::vector<std::string>& words) {
  std::string name;
  const CLI::App* at = &program;
  for (const std::string& word : words) {
    at = FindCommand(*at, word);
    if (at == nullptr) break;
    StrAppend(&name, word, " ");
  }
  return name;
}

std::string Suggestion(const CLI::App& program, const std::vector<std::string>& words) {
  const CLI::App* command = &program;
  for (const std::string& typed : words) {
    if (typed == "--") break;  // only parameters follow
    const std::string_view word = std::string_view(typed).substr(0, typed.find('='));
    const bool awaits_command = !NamesOf(*command).empty();
    if (awaits_command && !word.starts_with("-")) {
      const CLI::App* next = FindCommand(*command, word);
      if (next == nullptr) return UnknownCommand(*command, word);
      command = next;
    } else if (word.starts_with("--")) {
      if (std::string unknown = UnknownOption(*command, word); !unknown.empty()) return unknown;
    }
  }
  const std::vector<std::string> names = NamesOf(*command);
  if (command == &program || names.empty()) return {};
  return StrCat("`taut ", command->get_name(), "` requires one of: ", Join(names, ", "));
}

}  // namespace taut::tools
