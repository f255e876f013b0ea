#include "common/base/boxed.h"

#include <array>
#include <string>
#include <type_traits>

#include "gtest/gtest.h"

namespace taut {
namespace {

using Text = Boxed<std::string>;

TEST(Boxed, IsAPointerWide) { EXPECT_EQ(sizeof(Boxed<std::array<char, 500>>), sizeof(void*)); }

TEST(Boxed, CopiesItsValue) {
  Text a(std::string("one"));
  Text b = a;
  *b += " more";
  EXPECT_EQ(*a, "one");
  EXPECT_EQ(*b, "one more");
  a = b;
  b.reset();
  EXPECT_FALSE(b.has_value());
  EXPECT_EQ(*a, "one more");
  a = b;
  EXPECT_FALSE(a.has_value());
}

TEST(Boxed, EmplaceBeginsANewValue) {
  Text a(std::string("one"));
  EXPECT_EQ(a.emplace(), "");
  const Text moved = std::move(a);
  EXPECT_TRUE(moved.has_value());
  EXPECT_EQ(moved->size(), 0U);
  static_assert(std::is_same_v<decltype(*moved), const std::string&>);
}

}  // namespace
}  // namespace taut
