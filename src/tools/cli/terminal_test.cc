#include "tools/cli/terminal.h"

#include <gtest/gtest.h>

namespace taut::tools {
namespace {

TEST(Terminal, ColoursOnlyWhereTheyAreWelcome) {
  EXPECT_TRUE(WantsColour(true, nullptr, "xterm-256color"));
  EXPECT_TRUE(WantsColour(true, "", "xterm"));
  EXPECT_FALSE(WantsColour(true, "1", "xterm"));
  EXPECT_FALSE(WantsColour(true, nullptr, "dumb"));
  EXPECT_FALSE(WantsColour(true, nullptr, nullptr));
  EXPECT_FALSE(WantsColour(false, nullptr, "xterm"));
}

TEST(Terminal, TablesEscapeWhatATerminalMayNotBeGiven) {
  TextTable table({"job\x1b[2J", "two\nlines"});
  table.Add({"shop\x1b]0;x\x07/web", "a\nb"});
  table.Add({"größe", Printable("\x1b[1m")});
  EXPECT_EQ(table.Render(),
            "                          two\n"
            "job\\x1b[2J              lines\n"
            "shop\\x1b]0;x\\x07/web   a\\x0ab\n"
            "größe                 \\x1b[1m\n");
}

}  // namespace
}  // namespace taut::tools
