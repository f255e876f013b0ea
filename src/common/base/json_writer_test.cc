// Tests that JsonWriter's output for any text can be parsed back, and that no text can close a script block.
#include "common/base/json_writer.h"

#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"

namespace taut {
namespace {

using nlohmann::json;

std::string Numbered(double value, int digits) {
  JsonWriter writer;
  writer.Number(value, digits);
  return writer.Take();
}

TEST(JsonWriterTest, NestsAndSeparates) {
  JsonWriter writer;
  writer.BeginObject();
  writer.Field("a", int64_t{1});
  writer.Key("b");
  writer.BeginArray();
  writer.BeginObject();
  writer.EndObject();
  writer.BeginArray();
  writer.EndArray();
  writer.Null();
  writer.Bool(true);
  writer.EndArray();
  writer.Field("c", "x");
  writer.EndObject();
  EXPECT_EQ(writer.Take(), R"({"a":1,"b":[{},[],null,true],"c":"x"})");
}

TEST(JsonWriterTest, RoundsNumbers) {
  EXPECT_EQ(Numbered(1.0 / 3, 3), "0.333");
  EXPECT_EQ(Numbered(-0.0, 5), "0");
  EXPECT_EQ(Numbered(INFINITY, 5), "null");
  EXPECT_EQ(Numbered(std::nan(""), 5), "null");
  EXPECT_DOUBLE_EQ(json::parse(Numbered(1.23456789e12, 5)).get<double>(), 1.2346e12);
}

TEST(JsonWriterTest, EscapesWhatCouldEndAScript) {
  EXPECT_EQ(JsonString("</script>"), R"("\u003c/script>")");
  EXPECT_EQ(JsonString("<!--"), R"("\u003c!--")");
  EXPECT_EQ(JsonString("\"\\\t"), R"("\"\\\u0009")");
}

TEST(JsonWriterTest, KeepsGoodUtf8AndReplacesBad) {
  const std::string good = "Größe 日本 😀";
  EXPECT_EQ(JsonString(good), "\"" + good + "\"");
  for (const char* bad :
       {"\xff", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\x80"}) {
    EXPECT_TRUE(json::accept(JsonString(bad))) << bad;
    EXPECT_NE(JsonString(bad).find("\xEF\xBF\xBD"), std::string::npos);
  }
}

RC_GTEST_PROP(JsonWriterTest, AnyBytesGiveJsonWithoutATag, (const std::string& text)) {
  const std::string quoted = JsonString(text);
  RC_ASSERT(quoted.find('<') == std::string::npos);
  const std::string back = json::parse(quoted).get<std::string>();
  const bool ascii =
      std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (ascii) RC_ASSERT(back == text);
}

}  // namespace
}  // namespace taut
