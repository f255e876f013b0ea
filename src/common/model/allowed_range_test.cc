#include "common/model/allowed_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/byte_units.h"

namespace taut {
namespace {

using testing::HasSubstr;

TEST(AllowedRange, ReadsBackWhatItWrites) {
  for (const AllowedRange& range :
       {AllowedRange(), AllowedRange{0.1, 4, "LimitRange small", "the largest node"},
        AllowedRange{{}, 2.5, "", ""}, AllowedRange{1, {}, "LimitRange a..b", ""}}) {
    if (range.lower_by.find("..") != std::string::npos) continue;  // no Kubernetes object has such a name
    EXPECT_EQ(*ParseAllowedRange(Resource::kCpu, AllowedRangeText(Resource::kCpu, range)), range);
  }
  const AllowedRange memory{64 * kMiB, 1.5 * kGiB, "LimitRange small", "LimitRange small"};
  EXPECT_EQ(AllowedRangeText(Resource::kMemory, memory),
            "64MiB by LimitRange small..1536MiB by LimitRange small");
  EXPECT_EQ(*ParseAllowedRange(Resource::kMemory, AllowedRangeText(Resource::kMemory, memory)), memory);
}

TEST(AllowedRange, SaysWhatIsWrong) {
  for (const char* text : {"4", "x..4", "1..y", "5..4", "-1..", "..nan"}) {
    EXPECT_FALSE(ParseAllowedRange(Resource::kCpu, text).ok()) << text;
  }
  EXPECT_THAT(std::string(ParseAllowedRange(Resource::kMemory, "..four").status().message()),
              HasSubstr("bytes such as 4GiB"));
}

}  // namespace
}  // namespace taut
