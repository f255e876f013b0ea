#include "tools/cli/promises_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Returns a table of all kinds of rows with the longest names and numbers.
brain::RiskTable BookOfAll(int days) {
  brain::RiskTable table;
  for (const Resource r : kResources) {
    for (uint8_t promise = 0; promise < brain::kPromiseNames.size(); ++promise) {
      for (const bool set : {true, false}) {
        const brain::RiskKey key{.resource = r,
                                 .set = set,
                                 .promise = static_cast<brain::RiskPromise>(promise),
                                 .job_class = 2,
                                 .size = static_cast<brain::JobSize>(promise + 1)};
        for (int i = 0; i < days; ++i)
          table.Add({.key = key,
                     .promised = 0.0123,
                     .over = i % 50 == 0,
                     .used = 1e6,
                     .cut = i % 50 == 0 ? 7e5 : 0});
      }
    }
  }
  return table;
}

TEST(PromisesText, FitsHundredColumns) {
  const std::string text = PromisesText(PromisesJson(BookOfAll(4000)));
  for (const std::string_view line : Split(text, '\n')) EXPECT_LE(DisplayWidth(line), 100U) << line;
  EXPECT_THAT(text, HasSubstr("memory in force, chance stated "));
  EXPECT_THAT(text, HasSubstr("CPU shown, share of each "));
  EXPECT_THAT(text, HasSubstr("  serving_tolerant, 1-4 cores "));
  EXPECT_THAT(text, HasSubstr("4,000"));
  EXPECT_THAT(text, HasSubstr("a day counts half after 30 days"));
  EXPECT_THAT(text, HasSubstr("more overruns than promised"));
}

TEST(PromisesText, SaysOfFewDaysNeitherNeverNorNothing) {
  brain::RiskTable table;
  const brain::RiskKey key{
      .resource = Resource::kMemory, .set = true, .promise = brain::RiskPromise::kChance};
  table.Add({.key = key, .promised = 0, .over = false});
  const std::string text = PromisesText(PromisesJson(table));
  EXPECT_THAT(text, HasSubstr("under 0.1 %")) << "promised";
  EXPECT_THAT(text, HasSubstr("under 50 %")) << "one day shows no more";
  EXPECT_THAT(text, Not(HasSubstr("  0 %")));
  for (int day = 0; day < 15; ++day) table.Add({.key = key, .promised = 0.001F, .over = false});
  EXPECT_THAT(PromisesText(PromisesJson(table)), HasSubstr("under 5.9 %"));
  EXPECT_THAT(text, Not(HasSubstr("more overruns")));
  EXPECT_THAT(PromisesText(PromisesJson(brain::RiskTable())), HasSubstr("no day is over yet"));
  EXPECT_FALSE(PromisesText(Json()).empty());
}

TEST(PromisesText, AReplayShowsThoseWhoPromise) {
  brain::RiskTable table;
  table.Add(
      {.key = {.resource = Resource::kCpu, .set = true}, .promised = 0, .over = false, .used = 1, .cut = 0});
  EXPECT_EQ(ReplayedPromisesText(PromisesJson(table)), "") << "nothing is promised";
  EXPECT_THAT(ReplayedPromisesText(PromisesJson(BookOfAll(3))), Not(HasSubstr("recent")));
}

}  // namespace
}  // namespace taut::tools
