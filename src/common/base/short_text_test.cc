#include "common/base/short_text.h"

#include "gtest/gtest.h"

namespace taut {
namespace {

TEST(ShortText, OfLongTextTheFirstCharactersAreShown) {
  EXPECT_EQ(ShortText("shop"), "shop");
  EXPECT_EQ(ShortText(std::string(128, 'a')), std::string(128, 'a'));
  EXPECT_EQ(ShortText(std::string(5000, 'a')), std::string(128, 'a') + "...");
}

TEST(ShortText, CutsNoCharacter) {
  // The 128th byte is the first byte of a two-byte character.
  EXPECT_EQ(ShortText(std::string(127, 'a') + "\xC3\xA9" + "b"), std::string(127, 'a') + "...");
  EXPECT_EQ(ShortText(std::string(126, 'a') + "\xC3\xA9" + "b"), std::string(126, 'a') + "\xC3\xA9...");
}

TEST(ShortText, EscapesWhatATerminalWouldRun) { EXPECT_EQ(ShortText("a\033[2J"), "a\\x1b[2J"); }

}  // namespace
}  // namespace taut
