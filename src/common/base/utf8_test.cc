#include "common/base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace taut {
namespace {

TEST(Utf8, GivesBytesAndCodeOfTheFirstCharacter) {
  EXPECT_EQ(DecodeUtf8("ab").bytes, 1U);
  EXPECT_EQ(DecodeUtf8("ab").code, 0x61U);
  EXPECT_EQ(DecodeUtf8("\u00e9!").bytes, 2U);
  EXPECT_EQ(DecodeUtf8("\u00e9!").code, 0xE9U);
  EXPECT_EQ(DecodeUtf8("\u2028").code, 0x2028U);
  EXPECT_EQ(DecodeUtf8("\U0001F600").bytes, 4U);
  EXPECT_EQ(DecodeUtf8("\U0001F600").code, 0x1F600U);
}

// Each code point except surrogates has exactly one valid sequence; truncated sequences are invalid.
TEST(Utf8, EachCodePointHasOneSequence) {
  size_t by_length[5] = {};
  std::string text(4, '\0');
  for (uint32_t bytes = 0x80'00'00; bytes <= 0xFF'FF'FF; ++bytes) {
    for (int i = 0; i < 3; ++i)
      text[static_cast<size_t>(i)] = static_cast<char>(bytes >> (16 - 8 * i) & 0xFF);
    text[3] = '\xBF';
    const Utf8Character c = DecodeUtf8(text);
    ++by_length[c.bytes];
    if (c.bytes < 2) continue;
    ASSERT_EQ(c.bytes, c.code < 0x800 ? 2U : c.code < 0x1'0000 ? 3U : 4U);
    ASSERT_TRUE(c.code >= 0x80 && c.code <= 0x10'FFFF && (c.code >> 11) != 0xD800 >> 11);
    ASSERT_EQ(DecodeUtf8(std::string_view(text).substr(0, c.bytes - 1)).bytes, 0U);
  }
  EXPECT_EQ(by_length[1], 0U);
  EXPECT_EQ(by_length[2], size_t{0x800 - 0x80} * 256);  // a two-byte character is valid before any third byte
  EXPECT_EQ(by_length[3], size_t{0x1'0000 - 0x800 - 0x800});
  EXPECT_EQ(by_length[4], size_t{0x10'0000} / 64);  // one of the 64 possible fourth bytes
}

}  // namespace
}  // namespace taut
