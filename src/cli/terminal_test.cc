#include "cli/terminal.h"

#include <gtest/gtest.h>

namespace taut {
namespace {

TEST(Terminal, ColoursOnlyWhereTheyAreWelcome) {
  EXPECT_TRUE(WantsColour(true, nullptr, "xterm-256color"));
  EXPECT_TRUE(WantsColour(true, "", "xterm"));
  EXPECT_FALSE(WantsColour(true, "1", "xterm"));
  EXPECT_FALSE(WantsColour(true, nullptr, "dumb"));
  EXPECT_FALSE(WantsColour(true, nullptr, nullptr));
  EXPECT_FALSE(WantsColour(false, nullptr, "xterm"));
}

}  // namespace
}  // namespace taut
