#include "tools/cli/machines_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

using ::testing::HasSubstr;

Json Amounts(double factor) {
  return {{"capacity", 16 * factor},      {"limits", 12 * factor},        {"reservations", 6 * factor},
          {"usage", 5 * factor},          {"predicted", 8.25 * factor},   {"learnt", true},
          {"reclaimable", 7.75 * factor}, {"reclaimable_now", 6 * factor}};
}

Json Page() {
  Json away = {{"name", "a-machine-with-a-name-that-is-far-too-long-for-a-table-of-a-terminal"},
               {"present", false},
               {"ready", false},
               {"cpu", {{"capacity", 4}, {"usage", nullptr}}},
               {"memory", Json::object()}};
  return {{"enabled", true},
          {"window_end", 1764045300},
          {"risk", 0.01},
          {"total", 7},
          {"delivered",
           {{"cpu", {{"promises", {{"judged", 400}, {"passed", 3}}}}},
            {"memory", {{"promises", {{"judged", 0}, {"passed", 0}}}}}}},
          {"machines",
           {{{"name", "node-1"},
             {"present", true},
             {"ready", true},
             {"cpu", Amounts(1)},
             {"memory", Amounts(1e9)}},
            away}}};
}

TEST(MachinesText, FitsHundredColumnsAndSaysWhatIsMissing) {
  const std::string text = MachinesText(Page());
  for (const std::string_view line : Split(text, '\n')) EXPECT_LE(DisplayWidth(line), 100U) << line;
  EXPECT_THAT(text, HasSubstr("8.25"));
  EXPECT_THAT(text, HasSubstr("7.68 GiB"));
  EXPECT_THAT(text, HasSubstr("2 of 7 machines"));
  EXPECT_THAT(text, HasSubstr("passed: cpu: 0.75 % of 400 machine-days; memory: no day yet"));
}

TEST(MachinesText, SaysWhyThereIsNone) {
  EXPECT_THAT(MachinesText({{"enabled", false}}), HasSubstr("agents.listen"));
  EXPECT_THAT(MachinesText({{"enabled", true}, {"window_end", nullptr}}), HasSubstr("no window has closed"));
  EXPECT_THAT(MachinesText({{"enabled", true}, {"window_end", 5}}), HasSubstr("no machine fits"));
  EXPECT_FALSE(MachinesText(Json()).empty());
  EXPECT_FALSE(MachineText(Json()).empty());
}

TEST(MachinesText, ShowsOneMachineWithItsTasks) {
  const std::string text =
      MachineText({{"name", "node-1"},
                   {"source", "kubernetes"},
                   {"also_in", {"agents"}},
                   {"explanation", {"CPU: the machine has 16 cores. They used 5 cores."}},
                   {"task_list",
                    {{{"job", "shop/deployment/web/app"},
                      {"task", "web-0"},
                      {"cpu", {{"limit", 2}, {"reservation", 1.5}, {"usage", nullptr}}},
                      {"memory", {{"limit", 4e9}}}}}}});
  EXPECT_THAT(text, HasSubstr("also known from agents"));
  EXPECT_THAT(text, HasSubstr("16 cores. They used"));
  EXPECT_THAT(text, HasSubstr("web-0"));
}

}  // namespace
}  // namespace taut::tools
