#include "tools/cli/own_verbs.h"

#include <cstdio>
#include <memory>
#include <sstream>
#include <string_view>

#include "common/base/did_you_mean.h"
#include "common/base/strings.h"
#include "common/base/version.h"
#include "tools/cli/cli.h"
#include "tools/cli/parse_help.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

// `taut --help` has a line per command; `taut COMMAND --help` all of its help.
class ShortVerbs final : public CLI::Formatter {
 public:
  std::string make_subcommand(const CLI::App* verb) const override {
    const std::string all = verb->get_description();
    std::stringstream out;
    CLI::detail::format_help(out, verb->get_name(), all.substr(0, all.find("\n\n")), 14);
    return out.str();
  }
};

struct VerbGroup {
  const char* name;
  std::vector<std::string_view> verbs;
};
const std::vector<VerbGroup>& VerbGroups() {
  static const std::vector<VerbGroup> kGroups = {
      {"Ask a running tautd, and copy its store",
       {"jobs", "job", "explain", "set", "decisions", "export", "top", "status", "events", "promises",
        "agents", "machines", "capacity", "mapping", "confirm-clock", "backup", "restore"}},
      {"Money and quota of a running tautd", {"costs", "bills", "budget", "requests"}},
      {"Replay recorded usage",
       {"fetch", "replay", "tune", "analyze", "overcommit", "generate", "import", "list"}},
      {"Simulate a cell and its economy",
       {"compact", "simulate", "bill", "economy", "quota", "admit", "actuary"}},
      {"Help", {"help", "version", "completion"}}};
  return kGroups;
}

}  // namespace

OwnVerbs::OwnVerbs(CLI::App& program) : program_(program) {
  help_ = program.add_subcommand("help", "Prints the help of a command, as `taut COMMAND --help` does.");
  help_->add_option("command", about_, "the command; `mapping test` too")->type_name("COMMAND");
  version_ = program.add_subcommand("version", "Prints the version, as --version and -V do.");
  completion_ = program.add_subcommand("completion",
                                       "Prints the completion of taut for a shell.\n\nExamples:\n"
                                       "  source <(taut completion bash)\n"
                                       "  taut completion zsh > ~/.zfunc/_taut    (a folder of $fpath)");
  completion_->add_option("shell", shell_, "bash or zsh")->required()->check(OneOf({"bash", "zsh"}));
  man_ = program.add_subcommand("man", "Writes the man pages of taut and its commands into a folder.");
  man_->group("");  // for packages
  man_->add_option("folder", folder_, "existing folder")->required();
}

std::optional<int> OwnVerbs::Run() const {
  if (help_->parsed()) return Help();
  if (version_->parsed()) Print(StrCat("taut ", kVersion, "\n"));
  if (completion_->parsed()) Print(shell_ == "zsh" ? ZshCompletion(program_) : BashCompletion(program_));
  if (man_->parsed()) return WriteMan();
  return version_->parsed() || completion_->parsed() ? std::optional(kExitOk) : std::nullopt;
}

int OwnVerbs::Help() const {
  CLI::App* at = &program_;
  std::string name = "taut";
  for (const std::string& word : about_) {
    std::vector<std::string> names;
    CLI::App* next = nullptr;
    for (CLI::App* verb : at->get_subcommands(nullptr)) {
      names.push_back(verb->get_name());
      if (verb->get_name() == word) next = verb;
    }
    if (next == nullptr) {
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

bool OwnVerbs::WritePage(const CLI::App& app, const std::string& name, const std::string& command,
                         std::vector<std::string> see_also) const {
  const std::string path = StrCat(folder_, "/", name, ".1");
  const std::string text = ManPage(app, {name, command, StrCat("taut ", kVersion), 1, std::move(see_also)});
  std::FILE* file = std::fopen(path.c_str(), "w");
  bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) written = std::fclose(file) == 0 && written;
  if (!written) PrintError(StrCat("cannot write ", path));
  return written;
}

int OwnVerbs::WriteMan() const {
  std::vector<std::string> pages;
  for (const CLI::App* verb : program_.get_subcommands(nullptr)) {
    if (verb->get_group().empty()) continue;
    const std::string name = "taut-" + verb->get_name();
    if (!WritePage(*verb, name, "taut " + verb->get_name(), {"taut(1)"})) return kExitFailed;
    pages.push_back(name + "(1)");
  }
  return WritePage(program_, "taut", "taut", pages) ? kExitOk : kExitFailed;
}

void GroupVerbs(CLI::App& program) {
  for (const VerbGroup& group : VerbGroups()) {
    for (const std::string_view name : group.verbs)
      program.get_subcommand(std::string(name))->group(group.name);
  }
  program.formatter(std::make_shared<ShortVerbs>());
}

std::string ShortHelp() {
  std::string out =
      "Recommends CPU and memory limits from measured usage, and replays recorded usage to evaluate "
      "them.\n\n";
  for (const VerbGroup& group : VerbGroups()) {
    std::string verbs;
    for (const std::string_view verb : group.verbs) StrAppend(&verbs, verbs.empty() ? "" : " ", verb);
    StrAppend(&out, group.name, ":\n", Wrapped(verbs, "  "));
  }
  return out +
         "\n`taut --help` has a line for each command, `taut COMMAND --help` its options and examples.\n";
}

}  // namespace taut::tools
