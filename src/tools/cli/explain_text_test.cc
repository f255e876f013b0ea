// Tests that numbers in the text of an explanation have units and no scientific notation.
#include "tools/cli/explain_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ExplainText, HasUnitsAndNoPowersOfTen) {
  Reason reason;
  reason.facts = {{"charge for a change", 2.06e11, "byte-hours"},
                  {"price of work above the limit", 1.28e6, "times"},
                  {"price of an OOM-day", 3e9, "byte-days"},
                  {"rate", 0.00123, ""}};
  reason.cost_unit = "core-hours";
  reason.candidates = {{"keep", 2, 5.48, "", true}};
  const std::string text = ExplainText(Target(Resource::kCpu), 2.0, reason);
  EXPECT_THAT(text, HasSubstr("charge for a change: 192 GiB x hours"));
  EXPECT_THAT(text, HasSubstr("above the limit: 1,280,000 times"));
  EXPECT_THAT(text, HasSubstr("OOM-day: 2.79 GiB x days"));
  EXPECT_THAT(text, HasSubstr("rate: 0.00123"));
  EXPECT_THAT(text, HasSubstr("5.48 cores x hours"));
  EXPECT_THAT(text, Not(HasSubstr("e+")));
}

}  // namespace
}  // namespace taut::tools
