#include "common/base/row_named.h"

#include <gmock/gmock.h>

#include <vector>

namespace taut {
namespace {

struct Colour {
  std::string_view name;
  int hue;
};
constexpr Colour kColours[] = {{"red", 0}, {"green", 120}, {"blue", 240}};

TEST(RowNamed, FindsARowByItsName) {
  const auto green = RowNamed("colour", kColours, "green");
  ASSERT_TRUE(green.ok());
  EXPECT_EQ(*green, &kColours[1]);
}

TEST(RowNamed, NamesWhatIsAllowed) {
  EXPECT_EQ(RowNamed("colour", kColours, "Red").status(),
            absl::InvalidArgumentError("unknown colour \"Red\": expected red, green or blue"));
}

TEST(OneOf, HasAnOrBeforeTheLast) {
  EXPECT_EQ(OneOf(std::vector<std::string>{}), "");
  EXPECT_EQ(OneOf(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(OneOf(std::vector<int>{1, 2}), "1 or 2");
  EXPECT_EQ(OneOf(std::vector<std::string>{"a", "b", "c", "d"}), "a, b, c or d");
}

}  // namespace
}  // namespace taut
