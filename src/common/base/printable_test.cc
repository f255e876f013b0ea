#include "common/base/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace taut {
namespace {

TEST(IsPrintableUtf8, TakesTextAndNothingElse) {
  EXPECT_TRUE(IsPrintableUtf8("shop/web"));
  EXPECT_TRUE(IsPrintableUtf8("k\xC3\xB6ln/\xE6\x97\xA5/\xF0\x9F\x9A\x80"));
  for (const std::string& bad :
       {std::string("a\nb"), std::string("a\0b", 3), std::string("\x7F"), std::string("\xC3"),
        std::string("\xC0\xAF"), std::string("\xE0\x80\xAF"), std::string("\xED\xA0\x80"),
        std::string("\xF4\x90\x80\x80"), std::string("\xC2\x85"), std::string("\xFF"), std::string("\x80")}) {
    EXPECT_FALSE(IsPrintableUtf8(bad)) << bad;
  }
}

// Characters that reverse the direction of text or break lines can make a name look like another name.
TEST(IsPrintableUtf8, RefusesWhatChangesTheDirection) {
  for (const char* text : {"pay\u202egnp.exe", "a\u2066b", "\u200f", "line\u2028break"}) {
    EXPECT_FALSE(IsPrintableUtf8(text)) << Printable(text);
  }
  EXPECT_TRUE(IsPrintableUtf8("\u05d0\u05d1")) << "letters of any direction";
}

TEST(IsPrintableUtf8, TakesAndRefusesAtTheEdges) {
  for (const char* good : {"", "shop/web", "k\xC3\xB6ln/\xE6\x97\xA5/\xF0\x9F\x9A\x80", "\xC2\xA0"}) {
    EXPECT_TRUE(IsPrintableUtf8(good)) << good;
  }
  for (const char* bad : {"\n", "a\x7F", "\xC2\x85", "\xC3", "\xE6\x97", "\xFF", "\x80", "\xC0\xAF",
                          "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80"}) {
    EXPECT_FALSE(IsPrintableUtf8(bad)) << bad;
  }
}

TEST(Printable, EscapesWhatATerminalMayNotBeGiven) {
  EXPECT_EQ(Printable("shop/k\xC3\xB6ln \xE6\x97\xA5"), "shop/k\xC3\xB6ln \xE6\x97\xA5");
  EXPECT_EQ(Printable("a\x1B[31mb\n\x7F"), "a\\x1b[31mb\\x0a\\x7f");
  EXPECT_EQ(Printable("two\nlines\t", /*keep_newlines=*/true), "two\nlines\\x09");
  EXPECT_EQ(Printable("\xC2\x85"), "\\u{0085}") << "a C1 control";
  EXPECT_EQ(Printable("pay\xE2\x80\xAEgnp.exe"), "pay\\u{202e}gnp.exe") << "text direction reversed";
  EXPECT_EQ(Printable("\xE2\x81\xA6x\xE2\x81\xA9\xD8\x9C"), "\\u{2066}x\\u{2069}\\u{061c}");
  EXPECT_EQ(Printable("a\xFF\xE6\x97"), "a\\xff\\xe6\\x97") << "not UTF-8";
  for (const char* text : {"", "x", "\x1B", "\xE2\x80\xAE", "\xFF\xFE"}) {
    EXPECT_TRUE(IsPrintableUtf8(Printable(text))) << text;
  }
}

}  // namespace
}  // namespace taut
