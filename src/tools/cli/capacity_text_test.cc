#include "tools/cli/capacity_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Json Columns(double factor) {
  return {{"capacity", {1600 * factor, 1600 * factor}},    {"reservation", {nullptr, nullptr}},
          {"allocation", {1234.5 * factor, nullptr}},      {"usage", {512.25 * factor, 500 * factor}},
          {"usage_peak", {612.25 * factor, 600 * factor}}, {"forecast", {nullptr, 800 * factor}}};
}

Json Offer(const char* tier, const char* resource, const Json& horizon, const Json& sellable,
           const char* text) {
  return {{"tier", tier},
          {"resource", resource},
          {"horizon", horizon},
          {"promise", 0.98},
          {"sellable", sellable},
          {"sold", 12345.678},
          {"left", 0},
          {"text", text},
          {"kept", {{"promises", 336}, {"hours", 336}, {"kept_share", 0.98214}}}};
}

Json CapacityPage() {
  const char* tier = "a-tier-with-a-name-that-is-too-long";
  return {
      {"window_end", 1764045300},
      {"why", ""},
      {"note", "Capacity is what the price file states; usage is that of all jobs."},
      {"time", {1764036000, 1764039600}},
      {"cpu", Columns(1)},
      {"memory", Columns(1e9)},
      {"tiers",
       Json::array(
           {{{"name", tier}, {"sale", "slack"}, {"risk", "In about 2 of 100 hours less is available."}}})},
      {"offers",
       {Offer(tier, "cpu", "hour", 412.5, "fine"), Offer(tier, "memory", "hour", 4.5e11, "fine"),
        Offer(tier, "cpu", "quarter", nullptr, "History is too short: one day and then 90 days are needed."),
        Offer(tier, "memory", "quarter", nullptr,
              "History is too short: one day and then 90 days are needed.")}},
      {"promises", Json::array({{{"tier", tier},
                                 {"resource", "memory"},
                                 {"horizon", "quarter"},
                                 {"promise", 0.999},
                                 {"start", 1764036000},
                                 {"amount", 1.2345e12},
                                 {"state", "unmeasured"},
                                 {"hours", 2160},
                                 {"missed_hours", 2160},
                                 {"lowest", -1.5e12}}})}};
}

void ExpectNarrow(const std::string& text) {
  for (const std::string_view line : Split(text, '\n')) EXPECT_LE(DisplayWidth(line), 100U) << line;
}

TEST(CapacityText, FitsHundredColumnsAndSaysEachReasonOnce) {
  const std::string text = CapacityText(CapacityPage());
  ExpectNarrow(text);
  EXPECT_THAT(text, HasSubstr("412.5"));
  EXPECT_THAT(text, HasSubstr("419 GiB"));
  EXPECT_THAT(text, HasSubstr("98.214 %"));
  EXPECT_THAT(text, HasSubstr("In about 2 of 100 hours"));
  const size_t first = text.find("History is too short");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("History is too short", first + 1), std::string::npos) << "once for both resources";
}

TEST(CapacityText, ShowsLinesAndPromises) {
  const std::string lines = CapacityLinesText(CapacityPage());
  ExpectNarrow(lines);
  EXPECT_THAT(lines, HasSubstr("512.2"));
  EXPECT_THAT(lines, HasSubstr(" -")) << "absent, not 0";
  const std::string promises = CapacityPromisesText(CapacityPage());
  ExpectNarrow(promises);
  EXPECT_THAT(promises, HasSubstr("unmeasured"));
  EXPECT_THAT(promises, HasSubstr("-1.36 TiB")) << "below 0: more was used than there is";
}

TEST(CapacityText, SaysWhyThereIsNone) {
  const std::string early = CapacityText({{"window_end", nullptr}, {"why", "No window has closed yet."}});
  EXPECT_EQ(early, "No window has closed yet.\n");
  EXPECT_THAT(CapacityLinesText(Json()), HasSubstr("no hour"));
  EXPECT_THAT(CapacityPromisesText(Json()), HasSubstr("no promise has been made yet"));
  EXPECT_THAT(CapacityText(Json()), Not(HasSubstr("null")));
}

}  // namespace
}  // namespace taut::tools
