#include "tools/cli/typed_words.h"

#include <algorithm>
#include <string_view>

#include "common/base/did_you_mean.h"
#include "common/base/strings.h"

namespace taut::tools {
namespace {

// The options that take a value of their own word, of any verb.
bool TakesValue(const CLI::App& app, std::string_view option) {
  for (const CLI::App* verb : app.get_subcommands(nullptr)) {
    for (const CLI::Option* o : verb->get_options()) {
      if (o->get_items_expected_max() > 0 && o->check_name(std::string(option))) return true;
    }
  }
  return false;
}

}  // namespace

std::string CommandLine(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  if (!words.empty()) words[0] = "taut";
  return Join(words, " ");
}

std::string Suggestion(const CLI::App& app, int argc, char** argv) {
  const CLI::App* verb = nullptr;
  std::vector<std::string> verbs;
  for (const CLI::App* s : app.get_subcommands(nullptr)) verbs.push_back(s->get_name());
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = std::string_view(argv[i]).substr(0, std::string_view(argv[i]).find('='));
    if (verb == nullptr && !word.starts_with("-")) {
      if (std::find(verbs.begin(), verbs.end(), word) == verbs.end()) {
        if (word == "feed" || word == "bench-write")
          return StrCat("\"", word, "\" is a command of taut-dev: run `taut-dev ", word, "`");
        const std::vector<std::string_view> names(verbs.begin(), verbs.end());
        return StrCat("unknown command \"", word, "\"", DidYouMean(word, names));
      }
      verb = app.get_subcommand(std::string(word));
    } else if (verb != nullptr && word == "test" && verb->get_name() == "mapping") {
      verb = verb->get_subcommand("test");
    } else if (verb != nullptr && word.starts_with("--")) {
      std::vector<std::string> options;
      for (const CLI::Option* o : verb->get_options()) {
        for (const std::string& name : o->get_lnames()) options.push_back("--" + name);
      }
      if (std::find(options.begin(), options.end(), word) != options.end()) continue;
      const std::vector<std::string_view> names(options.begin(), options.end());
      return StrCat("unknown option \"", word, "\"", DidYouMean(word, names));
    }
  }
  return {};
}

std::vector<std::string> VerbFirst(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  size_t at = 0;
  while (at < words.size() && words[at].starts_with("-")) {
    const bool has_value = words[at].find('=') == std::string::npos && TakesValue(app, words[at]);
    at += has_value ? 2 : 1;
  }
  if (at == 0 || at >= words.size()) return words;
  const auto verbs = app.get_subcommands(nullptr);
  const bool is_verb =
      std::ranges::any_of(verbs, [&](const CLI::App* v) { return v->get_name() == words[at]; });
  const auto about = [](const std::string& w) {
    return w == "-h" || w == "--help" || w == "-V" || w == "--version";
  };
  if (!is_verb || std::any_of(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at), about))
    return words;
  const auto verb = words.begin() + static_cast<std::ptrdiff_t>(at);
  std::rotate(words.begin(), verb, verb + 1);
  return words;
}

}  // namespace taut::tools
