#include "tools/cli/parse_help.h"

#include <algorithm>
#include <charconv>

#include "common/base/strings.h"

namespace taut::tools {
namespace {

constexpr std::string_view kWordsBegin = "one of ";

bool Hidden(const CLI::App& app) { return app.get_group().empty(); }
bool Hidden(const CLI::Option& option) { return option.get_group().empty(); }

std::vector<const CLI::App*> Verbs(const CLI::App& app) {
  std::vector<const CLI::App*> out;
  for (const CLI::App* verb : app.get_subcommands(nullptr)) {
    if (!Hidden(*verb)) out.push_back(verb);
  }
  return out;
}

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : app.get_options()) {
    if (Hidden(*option)) continue;
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
    for (const std::string& name : option->get_snames()) out.push_back("-" + name);
  }
  return out;
}

// The values of some options of `app`, for one branch of a shell's case statement.
struct Taken {
  std::vector<std::string> names;  // names such as "--mode"
  std::vector<std::string> words;
  bool job = false;  // true: the value is the name of a job
};
std::vector<Taken> TakenBy(const CLI::App& app) {
  std::vector<Taken> out;
  for (const CLI::Option* option : app.get_options()) {
    Taken taken{{}, WordsOf(*option), option->check_lname("job")};
    for (const std::string& name : option->get_lnames()) taken.names.push_back("--" + name);
    if (!taken.names.empty() && (taken.job || !taken.words.empty())) out.push_back(std::move(taken));
  }
  return out;
}

// Returns the values of the first positional argument. An argument named job has the names of jobs as values.
Taken Positional(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) return {{}, WordsOf(*option), option->get_name(true) == "job"};
  }
  return {};
}

constexpr const char* kJobNames = "taut get jobs --names --limit 200 2>/dev/null";
constexpr const char* kJobs = "$(taut get jobs --names --limit 200 2>/dev/null)";

// A command without subcommands, with its full name such as "get jobs".
struct Leaf {
  std::string name;
  const CLI::App* command;
};
std::vector<Leaf> LeavesOf(const CLI::App& app) {
  std::vector<Leaf> out;
  for (const CLI::App* command : Verbs(app)) {
    if (Verbs(*command).empty()) out.push_back({command->get_name(), command});
    for (const Leaf& inner : LeavesOf(*command))
      out.push_back({StrCat(command->get_name(), " ", inner.name), inner.command});
  }
  return out;
}

std::string FirstLine(const CLI::App& app) {
  const std::string text = app.get_description();
  return text.substr(0, text.find('\n'));
}

// Escapes text for man(7).
std::string Roff(std::string_view text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    begins = c == '\n';
  }
  return out;
}

std::string OptionHead(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  std::string out = StrCat("\\fB", Roff(Join(names, ", ")), "\\fR");
  if (names.empty()) out = StrCat("\\fI", Roff(option.get_name(true)), "\\fR");
  if (!names.empty() && option.get_items_expected_max() > 0 && !option.get_type_name().empty())
    StrAppend(&out, " \\fI", Roff(option.get_type_name()), "\\fR");
  return out;
}

void AddOptions(const CLI::App& app, std::string& out) {
  std::string options;
  for (const CLI::Option* option : app.get_options()) {
    if (Hidden(*option)) continue;
    StrAppend(&options, ".TP\n", OptionHead(*option), "\n", Roff(option->get_description()));
    if (!option->get_default_str().empty())
      StrAppend(&options, " (default: ", Roff(option->get_default_str()), ")");
    if (!option->get_envname().empty())
      StrAppend(&options, "; the environment variable ", Roff(option->get_envname()));
    options += "\n";
  }
  if (!options.empty()) StrAppend(&out, ".SH OPTIONS\n", options);
}

// Appends a text whose blocks are separated by blank lines: the lines after "Examples:", or paragraphs under
// `heading`.
void AddBlocks(std::string_view text, std::string_view heading, bool filled, std::string& out) {
  std::string examples;
  bool any = false;
  size_t at = 0;
  while (at <= text.size()) {
    const size_t end = std::min(text.find("\n\n", at), text.size());
    const std::string_view block = text.substr(at, end - at);
    at = end + 2;
    const bool example = block.starts_with("Examples:") || block.starts_with("examples:");
    if (example) {
      StrAppend(&examples, ".SH EXAMPLES\n.nf\n", Roff(block.substr(block.find('\n') + 1)), "\n.fi\n");
    } else {
      if (!any) StrAppend(&out, ".SH ", heading, "\n");
      any = true;
      StrAppend(&out, filled ? "" : ".nf\n", Roff(block), filled ? "\n.PP\n" : "\n.fi\n.PP\n");
    }
  }
  out += examples;
}

}  // namespace

CLI::Validator OneOf(std::vector<std::string> words) {
  const std::string all = Join(words, ", ");
  CLI::Validator validator(
      [words, all](std::string& text) {
        if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
        return StrCat("invalid value \"", text, "\": expected ", all);
      },
      "", StrCat(kWordsBegin, all));
  return validator;
}

