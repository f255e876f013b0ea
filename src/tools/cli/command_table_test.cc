// Tests of the table of commands and of the words that users type, on a small synthetic command line.
#include "tools/cli/command_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/cli/parse_help.h"
#include "tools/cli/typed_words.h"

namespace taut::tools {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

struct MadeArgs {
  std::string job, mode = "auto";
  bool all = false;
};

struct MadeProgram {
  MadeProgram() {
    commands.AddWord({"get", CommandGroup::kAsk, "Gets things", "Gets things."});
    const auto options = [](CLI::App& app, MadeArgs& args) {
      app.add_option("job", args.job, "name of the job");
      app.add_option("-m,--mode", args.mode, "the mode")->check(OneOf({"auto", "off"}));
      app.add_flag("--all", args.all, "all of them");
    };
    const auto run = [this](const MadeArgs& args) {
      ran = args;
      return 7;
    };
    commands.Add<MadeArgs>({"get jobs",
                            CommandGroup::kAsk,
                            "Jobs",
                            "Lists jobs.",
                            {"jobs", "list jobs"},
                            {{"ls", "get jobs --all"}}},
                           options, run);
    commands.Add<MadeArgs>({"replay", CommandGroup::kLab, "Replays", "Replays a trace.", {"get jobs again"}},
                           options, run);
  }

  // Returns the words after renames and moves.
  std::vector<std::string> First(std::vector<std::string> words) {
    words.insert(words.begin(), "taut");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return CommandFirst(commands, static_cast<int>(argv.size()), argv.data(), renamed);
  }

