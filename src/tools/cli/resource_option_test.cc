#include "tools/cli/resource_option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"

namespace taut::tools {
namespace {

TEST(ResourceOption, NoNameIsAllAndANameCountsOnce) {
  EXPECT_EQ(ToResources({})->size(), kResources.size());
  EXPECT_EQ(*ToResources({"memory", "cpu", "memory"}),
            (std::vector<Resource>{Resource::kMemory, Resource::kCpu}));
}

TEST(ResourceOption, AnUnknownNameIsAnErrorWithTheChoices) {
  for (const char* name : {"gpu", "", "CPU"}) {
    const auto resources = ToResources({"cpu", name});
    ASSERT_TRUE(absl::IsInvalidArgument(resources.status())) << name;
    EXPECT_THAT(std::string(Message(resources.status())),
                testing::AllOf(testing::HasSubstr(StrCat("--resource \"", name, "\"")),
                               testing::HasSubstr("cpu"), testing::HasSubstr("memory")));
  }
}

}  // namespace
}  // namespace taut::tools
