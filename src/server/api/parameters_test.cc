// Tests which parameters of requests are accepted and which are rejected.
#include "server/api/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"
#include "common/base/time.h"

namespace taut::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

HttpRequest WithQuery(std::vector<QueryParameter> query) {
  HttpRequest out;
  out.query = std::move(query);
  return out;
}

TEST(Parameters, AWholeNumberIsReadWithinItsBoundsOnly) {
  const auto read = [](std::string text) { return IntParameter(WithQuery({{"n", text}}), "n", 7, -2, 9); };
  EXPECT_EQ(IntParameter(WithQuery({}), "n", 7, -2, 9).value(), 7);
  EXPECT_EQ(IntParameter(WithQuery({{"m", "3"}}), "n", 70, -2, 9).value(), 70)
      << "the default may be outside";
  EXPECT_EQ(read("").value(), 7);
  EXPECT_EQ(read("-2").value(), -2);
  EXPECT_EQ(read("9").value(), 9);
  for (const char* wrong : {"-3", "10", "1.5", "1e0", "0x1", "NaN", "inf", "one", "3 ", " 3", "3,4", "-",
                            "99999999999999999999", "-99999999999999999999"}) {
    const absl::StatusOr<int64_t> got = read(wrong);
    EXPECT_EQ(got.status().code(), absl::StatusCode::kInvalidArgument) << wrong;
  }
}

TEST(Parameters, AnErrorQuotesLittleOfWhatWasSentAndNoControlCharacter) {
  const absl::Status s =
      IntParameter(WithQuery({{"n", "\x1b[2J" + std::string(5000, 'x')}}), "n", 0, 0, 1).status();
  EXPECT_LT(s.message().size(), 300U);
  EXPECT_THAT(std::string(s.message()), AllOf(HasSubstr("n="), Not(HasSubstr("\x1b"))));
}

TEST(Parameters, APageHasBounds) {
  const PageOfList plain = *PageParameters(WithQuery({}));
  EXPECT_EQ(plain.offset, 0U);
  EXPECT_EQ(plain.limit, 100U);
  EXPECT_FALSE(plain.ascending.has_value()) << "the order of the sort";
  const PageOfList set = *PageParameters(WithQuery({{"offset", "20"}, {"limit", "1000"}, {"order", "desc"}}));
  EXPECT_EQ(set.offset, 20U);
  EXPECT_EQ(set.limit, 1000U);
  EXPECT_EQ(set.ascending, false);
  EXPECT_EQ(PageParameters(WithQuery({{"order", "asc"}}))->ascending, true);
  for (const QueryParameter& wrong : std::vector<QueryParameter>{{"offset", "-1"},
                                                                 {"offset", "2147483648"},
                                                                 {"limit", "0"},
                                                                 {"limit", "-5"},
                                                                 {"limit", "1001"},
                                                                 {"order", "ASC"},
                                                                 {"order", "up"}}) {
    EXPECT_EQ(PageParameters(WithQuery({wrong})).status().code(), absl::StatusCode::kInvalidArgument)
        << wrong.name << "=" << wrong.value;
  }
}

TEST(Parameters, ASpanIsTheWeekBeforeNowUnlessSaid) {
  constexpr int64_t kNow = 1'700'000'000;
  const auto span = [](std::vector<QueryParameter> query) {
    const absl::StatusOr<TimeSpan> s = SpanParameters(WithQuery(std::move(query)), kNow);
    return s.ok() ? std::pair(s->from_s, s->to_s) : std::pair(int64_t{-1}, int64_t{-1});
  };
  const std::pair<int64_t, int64_t> refused{-1, -1};
  EXPECT_EQ(span({}), std::pair(kNow - 7 * kDaySeconds, kNow));
  EXPECT_EQ(span({{"to", "1000000"}}), std::pair(1'000'000 - 7 * kDaySeconds, int64_t{1'000'000}));
  EXPECT_EQ(span({{"from", "5"}}), std::pair(int64_t{5}, kNow));
  EXPECT_EQ(span({{"from", "5"}, {"to", "5"}}), std::pair(int64_t{5}, int64_t{5})) << "an empty span";
  EXPECT_EQ(span({{"from", "6"}, {"to", "5"}}), refused);
  EXPECT_EQ(span({{"from", "yesterday"}}), refused);
  EXPECT_EQ(span({{"to", "1099511627777"}}), refused) << "beyond 2 to the power of 40";
  EXPECT_EQ(span({{"from", "-9223372036854775808"}}), refused);
}

TEST(Parameters, ATargetIsALimitOrTheReplicas) {
  const auto target = [](std::vector<QueryParameter> query) {
    return TargetParameter(WithQuery(std::move(query)));
  };
  EXPECT_FALSE(target({})->has_value());
  EXPECT_FALSE(target({{"target", ""}, {"resource", ""}})->has_value());
  EXPECT_EQ(target({{"resource", "memory"}}).value(), Target(Resource::kMemory));
  EXPECT_EQ(target({{"target", "replicas"}}).value(), Target::Replicas());
  EXPECT_EQ(target({{"target", "cpu"}, {"resource", "cpu"}}).value(), Target(Resource::kCpu));
  for (const auto& wrong :
       std::vector<std::vector<QueryParameter>>{{{"target", "disk"}},
                                                {{"resource", "replicas"}},
                                                {{"resource", "CPU"}},
                                                {{"target", "cpu"}, {"resource", "memory"}},
                                                {{"target", "replicas"}, {"resource", "cpu"}},
                                                {{"target", "cpu"}, {"resource", "gpu"}}})
    EXPECT_EQ(target(wrong).status().code(), absl::StatusCode::kInvalidArgument) << wrong[0].value;
  EXPECT_EQ(ResourceParameter(WithQuery({{"resource", "cpu"}})).value(), Resource::kCpu);
  EXPECT_FALSE(ResourceParameter(WithQuery({}))->has_value());
}

TEST(Parameters, AnUnknownParameterIsAnErrorWithTheNearestName) {
  EXPECT_TRUE(OnlyParameters(WithQuery({}), {}).ok());
  EXPECT_TRUE(OnlyParameters(WithQuery({{"limit", "x"}, {"limit", ""}}), {"limit", "search"}).ok());
  const absl::Status near = OnlyParameters(WithQuery({{"limit", ""}, {"serch", ""}}), {"limit", "search"});
  EXPECT_EQ(near.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(near.message()), AllOf(HasSubstr("\"serch\""), HasSubstr("\"search\"")));
  const absl::Status hostile = OnlyParameters(WithQuery({{"a\n\x07" + std::string(9000, 'b'), ""}}), {});
  EXPECT_EQ(hostile.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_LT(hostile.message().size(), 300U);
  EXPECT_THAT(std::string(hostile.message()), AllOf(Not(HasSubstr("\n")), Not(HasSubstr("\x07"))));
  EXPECT_EQ(OnlyParameters(WithQuery({{"", ""}}), {"limit"}).code(), absl::StatusCode::kInvalidArgument);
}

TEST(Parameters, OfTwoValuesTheFirstCounts) {
  const HttpRequest twice = WithQuery({{"n", "1"}, {"n", "2"}});
  EXPECT_EQ(TextParameter(twice, "n"), "1");
  EXPECT_EQ(TextParameter(twice, "m"), "");
  EXPECT_EQ(IntParameter(twice, "n", 0, 0, 5).value(), 1);
}

}  // namespace
}  // namespace taut::server