  CLI::App app{"Made.", "taut"};
  CommandTable commands{app};
  std::optional<MadeArgs> ran;
  std::string renamed;
};

TEST(CommandTable, RunsTheParsedCommandWithItsArguments) {
  MadeProgram program;
  EXPECT_EQ(program.commands.Run(), std::nullopt) << "nothing was parsed";
  program.app.parse("get jobs web --mode off --all");
  EXPECT_EQ(program.commands.Run(), 7);
  ASSERT_TRUE(program.ran.has_value());
  EXPECT_EQ(program.ran->job, "web");
  EXPECT_EQ(program.ran->mode, "off");
  EXPECT_TRUE(program.ran->all);
}

TEST(CommandTable, CommandsKeepTheirOwnArguments) {
  MadeProgram program;
  program.app.parse("replay");
  EXPECT_EQ(program.commands.Run(), 7);
  EXPECT_EQ(program.ran->mode, "auto");
  EXPECT_THROW(program.app.parse("get"), CLI::RequiredError) << "the first word alone is no command";
  EXPECT_THROW(program.app.parse("get jobs --mode on"), CLI::ValidationError);
}

TEST(CommandTable, FindsOnlyDirectSubcommands) {
  MadeProgram program;
  ASSERT_NE(FindCommand(program.app, "get"), nullptr);
  EXPECT_EQ(FindCommand(program.app, "jobs"), nullptr);
  EXPECT_EQ(FindCommand(program.app, "ge"), nullptr);
  EXPECT_NE(FindCommand(*FindCommand(program.app, "get"), "jobs"), nullptr);
  EXPECT_THAT(NamesOf(program.app), ElementsAre("get", "replay"));
}

TEST(CommandTable, OldNamesWarnAndOtherNamesDoNot) {
  MadeProgram program;
  const auto renamed = [&](std::vector<std::string> words) {
    program.renamed = program.commands.Rename(words);
    return words;
  };
  EXPECT_THAT(renamed({"jobs", "--all"}), ElementsAre("get", "jobs", "--all"));
  EXPECT_EQ(program.renamed, "`taut jobs` is now `taut get jobs`; the next release removes the old name");
  EXPECT_THAT(renamed({"list", "jobs"}), ElementsAre("get", "jobs"));
  EXPECT_THAT(renamed({"ls", "web"}), ElementsAre("get", "jobs", "--all", "web"));
  EXPECT_EQ(program.renamed, "");
  EXPECT_THAT(renamed({"get", "jobs", "again"}), ElementsAre("replay")) << "the longest name counts";
  EXPECT_THAT(program.renamed, HasSubstr("is now `taut replay`"));
  EXPECT_THAT(renamed({"get", "jobs"}), ElementsAre("get", "jobs"));
  EXPECT_EQ(program.renamed, "");
  EXPECT_THAT(renamed({"unknown", "jobs"}), ElementsAre("unknown", "jobs"));
  EXPECT_TRUE(renamed({}).empty());
}

TEST(CommandTable, TheShortHelpHasCommandsOfOneWordByHeading) {
  MadeProgram program;
  const std::string help = program.commands.ShortHelp();
  EXPECT_THAT(help, AllOf(HasSubstr("Ask a running tautd:\n  get\n"),
                          HasSubstr("Replay recorded usage and simulate a cell:\n  replay\n"),
                          Not(HasSubstr("jobs"))));
  EXPECT_LT(help.find("Ask a running"), help.find("Replay recorded"));
  EXPECT_STREQ(Heading(CommandGroup::kHelp), "Help");
}

TEST(TypedWords, OptionsBeforeTheCommandMoveBehindIt) {
  MadeProgram program;
  EXPECT_THAT(program.First({"--mode", "off", "get", "jobs", "web"}),
              ElementsAre("get", "jobs", "--mode", "off", "web"));
  EXPECT_THAT(program.First({"--mode=off", "jobs"}), ElementsAre("get", "jobs", "--mode=off"));
  EXPECT_THAT(program.renamed, HasSubstr("`taut jobs` is now"));
  EXPECT_THAT(program.First({"get", "--all", "jobs"}), ElementsAre("get", "jobs", "--all"))
      << "a flag has no value";
  EXPECT_THAT(program.First({"-m", "off", "replay"}), ElementsAre("replay", "-m", "off"));
  EXPECT_THAT(program.First({"--mode", "off"}), ElementsAre("--mode", "off")) << "no command follows";
  EXPECT_THAT(program.First({"--mode"}), ElementsAre("--mode"));
  EXPECT_THAT(program.First({"--version", "get"}), ElementsAre("--version", "get"));
  EXPECT_THAT(program.First({"--help", "get", "jobs"}), ElementsAre("get", "jobs", "--help"));
  EXPECT_THAT(program.First({"--mode", "off", "nonsense"}), ElementsAre("--mode", "off", "nonsense"));
}

TEST(TypedWords, TheCommandLineIsAsTyped) {
  std::string name = "/usr/bin/taut", word = "get";
  char* argv[] = {name.data(), word.data()};
  EXPECT_EQ(CommandLine(2, argv), "taut get");
  EXPECT_EQ(CommandLine(0, argv), "");
}

TEST(TypedWords, TheNameIsThatOfKnownWords) {
  MadeProgram program;
  EXPECT_EQ(NameOfCommand(program.app, {"get", "jobs", "web"}), "get jobs ");
  EXPECT_EQ(NameOfCommand(program.app, {"get", "jbos"}), "get ");
  EXPECT_EQ(NameOfCommand(program.app, {"nonsense", "get"}), "");
}

TEST(TypedWords, MistypedWordsHaveASuggestion) {
  MadeProgram program;
  const auto suggested = [&](const std::vector<std::string>& words) {
    return Suggestion(program.app, words);
  };
  EXPECT_EQ(suggested({"repaly"}), "unknown command \"repaly\"; did you mean \"replay\"?");
  EXPECT_EQ(suggested({"get", "jbos"}), "unknown command \"jbos\"; did you mean \"jobs\"?");
  EXPECT_EQ(suggested({"get", "jobs", "--mdoe=off"}), "unknown option \"--mdoe\"; did you mean \"--mode\"?");
  EXPECT_EQ(suggested({"xyzzyxyzzy"}), "unknown command \"xyzzyxyzzy\"");
  EXPECT_EQ(suggested({"get"}), "`taut get` requires one of: jobs");
  EXPECT_EQ(suggested({"get", "jobs", "--mode", "on"}), "") << "each word is known";
  EXPECT_EQ(suggested({"feed"}), "\"feed\" is a command of taut-dev: run `taut-dev feed`");
}

TEST(ParseHelp, AValidatorListsItsWords) {
  CLI::App app;
  std::string mode;
  CLI::Option* option = app.add_option("--mode", mode)->check(OneOf({"on", "off"}));
  EXPECT_THAT(WordsOf(*option), ElementsAre("on", "off"));
  EXPECT_TRUE(WordsOf(*app.add_option("--any", mode)->check(CLI::Range(1, 2))).empty());
  try {
    app.parse("--mode offf");
    ADD_FAILURE();
  } catch (const CLI::ValidationError& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("--mode"), HasSubstr("invalid value \"offf\": expected on, off")));
  }
}

