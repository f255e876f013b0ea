#include "base/printable.h"

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

TEST(IsPrintableUtf8, TakesAndRefusesAtTheEdges) {
  for (const char* good : {"", "shop/web", "k\xC3\xB6ln/\xE6\x97\xA5/\xF0\x9F\x9A\x80", "\xC2\xA0"}) {
    EXPECT_TRUE(IsPrintableUtf8(good)) << good;
  }
  for (const char* bad : {"\n", "a\x7F", "\xC2\x85", "\xC3", "\xE6\x97", "\xFF", "\x80", "\xC0\xAF",
                          "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80"}) {
    EXPECT_FALSE(IsPrintableUtf8(bad)) << bad;
  }
}

}  // namespace
}  // namespace taut
