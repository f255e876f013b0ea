#include "api/json.h"

#include <gtest/gtest.h>

namespace taut {
namespace {

std::string Time(int64_t time_s) {
  JsonWriter json;
  json.BeginObject();
  PutTime("t", time_s, json);
  json.EndObject();
  return json.Take();
}

TEST(ApiJson, ATimeThatIsNoneIsNull) {
  EXPECT_EQ(Time(1'700'006'400), R"({"t":1700006400})");
  EXPECT_EQ(Time(0), R"({"t":0})");
  EXPECT_EQ(Time(INT64_MIN), R"({"t":null})");
  EXPECT_EQ(Time(INT64_MAX), R"({"t":null})");
  EXPECT_EQ(Time(Timestamp{INT64_MIN + 1}.seconds()), R"({"t":null})");
  EXPECT_EQ(Time(Timestamp{INT64_MAX}.seconds()), R"({"t":null})");
}

}  // namespace
}  // namespace taut