TEST(ParseHelp, CompletionsHaveCommandsOptionsAndValues) {
  MadeProgram program;
  const std::string bash = BashCompletion(program.app), zsh = ZshCompletion(program.app),
                    fish = FishCompletion(program.app);
  EXPECT_THAT(bash, AllOf(HasSubstr("compgen -W \"get replay --help --version\""),
                          HasSubstr("get) COMPREPLY=($(compgen -W \"jobs\""),
                          HasSubstr("--mode) COMPREPLY=($(compgen -W \"auto off\""),
                          HasSubstr("$(taut get jobs --names")));
  EXPECT_THAT(zsh, AllOf(testing::StartsWith("#compdef taut\n"), HasSubstr("'get:Gets things.'"),
                         HasSubstr("--mode) compadd -- auto off;")));
  EXPECT_THAT(fish, AllOf(HasSubstr("-f -a get -d 'Gets things.'"),
                          HasSubstr("-l mode -s m -r -f -a 'auto off' -d 'the mode'"),
                          HasSubstr("-l all -d 'all of them'")));
}

TEST(ParseHelp, CompletionsQuoteDescriptions) {
  CLI::App app{"Made.", "taut"};
  app.add_subcommand("it", "It's a: 'word'.");
  app.add_subcommand("hidden", "Not shown.")->group("");
  EXPECT_THAT(ZshCompletion(app), HasSubstr("'it:It'\\''s a\\: '\\''word'\\''.'"));
  EXPECT_THAT(FishCompletion(app), HasSubstr("-d 'It\\'s a: \\'word\\'.'"));
  EXPECT_THAT(BashCompletion(app) + ZshCompletion(app) + FishCompletion(app), Not(HasSubstr("hidden")));
}

TEST(ParseHelp, AManPageHasItsSectionsAndEscapes) {
  CLI::App app{"Gets things. And more.\n.dot\n\nExamples:\n  taut get 'a\\b' --all", "get"};
  std::string job, server = "http://x";
  bool all = false;
  app.add_option("job", job, "the job")->required();
  app.add_option("--server", server, "URL")->envname("TAUT_SERVER")->capture_default_str()->type_name("URL");
  app.add_flag("--all", all, "all-of-them");
  app.footer("Exit codes: 0");
  const std::string page = ManPage(app, {.name = "taut-get",
                                         .command = "taut get",
                                         .version = "taut 1",
                                         .section = 1,
                                         .see_also = {"taut(1)"}});
  EXPECT_THAT(page, testing::StartsWith(
                        ".TH TAUT-GET 1 \"\" \"taut 1\" Tautline\n.SH NAME\ntaut\\-get \\- Gets things\n"));
  EXPECT_THAT(page, HasSubstr("\\fBtaut get\\fR [\\fIOPTIONS\\fR] \\fIjob\\fR\n"));
  EXPECT_THAT(page, HasSubstr("\n\\&.dot\n")) << "a line with a dot is no request";
  EXPECT_THAT(page, HasSubstr(".SH EXAMPLES\n.nf\n  taut get 'a\\eb' \\-\\-all\n.fi\n"));
  EXPECT_THAT(
      page,
      HasSubstr(
          "\\fB\\-\\-server\\fR \\fIURL\\fR\nURL (default: http://x); the environment variable TAUT_SERVER\n"));
  EXPECT_THAT(page, AllOf(HasSubstr("\\fB\\-\\-all\\fR\nall\\-of\\-them\n"), HasSubstr(".SH NOTES\n"),
                          HasSubstr(".SH \"SEE ALSO\"\ntaut(1)\n")));
}

}  // namespace
}  // namespace taut::tools
