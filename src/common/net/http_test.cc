// Tests that request targets, queries and escapes are parsed or rejected, and that headers are found in any case.
#include "common/net/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace taut {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Flat(const std::vector<QueryParameter>& query) {
  std::vector<std::string> out;
  for (const QueryParameter& p : query) out.push_back(p.name + "=" + p.value);
  return out;
}

RC_GTEST_PROP(Http, EscapesRoundTrip, (const std::string& text)) {
  const std::string encoded = PercentEncode(text);
  RC_ASSERT(encoded.find_first_of("/?&=+# ") == std::string::npos);
  RC_ASSERT(PercentDecode(encoded, PlusSign::kItself) == text);
  RC_ASSERT(PercentDecode(encoded, PlusSign::kBlank) == text);
}

TEST(Http, RefusesDamagedEscapes) {
  for (const char* text : {"%", "a%", "%2", "%g0", "%0g", "%%20", "% 1"}) {
    EXPECT_FALSE(PercentDecode(text, PlusSign::kItself)) << text;
    EXPECT_FALSE(ParseTarget(std::string("/") + text)) << text;
    EXPECT_FALSE(ParseQuery(std::string("a=") + text)) << text;
  }
}

TEST(Http, CutsAPathIntoSegmentsBeforeDecoding) {
  EXPECT_THAT(ParseTarget("/")->segments, IsEmpty());
  EXPECT_THAT(ParseTarget("/api/v1")->segments, ElementsAre("api", "v1"));
  EXPECT_THAT(ParseTarget("/jobs/team%2Fweb%20shop")->segments, ElementsAre("jobs", "team/web shop"));
  EXPECT_THAT(ParseTarget("/a/")->segments, ElementsAre("a", ""));
  EXPECT_THAT(ParseTarget("/a//b")->segments, ElementsAre("a", "", "b"));
  EXPECT_THAT(ParseTarget("/a+b")->segments, ElementsAre("a+b"));
  EXPECT_EQ(ParseTarget("/a%2Fb?x")->path, "/a%2Fb");
  EXPECT_EQ(ParseTarget("*")->path, "*");
}

TEST(Http, KeepsTheOrderOfAQuery) {
  EXPECT_THAT(Flat(ParseTarget("/p?b=2&a=1&b=%26+x&flag&=v&&c=d=e#part")->query),
              ElementsAre("b=2", "a=1", "b=& x", "flag=", "=v", "c=d=e"));
  EXPECT_THAT(ParseTarget("/p?")->query, IsEmpty());
  EXPECT_EQ(FormatQuery({}), "");
  EXPECT_EQ(FormatQuery({{"a b", "ü/1"}, {"c", ""}}), "?a%20b=%C3%BC%2F1&c=");
}

RC_GTEST_PROP(Http, QueriesRoundTrip, ()) {
  const auto ascii = rc::gen::string<std::string>();
  std::vector<QueryParameter> query;
  for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
    std::string name = *ascii;
    std::string value = *ascii;
    for (char& c : name) c = static_cast<char>(c & 0x7F);
    for (char& c : value) c = static_cast<char>(c & 0x7F);
    query.push_back({name, value});
  }
  const auto target = ParseTarget("/p" + FormatQuery(query));
  RC_ASSERT(target.has_value());
  RC_ASSERT(Flat(target->query) == Flat(query));
}

TEST(Http, TakesTheFormThatProxiesSend) {
  const auto target = ParseTarget("http://example:80/a?b=c");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->authority, "example:80");
  EXPECT_EQ(target->path, "/a");
  EXPECT_EQ(ParseTarget("HTTPS://example")->path, "/");
  EXPECT_EQ(ParseTarget("http://example?a=b")->path, "/");
}

TEST(Http, RefusesWhatIsNoTarget) {
  for (const char* text : {"", "a", "example:443", "http://", "http:///a", "ftp://x/", "?a=b"}) {
    EXPECT_FALSE(ParseTarget(text)) << text;
  }
}

TEST(Http, RefusesTextThatIsNotUtf8AndControlCharactersInPaths) {
  EXPECT_TRUE(ParseTarget("/%C3%BC"));
  EXPECT_TRUE(ParseTarget("/%F0%9F%98%80"));
  for (const char* text : {"/%FF", "/%C3", "/%C3%28", "/%C0%AF", "/%E0%80%AF", "/%ED%A0%80", "/%F4%90%80%80",
                           "/%00", "/%0A", "/%7F"}) {
    EXPECT_FALSE(ParseTarget(text)) << text;
  }
  EXPECT_FALSE(ParseQuery("a=%FF"));
  EXPECT_TRUE(ParseQuery("a=%0A"));
}

TEST(Http, HeadersAreFoundInAnyCase) {
  HttpRequest request;
  request.headers = {{"Content-TYPE", "a"}, {"content-type", "b"}};
  ASSERT_NE(request.header("content-type"), nullptr);
  EXPECT_EQ(*request.header("Content-Type"), "a");
  EXPECT_EQ(request.header("Content-Typ"), nullptr);
}

}  // namespace
}  // namespace taut
