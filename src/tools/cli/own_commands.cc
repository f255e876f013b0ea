#include "tools/cli/own_commands.h"

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/did_you_mean.h"
#include "common/base/strings.h"
#include "common/base/version.h"
#include "tools/cli/cli.h"
#include "tools/cli/parse_help.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

struct HelpArgs {
  std::vector<std::string> about;
};

int RunHelp(const CommandTable& commands, HelpArgs args) {
  commands.Rename(args.about);
  CLI::App* at = &commands.program();
  std::string name = "taut";
  for (const std::string& word : args.about) {
    CLI::App* const next = FindCommand(*at, word);
    if (next == nullptr) {
      const std::vector<std::string> names = NamesOf(*at);
      const std::vector<std::string_view> views(names.begin(), names.end());
      PrintError(StrCat("unknown command \"", Printable(word), "\"", DidYouMean(word, views)));
      return kExitUsage;
    }
    at = next;
    StrAppend(&name, " ", word);
  }
  Print(at->get_formatter()->make_help(at, name, CLI::AppFormatMode::Normal));
  return kExitOk;
}

struct ManArgs {
  std::string folder;
};

bool WritePage(const ManArgs& args, const CLI::App& app, const ManPageOptions& options) {
  const std::string path = StrCat(args.folder, "/", options.name, ".1");
  const std::string text = ManPage(app, options);
  std::FILE* file = std::fopen(path.c_str(), "w");
  bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) written = std::fclose(file) == 0 && written;
  if (!written) PrintError(StrCat("cannot write ", path));
  return written;
}

// Writes the man pages of `app` and of all its subcommands. Returns false if a page cannot be written.
bool WritePages(const ManArgs& args, const CLI::App& app, const std::string& name, const std::string& command,
                std::vector<std::string> see_also) {
  const std::string parent = name + "(1)";
  for (const CLI::App* inner : app.get_subcommands(nullptr)) {
    if (inner->get_group().empty()) continue;
    const std::string inner_name = StrCat(name, "-", inner->get_name());
    if (!WritePages(args, *inner, inner_name, StrCat(command, " ", inner->get_name()), {parent}))
      return false;
    see_also.push_back(inner_name + "(1)");
  }
  return WritePage(args, app, {name, command, StrCat("taut ", kVersion), 1, std::move(see_also)});
}

struct CompletionArgs {
  std::string shell;
};

int RunCompletion(const CLI::App& program, const CompletionArgs& args) {
  Print(args.shell == "zsh"    ? ZshCompletion(program)
        : args.shell == "fish" ? FishCompletion(program)
                               : BashCompletion(program));
  return kExitOk;
}

struct NoArgs {};

}  // namespace

void AddOwnCommands(CommandTable& commands) {
  constexpr CommandGroup kHelp = CommandGroup::kHelp;
  CLI::App* const program = &commands.program();
  commands.Add<HelpArgs>(
      {"help", kHelp, "Prints the help of a command",
       "Prints the help of a command, as `taut COMMAND --help` does."},
      [](CLI::App& command, HelpArgs& args) {
        command.add_option("command", args.about, "the command; `get jobs` too")->type_name("COMMAND");
      },
      [&commands](const HelpArgs& args) { return RunHelp(commands, args); });
  commands.Add<NoArgs>(
      {"version", kHelp, "Prints the version", "Prints the version, as --version and -V do."},
      [](CLI::App& /*command*/, NoArgs& /*args*/) {},
      [](const NoArgs& /*args*/) {
        Print(StrCat("taut ", kVersion, "\n"));
        return kExitOk;
      });
  commands.Add<CompletionArgs>(
      {"completion", kHelp, "Prints the completion for a shell",
       "Prints the completion of taut for a shell.\n\nExamples:\n"
       "  source <(taut completion bash)\n"
       "  taut completion zsh > ~/.zfunc/_taut    (a folder of $fpath)\n"
       "  taut completion fish > ~/.config/fish/completions/taut.fish"},
      [](CLI::App& command, CompletionArgs& args) {
        command.add_option("shell", args.shell, "bash, zsh or fish")
            ->required()
            ->check(OneOf({"bash", "zsh", "fish"}));
      },
      [program](const CompletionArgs& args) { return RunCompletion(*program, args); });
  commands.Add<ManArgs>(
      {"man", kHelp, "", "Writes the man pages of taut and its commands into a folder."},
      [](CLI::App& command, ManArgs& args) {
        command.group("");  // the help omits this command, which only package builds need
        command.add_option("folder", args.folder, "existing folder")->required();
      },
      [program](const ManArgs& args) {
        return WritePages(args, *program, "taut", "taut", {}) ? kExitOk : kExitFailed;
      });
}

}  // namespace taut::tools
