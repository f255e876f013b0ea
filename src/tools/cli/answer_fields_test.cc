// Tests of the readers of the daemon's responses: absent and unexpected values result in "-", never in 0.
#include "tools/cli/answer_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "tools/cli/answer.h"
#include "tools/cli/cli.h"

namespace taut::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Json kOddValues =
    Json::parse(R"({"null": null, "text": "a\u001b[2J", "flag": true, "list": [1], "map": {"a": 1}})");

TEST(AnswerFields, AbsentAndUnexpectedValuesAreNoZero) {
  for (const char* key : {"null", "text", "flag", "list", "map", "missing"}) {
    EXPECT_FALSE(FieldNumber(kOddValues, key).has_value()) << key;
    EXPECT_EQ(FieldCount(kOddValues, key), "-") << key;
    EXPECT_EQ(FieldTime(kOddValues, key), "-") << key;
    for (const Resource r : kResources) {
      EXPECT_EQ(FieldAmount(r, kOddValues, key), "-") << key;
      EXPECT_EQ(FieldShort(r, kOddValues, key), "-") << key;
    }
    EXPECT_EQ(FieldAmount(Target::Replicas(), kOddValues, key), "-") << key;
  }
  for (const Json& odd : {Json(), Json(3), Json("text"), Json::array({1})}) {
    EXPECT_EQ(FieldText(odd, "a"), "-");
    EXPECT_EQ(FieldCount(odd, "a"), "-");
    EXPECT_TRUE(At(odd, "a").is_null());
    EXPECT_TRUE(ItemsAt(odd, "a").empty());
    EXPECT_EQ(TextAt(odd, "a"), "");
    EXPECT_EQ(IntAt(odd, "a"), 0);
  }
}

TEST(AnswerFields, ZeroIsAValue) {
  const Json zero = {{"n", 0}};
  EXPECT_EQ(FieldNumber(zero, "n"), 0.0);
  EXPECT_EQ(FieldCount(zero, "n"), "0");
  EXPECT_EQ(FieldTime(zero, "n"), "day 0 00:00");
  EXPECT_EQ(FieldAmount(Resource::kCpu, zero, "n"), "0 cores");
  EXPECT_EQ(FieldAmount(Resource::kMemory, zero, "n"), "0 B");
  EXPECT_EQ(FieldShort(Resource::kCpu, zero, "n"), "0");
}

TEST(AnswerFields, TextsAreOfOneLineAndEscaped) {
  const Json object = {{"a", "x\ny\x1b[1m"}, {"bad", "caf\xe9"}, {"turned", "a\u202e"}, {"n", 2.5}};
  EXPECT_EQ(FieldText(object, "a"), "x\\x0ay\\x1b[1m");
  EXPECT_EQ(TextAt(object, "a"), "x\\x0ay\\x1b[1m");
  EXPECT_EQ(FieldText(object, "bad"), "caf\\xe9");
  EXPECT_EQ(FieldText(object, "turned"), "a\\u{202e}");
  EXPECT_EQ(FieldText(object, "n"), "2.5") << "a number where a text is expected";
  EXPECT_EQ(TextAt(object, "n"), "");
  EXPECT_EQ(FieldText(kOddValues, "flag"), "true");
  EXPECT_EQ(FieldText(kOddValues, "null"), "-");
}

TEST(AnswerFields, NumbersHaveTheirUnits) {
  const Json object = {{"cores", 0.05}, {"bytes", 3.5 * 1024 * 1024 * 1024},
                       {"tasks", 1},    {"many", 1234567},
                       {"below", -3},   {"time", 1790000400}};
  EXPECT_EQ(FieldAmount(Resource::kCpu, object, "cores"), "50 mcores");
  EXPECT_EQ(FieldShort(Resource::kCpu, object, "cores"), "0.05") << "the head of the column names the unit";
  EXPECT_EQ(FieldAmount(Resource::kMemory, object, "bytes"), "3.50 GiB");
  EXPECT_EQ(FieldShort(Resource::kMemory, object, "bytes"), "3.50 GiB");
  EXPECT_EQ(FieldAmount(Target::Replicas(), object, "tasks"), "1 task");
  EXPECT_EQ(FieldCount(object, "many"), "1,234,567");
  EXPECT_EQ(FieldCount(object, "below"), "-") << "no count is negative";
  EXPECT_EQ(FieldTime(object, "time"), "2026-09-21 14:20");
}

TEST(AnswerFields, CountsHaveASingular) {
  const Json object = {{"one", 1}, {"none", 0}, {"more", 2000}};
  EXPECT_EQ(FieldCount(object, "one", "job"), "1 job");
  EXPECT_EQ(FieldCount(object, "none", "job"), "0 jobs");
  EXPECT_EQ(FieldCount(object, "more", "job"), "2,000 jobs");
  EXPECT_EQ(FieldCount(object, "missing", "job"), "- jobs");
}

TEST(AnswerFields, SignedAmountsKeepTheirSign) {
  EXPECT_EQ(SignedShort(Resource::kCpu, -1.5), "-1.5");
  EXPECT_EQ(SignedShort(Resource::kMemory, -1024.0 * 1024), "-1.00 MiB");
  EXPECT_EQ(SignedShort(Resource::kMemory, 1024.0 * 1024), "1.00 MiB");
  EXPECT_EQ(SignedShort(Resource::kCpu, std::nullopt), "-");
  EXPECT_EQ(SignedShort(Resource::kMemory, std::nullopt), "-");
}

TEST(AnswerFields, ATildeMarksOnlyProvisionalLimits) {
  Json amounts = {{"would_be", 2}, {"provisional_limit", 3}};
  EXPECT_EQ(WouldBe(Resource::kCpu, amounts), "2.00 cores");
  amounts["provisional"] = true;
  EXPECT_EQ(WouldBe(Resource::kCpu, amounts), "~3.00 cores");
  amounts.erase("provisional_limit");
  EXPECT_EQ(WouldBe(Resource::kCpu, amounts), "~-");
  EXPECT_EQ(WouldBe(Resource::kMemory, Json()), "-");
}

TEST(AnswerFields, MoneyNeedsAnAmountAndACurrency) {
  EXPECT_EQ(MonthlyMoney(12.345, "EUR"), "12.35 EUR a month");
  EXPECT_EQ(MonthlyMoney(-0.5, "E\x1bUR"), "-0.50 E\\x1bUR a month");
  EXPECT_EQ(MonthlyMoney(nullptr, "EUR"), "");
  EXPECT_EQ(MonthlyMoney(1, nullptr), "");
  EXPECT_EQ(MonthlyMoney("1", "EUR"), "");
}

TEST(AnswerFields, PercentsHaveTwoDigitsAndNoPowersOfTen) {
  for (const auto& [share, text] : {std::pair{0.0008, "0.08 %"},
                                    {0.00001, "0.001 %"},
                                    {0.0995, "10 %"},
                                    {0.25, "25 %"},
                                    {1.0, "100 %"},
                                    {12.5, "1250 %"},
                                    {0.0, "0 %"},
                                    {-0.5, "-50 %"}})
    EXPECT_EQ(PercentText(share), text);
}

TEST(AnswerFields, KindsAndResourcesAreWords) {
  EXPECT_EQ(KindWords("roll_back_now"), "roll back now");
  EXPECT_EQ(FieldResource({{"resource", "cpu"}}), Resource::kCpu);
  EXPECT_EQ(FieldResource({{"resource", "gpu"}}), Resource::kMemory);
  EXPECT_EQ(FieldResource(Json()), Resource::kMemory);
}

TEST(Answer, ShowPrintsTheChosenForm) {
  const Json answer = {{"name", "a"}, {"list", {{{"n", 1}}, {{"n", 2}}}}};
  const auto shown = [&](OutputForm form) {
    testing::internal::CaptureStdout();
    Show(form, answer, [] { return std::string("the table\n"); });
    std::fflush(stdout);
    return testing::internal::GetCapturedStdout();
  };
  EXPECT_EQ(shown(OutputForm::kTable), "the table\n");
  EXPECT_EQ(Json::parse(shown(OutputForm::kJson)), answer);
  EXPECT_EQ(shown(OutputForm::kYaml), "name: a\nlist:\n- \"n\": 1\n- \"n\": 2\n");
  EXPECT_EQ(shown(OutputForm::kCsv), "n\n1\n2\n");
  EXPECT_EQ(FormattedText(OutputForm::kJson, "{ \"as\":  \"is\" }"), "{ \"as\":  \"is\" }");
  EXPECT_EQ(FormattedText(OutputForm::kYaml, "{\"as\":\"is\"}"), "as: is\n");
}

TEST(Answer, TheCodeFollowsTheError) {
  const auto finish = [](const absl::Status& status, int code) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(Finish(status), code) << status;
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(finish(absl::OkStatus(), kExitOk), "");
  EXPECT_EQ(finish(absl::CancelledError("stopped"), kExitPartial), "") << "^C is no error to print";
  EXPECT_THAT(finish(absl::InvalidArgumentError("--by: wrong"), kExitUsage),
              HasSubstr("taut: --by: wrong\n"));
  EXPECT_THAT(finish(absl::UnavailableError("away\x1b[2J\nnow"), kExitFailed),
              AllOf(HasSubstr("away\\x1b[2J\\x0anow"), Not(HasSubstr("\x1b[2J"))));
}

}  // namespace
}  // namespace taut::tools
