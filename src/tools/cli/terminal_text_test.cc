// Tests of widths, cuts, wrapped lines and tables, and of messages to standard error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "common/base/strings.h"
#include "tools/cli/cli.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(TerminalText, WidthCountsCharactersAndNoBytes) {
  EXPECT_EQ(DisplayWidth(""), 0U);
  EXPECT_EQ(DisplayWidth("größe…"), 6U);
  EXPECT_TRUE(BeginsCharacter('a'));
  EXPECT_TRUE(BeginsCharacter('\xc3'));
  EXPECT_FALSE(BeginsCharacter('\xb6'));
}

TEST(TerminalText, CutsKeepWholeCharacters) {
  EXPECT_EQ(Shortened("größe", 5), "größe");
  EXPECT_EQ(Shortened("größer", 5), "größ…");
  EXPECT_EQ(Shortened("größer", 1), "…");
  EXPECT_EQ(ShortenedName("größe", 5), "größe");
  EXPECT_EQ(ShortenedName("north/größe", 6), "…größe");
  EXPECT_EQ(ShortenedName("north/größe", 4), "…öße");
  EXPECT_EQ(ShortenedName("north", 1), "…");
  for (size_t width = 1; width < 12; ++width) {
    EXPECT_EQ(DisplayWidth(Shortened("äöüäöüäöüäöü", width)), width);
    EXPECT_EQ(DisplayWidth(ShortenedName("äöüäöüäöüäöü", width)), width);
  }
}

TEST(TerminalText, WrappedLinesFitWithTheirIndent) {
  std::string text;
  for (int i = 0; i < 80; ++i) StrAppend(&text, i == 0 ? "" : " ", "wörter", i);
  std::string out = Wrapped(text, "    ");
  ASSERT_EQ(out.back(), '\n');
  out.pop_back();
  std::string joined;
  for (const std::string_view line : Split(out, '\n')) {
    EXPECT_THAT(std::string(line), StartsWith("    w"));
    EXPECT_LE(DisplayWidth(line), kTextColumns);
    EXPECT_NE(line.back(), ' ');
    StrAppend(&joined, joined.empty() ? "" : " ", line.substr(4));
  }
  EXPECT_EQ(joined, text) << "no word is lost";
  EXPECT_EQ(Wrapped("", "  "), "");
  EXPECT_EQ(Wrapped(std::string(98, 'a') + " b", ""), std::string(98, 'a') + " b\n") << "exactly 100 columns";
  EXPECT_EQ(Wrapped(std::string(99, 'a') + " b", ""), std::string(99, 'a') + "\nb\n");
  EXPECT_EQ(Wrapped(std::string(150, 'a'), ">"), ">" + std::string(150, 'a') + "\n") << "a word stays whole";
}

TEST(TerminalText, AFittedTableHasTheWidestNamesThatFit) {
  std::vector<size_t> tried;
  const auto table = [&](size_t width) {
    tried.push_back(width);
    return std::string(3 * width, 'x') + "\nshort\n";
  };
  EXPECT_EQ(FittedTable(40, 10, table), std::string(99, 'x') + "\nshort\n");
  EXPECT_EQ(tried.back(), 33U);
  const auto wide = [](size_t width) { return std::string(1000 + width, 'x'); };
  EXPECT_EQ(FittedTable(20, 10, wide).size(), 1010U) << "no name is shorter than the least";
  KeepNamesWhole(true);
  FittedTable(40, 10, [&](size_t width) {
    EXPECT_GT(width, 1'000'000U);
    return std::string();
  });
  KeepNamesWhole(false);
  EXPECT_FALSE(KeepsNamesWhole());
}

TEST(TerminalText, ColumnsMoveTogetherWhereTheTableIsWide) {
  const auto table = [](size_t width) {
    TextTable out({"a", "b", "c"});
    out.Add({std::string(width, 'x'), "1", "2"});
    return out.Render();
  };
  EXPECT_THAT(table(94), HasSubstr("x  1  2\n")) << "100 columns with two blanks";
  EXPECT_THAT(table(95), HasSubstr("x 1 2\n"));
}

TEST(TerminalText, RowsMayBeShortAndLinesHaveNoTrailingBlanks) {
  TextTable out({"name", "first\nsecond", ""});
  out.Add({"a"});
  out.Add({"b", "12345678", ""});
  EXPECT_EQ(out.Render(), "         first\nname    second\na\nb     12345678\n");
  EXPECT_EQ(TextTable({"only"}).Render(), "only\n");
}

TEST(TerminalText, PercentsHaveTheirDecimals) {
  EXPECT_EQ(Percent(0.1234), "12.3 %");
  EXPECT_EQ(Percent(0.1234, 0), "12 %");
  EXPECT_EQ(Percent(0.00123, 2), "0.12 %");
  EXPECT_EQ(Percent(-0.5, 0), "-50 %");
}

TEST(TerminalText, MessagesNameTheProgramAndAreEscaped) {
  const auto captured = [](const auto& print) {
    testing::internal::CaptureStderr();
    print();
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(captured([] { Warn("two\nlines \x1b[2J \xff"); }), "taut: two\nlines \\x1b[2J \\xff\n");
  NameProgram("taut-dev");
  EXPECT_EQ(captured([] { Warn("x"); }), "taut-dev: x\n");
  NameProgram("taut");
  const auto code = [&](const absl::Status& status) {
    int out = -1;
    EXPECT_THAT(captured([&] { out = Fail(status); }), HasSubstr("taut: why"));
    return out;
  };
  EXPECT_EQ(code(absl::InvalidArgumentError("why")), kExitUsage);
  EXPECT_EQ(code(absl::CancelledError("why")), kExitPartial);
  EXPECT_EQ(code(absl::DataLossError("why")), kExitFailed);
}

TEST(TerminalText, ALineIsWrappedOnATerminalAndWholeInAPipe) {
  const std::string text = StrCat("a ", std::string(60, 'x'), " ", std::string(60, 'y'));
  EXPECT_EQ(WrappedLine(text, "  "),
            StrCat("  a ", std::string(60, 'x'), "\n  ", std::string(60, 'y'), "\n"));
  EXPECT_EQ(WrappedLine("", "  "), "");
  const auto line = [](size_t width) {
    return StrCat("job ", ShortenedName(std::string(200, 'x'), width), " 3");
  };
  EXPECT_EQ(FittedLine(line), StrCat("job …", std::string(93, 'x'), " 3\n"));
  KeepNamesWhole(true);
  EXPECT_EQ(WrappedLine(text, "  "), StrCat("  ", text, "\n"));
  EXPECT_EQ(WrappedLine("", "  "), "");
  EXPECT_EQ(FittedLine(line), StrCat("job ", std::string(200, 'x'), " 3\n"));
  KeepNamesWhole(false);
}

}  // namespace
}  // namespace taut::tools
