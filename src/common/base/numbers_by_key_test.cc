#include "common/base/numbers_by_key.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace taut {
namespace {

struct NameOf {
  const std::vector<std::string>* names;
  std::string_view operator()(uint32_t number) const { return (*names)[number]; }
};

TEST(NumbersByKey, FindsNumbersByTheNamesOfTheirThings) {
  std::vector<std::string> names;
  NumbersByKey<NameOf> numbers(NameOf{&names});
  for (uint32_t i = 0; i < 1000; ++i) {
    names.push_back("job-" + std::to_string(i));
    numbers.Insert(i);
  }
  for (uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(numbers.Find("job-" + std::to_string(i)), i);
  EXPECT_EQ(numbers.Find("job-1000"), std::nullopt);
  numbers.Erase("job-7");
  EXPECT_EQ(numbers.Find("job-7"), std::nullopt);
  EXPECT_EQ(numbers.size(), 999U);
}

TEST(NumbersByKey, TheLaterOfTwoNumbersWithOneKeyCounts) {
  const std::vector<std::string> names = {"web", "web"};
  NumbersByKey<NameOf> numbers(NameOf{&names});
  numbers.Insert(0);
  numbers.Insert(1);
  EXPECT_EQ(numbers.Find("web"), 1U);
  EXPECT_EQ(numbers.size(), 1U);
}

}  // namespace
}  // namespace taut
