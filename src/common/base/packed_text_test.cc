#include "common/base/packed_text.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace taut {
namespace {

TEST(PackedText, IsWhatWasSet) {
  PackedText text;
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(text, "");
  EXPECT_EQ(text.heap_bytes(), 0U);
  text = "shop/deployment/web";
  EXPECT_EQ(text, "shop/deployment/web");
  EXPECT_EQ(text.heap_bytes(), 4 + text.view().size());
  text = std::string_view("a\0b", 3);
  EXPECT_EQ(text.view(), std::string_view("a\0b", 3));
  text = "";
  EXPECT_TRUE(text.empty());
}

TEST(PackedText, CanBeSetToAPieceOfItselfAndMoved) {
  PackedText text(std::string(300, 'x') + "y");
  text = text.view().substr(299);
  EXPECT_EQ(text, "xy");
  const PackedText moved = std::move(text);
  EXPECT_EQ(moved, "xy");
  EXPECT_TRUE(text.empty());  // NOLINT: a moved-from text is empty
  EXPECT_EQ(sizeof(PackedText), sizeof(void*));
}

}  // namespace
}  // namespace taut