CLI::Validator NotNegative(uint64_t most) {
  return {[most](std::string& text) {
            uint64_t value = 0;
            const char* const end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            if (error == std::errc() && stop == end && value <= most) return std::string();
            return StrCat("invalid value \"", text, "\": expected a whole number from 0 to ", most);
          },
          ""};
}

std::vector<std::string> WordsOf(const CLI::Option& option) {
  // CLI11 cannot list the validators of an option, so read them by index until CLI11 throws.
  std::vector<std::string> out;
  auto& mutable_option = const_cast<CLI::Option&>(option);
  try {
    for (int i = 0;; ++i) {
      const std::string name = mutable_option.get_validator(i)->get_name();
      if (!name.starts_with(kWordsBegin)) continue;
      for (const std::string_view word : Split(std::string_view(name).substr(kWordsBegin.size()), ','))
        out.emplace_back(StripSpace(word));
    }
  } catch (const CLI::OptionNotFound&) {
  }
  return out;
}

std::vector<std::string> NamesOf(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* command : Verbs(app)) out.push_back(command->get_name());
  return out;
}

std::string BashCompletion(const CLI::App& app) {
  std::string out = "# bash completion of taut: source <(taut completion bash)\n_taut() {\n";
  out +=
      "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" "
      "command=\"${COMP_WORDS[1]}\" at=1\n"
      "  COMPREPLY=()\n"
      "  case \"$command\" in\n";
  for (const CLI::App* word : Verbs(app)) {
    if (!Verbs(*word).empty())
      StrAppend(&out, "    ", word->get_name(), ") command=\"$command ${COMP_WORDS[2]}\"; at=2 ;;\n");
  }
  StrAppend(&out, "  esac\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W \"",
            Join(NamesOf(app), " "), " --help --version\" -- \"$cur\"))\n    return\n  fi\n");
  out += "  if [ \"$COMP_CWORD\" -le \"$at\" ]; then\n    case \"${COMP_WORDS[1]}\" in\n";
  for (const CLI::App* word : Verbs(app)) {
    if (!Verbs(*word).empty())
      StrAppend(&out, "      ", word->get_name(), ") COMPREPLY=($(compgen -W \"", Join(NamesOf(*word), " "),
                "\" -- \"$cur\")) ;;\n");
  }
  out += "    esac\n    return\n  fi\n  case \"$command\" in\n";
  for (const Leaf& leaf : LeavesOf(app)) {
    StrAppend(&out, "    \"", leaf.name, "\")\n      case \"$prev\" in\n");
    for (const Taken& taken : TakenBy(*leaf.command)) {
      StrAppend(&out, "        ", Join(taken.names, "|"), ") COMPREPLY=($(compgen -W \"",
                taken.job ? std::string(kJobs) : Join(taken.words, " "), "\" -- \"$cur\")); return ;;\n");
    }
    const Taken first = Positional(*leaf.command);
    StrAppend(&out, "      esac\n      if [[ \"$cur\" == -* ]]; then\n        COMPREPLY=($(compgen -W \"",
              Join(OptionNames(*leaf.command), " "), "\" -- \"$cur\"))\n");
    const std::string words = first.job ? std::string(kJobs) : Join(first.words, " ");
    if (!words.empty())
      StrAppend(&out, "      else\n        COMPREPLY=($(compgen -W \"", words, "\" -- \"$cur\"))\n");
    out += "      fi ;;\n";
  }
  out += "  esac\n}\ncomplete -o bashdefault -o default -F _taut taut\n";
  return out;
}

std::string ZshCompletion(const CLI::App& app) {
  // Escapes text for a quoted shell string and for _describe.
  const auto quoted = [](std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (c == '\'') {
        out += "'\\''";
      } else if (c == ':') {
        out += "\\:";
      } else {
        out += c;
      }
    }
    return out;
  };
  const auto described = [&](const CLI::App& parent) {
    std::string out;
    for (const CLI::App* command : Verbs(parent))
      StrAppend(&out, "    '", command->get_name(), ":", quoted(FirstLine(*command)), "'\n");
    return out;
  };
  std::string out =
      StrCat("#compdef taut\n_taut() {\n  local -a commands\n  commands=(\n", described(app),
             "  )\n  if (( CURRENT == 2 )); then\n    _describe 'command' commands\n    return\n  fi\n"
             "  local command=$words[2]\n  case $command in\n");
  for (const CLI::App* word : Verbs(app)) {
    if (Verbs(*word).empty()) continue;
    StrAppend(&out, "  ", word->get_name(), ")\n  commands=(\n", described(*word),
              "  )\n  if (( CURRENT == 3 )); then\n    _describe 'command' commands\n    return\n  fi\n"
              "  command=\"$command $words[3]\" ;;\n");
  }
  out += "  esac\n  case $command in\n";
  for (const Leaf& leaf : LeavesOf(app)) {
    StrAppend(&out, "    \"", leaf.name, "\")\n      case $words[CURRENT-1] in\n");
    for (const Taken& taken : TakenBy(*leaf.command)) {
      StrAppend(&out, "        ", Join(taken.names, "|"), ") compadd -- ",
                taken.job ? std::string("${(f)\"") + kJobs + "\"}" : Join(taken.words, " "), "; return ;;\n");
    }
    const Taken first = Positional(*leaf.command);
    StrAppend(&out, "      esac\n      if [[ $words[CURRENT] == -* ]]; then\n        compadd -- ",
              Join(OptionNames(*leaf.command), " "), "\n      else\n        ");
    if (first.job) {
      StrAppend(&out, "compadd -- ${(f)\"", kJobs, "\"}");
    } else if (!first.words.empty()) {
      StrAppend(&out, "compadd -- ", Join(first.words, " "));
    } else {
      out += "_files";
    }
    out += "\n      fi ;;\n";
  }
  out += "  esac\n}\n[ \"${funcstack[1]}\" = _taut ] && _taut \"$@\" || compdef _taut taut\n";
  return out;
}

std::string FishCompletion(const CLI::App& app) {
  const auto quoted = [](std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
      if (c == '\'' || c == '\\') out += '\\';
      out += c;
    }
    return out + "'";
  };
  std::string out =
      "# fish completion of taut: taut completion fish > ~/.config/fish/completions/taut.fish\n";
  const auto line = [&](std::string_view condition, std::string_view rest) {
    StrAppend(&out, "complete -c taut -n ", quoted(condition), " ", rest, "\n");
  };
  for (const CLI::App* word : Verbs(app)) {
    line("__fish_use_subcommand", StrCat("-f -a ", word->get_name(), " -d ", quoted(FirstLine(*word))));
    if (Verbs(*word).empty()) continue;
    const std::string none_yet = StrCat("__fish_seen_subcommand_from ", word->get_name(),
                                        "; and not __fish_seen_subcommand_from ", Join(NamesOf(*word), " "));
    for (const CLI::App* inner : Verbs(*word))
      line(none_yet, StrCat("-f -a ", inner->get_name(), " -d ", quoted(FirstLine(*inner))));
  }
  for (const Leaf& leaf : LeavesOf(app)) {
    std::string condition;
    for (const std::string_view word : Split(std::string_view(leaf.name), ' '))
      StrAppend(&condition, condition.empty() ? "" : "; and ", "__fish_seen_subcommand_from ", word);
    for (const CLI::Option* option : leaf.command->get_options()) {
      if (Hidden(*option) || option->get_lnames().empty()) continue;
      std::string rest = StrCat("-l ", option->get_lnames().front());
      if (!option->get_snames().empty()) StrAppend(&rest, " -s ", option->get_snames().front());
      const std::vector<std::string> words = WordsOf(*option);
      if (option->get_items_expected_max() > 0) rest += " -r";
      if (!words.empty()) StrAppend(&rest, " -f -a ", quoted(Join(words, " ")));
      if (option->check_lname("job")) StrAppend(&rest, " -f -a ", quoted(StrCat("(", kJobNames, ")")));
      const std::string about = option->get_description();
      line(condition, StrCat(rest, " -d ", quoted(about.substr(0, about.find('\n')))));
    }
    const Taken first = Positional(*leaf.command);
    if (first.job) line(condition, StrCat("-f -a ", quoted(StrCat("(", kJobNames, ")"))));
    if (!first.words.empty()) line(condition, StrCat("-f -a ", quoted(Join(first.words, " "))));
  }
  return out;
}

std::string ManPage(const CLI::App& app, const ManPageOptions& options) {
  const std::string text = app.get_description();
  std::string upper = options.name;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  std::string first = text.substr(0, text.find('\n'));
  if (const size_t dot = first.find(". "); dot != std::string::npos) first.resize(dot);
  if (first.ends_with('.')) first.pop_back();
  std::string out =
      StrCat(".TH ", upper, " ", options.section, " \"\" \"", options.version, "\" Tautline\n.SH NAME\n",
             Roff(options.name), " \\- ", Roff(first), "\n.SH SYNOPSIS\n\\fB", Roff(options.command), "\\fR");
  if (!Verbs(app).empty()) out += " \\fICOMMAND\\fR";
  out += " [\\fIOPTIONS\\fR]";
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    StrAppend(&out, option->get_required() ? " \\fI" : " [\\fI", Roff(option->get_name(true)),
              option->get_required() ? "\\fR" : "\\fR]");
  }
  out += "\n";
  AddBlocks(text, "DESCRIPTION", true, out);
  if (const auto verbs = Verbs(app); !verbs.empty()) {
    out += ".SH COMMANDS\n";
    for (const CLI::App* verb : verbs) {
      const std::string about = verb->get_description();
      StrAppend(&out, ".TP\n\\fB", Roff(verb->get_name()), "\\fR\n",
                Roff(about.substr(0, about.find("\n\n"))), "\n");
    }
  }
  AddOptions(app, out);
  if (const std::string footer = app.get_footer(); !footer.empty()) {
    AddBlocks(footer, "NOTES", false, out);
  }
  if (!options.see_also.empty())
    StrAppend(&out, ".SH \"SEE ALSO\"\n", Roff(Join(options.see_also, ", ")), "\n");
  return out;
}

}  // namespace taut::tools
