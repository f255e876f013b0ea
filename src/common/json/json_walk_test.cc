#include "common/json/json_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "common/base/strings.h"

namespace taut {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Reads the value of "a" in an object within an array within an object.
template <typename T>
absl::Status ReadInner(std::string_view json, T& out) {
  std::string text = StrCat(R"({"x":[0,{"a":)", json, "}]}");
  return JsonReader().ReadObject(text, [&out](std::string_view, JsonValue array) {
    return array.ForEachItem([&out](JsonValue item) {
      JsonKind kind{};
      if (absl::Status s = item.ReadKind(kind); !s.ok() || kind == JsonKind::kNumber) return s;
      return item.ForEachField([&out](std::string_view, JsonValue value) { return value.Read(out); });
    });
  });
}

TEST(JsonWalk, ReadsValuesByType) {
  std::string text;
  double number = 0;
  int64_t whole = 0;
  bool flag = false;
  EXPECT_TRUE(ReadInner(R"("a\"\u00e9")", text).ok());
  EXPECT_EQ(text, "a\"é");
  EXPECT_TRUE(ReadInner("-1.5e3", number).ok());
  EXPECT_EQ(number, -1500);
  EXPECT_TRUE(ReadInner("-9223372036854775808", whole).ok());
  EXPECT_EQ(whole, INT64_MIN);
  EXPECT_TRUE(ReadInner("true", flag).ok());
  EXPECT_TRUE(flag);
}

TEST(JsonWalk, ErrorsNameThePathAndLeaveTheValue) {
  std::string text = "before";
  double number = 7;
  int64_t whole = 7;
  bool flag = true;
  EXPECT_EQ(ReadInner("1", text), absl::InvalidArgumentError("x[1].a: expected a text"));
  EXPECT_EQ(ReadInner(R"("1")", number), absl::InvalidArgumentError("x[1].a: expected a number"));
  EXPECT_EQ(ReadInner("{}", whole), absl::InvalidArgumentError("x[1].a: expected a whole number"));
  EXPECT_EQ(ReadInner("null", flag), absl::InvalidArgumentError("x[1].a: expected true or false"));
  EXPECT_TRUE(absl::IsOutOfRange(ReadInner("1e999", number))) << ReadInner("1e999", number);
  EXPECT_FALSE(ReadInner("9223372036854775808", whole).ok());
  EXPECT_EQ(text, "before");
  EXPECT_EQ(number, 7);
  EXPECT_EQ(whole, 7);
  EXPECT_TRUE(flag);
}

TEST(JsonWalk, TheRootIsOfTheKindThatIsRead) {
  const auto nothing = [](JsonValue) { return absl::OkStatus(); };
  const auto no_field = [](std::string_view, JsonValue) { return absl::OkStatus(); };
  JsonReader reader;
  std::string object = R"({"a":[1,{"b":2}],"c":null})", array = "[1,[2]]", number = "1", none;
  EXPECT_TRUE(reader.ReadObject(object, no_field).ok());
  EXPECT_TRUE(reader.ReadArray(array, nothing).ok());
  EXPECT_EQ(reader.ReadObject(array, no_field), absl::InvalidArgumentError("expected an object"));
  EXPECT_EQ(reader.ReadArray(object, nothing), absl::InvalidArgumentError("expected an array"));
  EXPECT_TRUE(absl::IsInvalidArgument(reader.ReadObject(number, no_field)));
  EXPECT_TRUE(absl::IsDataLoss(reader.ReadObject(none, no_field)));
}

TEST(JsonWalk, ACallersErrorIsReturnedAsItIs) {
  int calls = 0;
  std::string text = R"({"a":[1,2,3]})";
  const absl::Status s = JsonReader().ReadObject(text, [&calls](std::string_view, JsonValue array) {
    return array.ForEachItem(
        [&calls](JsonValue item) { return ++calls == 2 ? item.Error("too large") : absl::OkStatus(); });
  });
  EXPECT_EQ(s, absl::InvalidArgumentError("a[1]: too large"));
  EXPECT_EQ(calls, 2);
}

TEST(JsonWalk, DamageIsFoundAtItsPlaceAfterWhatComesBefore) {
  std::vector<int64_t> read;
  std::string text = "{\"a\":[1,\n2,\n}";
  JsonReader reader;
  const absl::Status s = reader.ReadObject(text, [&read](std::string_view, JsonValue array) {
    return array.ForEachItem([&read](JsonValue item) {
      int64_t value = 0;
      absl::Status status = item.Read(value);
      if (status.ok()) read.push_back(value);
      return status;
    });
  });
  EXPECT_FALSE(s.ok());
  EXPECT_THAT(Message(s), HasSubstr("a"));
  EXPECT_THAT(read, ElementsAre(1, 2));
}

TEST(JsonWalk, ATextThatIsCutOffIsReadUpToThere) {
  const std::string whole = R"({"a":[1,{"x":"2"},[3]],"b":"c","d":[4]})";
  for (size_t size = 1; size < whole.size(); ++size) {
    int read = 0;
    const auto count = [&read](std::string_view key, JsonValue value) {
      if (key == "b") return absl::OkStatus();
      return value.ForEachItem([&read](JsonValue) {
        ++read;
        return absl::OkStatus();
      });
    };
    std::string cut = whole.substr(0, size), again = cut;
    JsonReader reader;
    EXPECT_FALSE(reader.ReadObject(cut, count, JsonReader::IfCut::kReadRest).ok()) << again;
    EXPECT_LE(reader.error_offset(), size);
    EXPECT_GE(read, size > 21 ? 3 : size > 17 ? 2 : size > 7 ? 1 : 0) << again;
    EXPECT_FALSE(JsonReader().ReadObject(again, count).ok()) << again;
  }
}

struct Sample {
  absl::Status status;
  double time_s = -1, value = -1;
};
Sample ReadSample(std::string_view json) {
  Sample out;
  std::string text = StrCat("[", json, "]");
  out.status = JsonReader().ReadArray(
      text, [&out](JsonValue item) { return item.ReadPrometheusSample(out.time_s, out.value); });
  return out;
}

TEST(JsonWalk, PrometheusSamples) {
  EXPECT_EQ(ReadSample(R"([1435781430.781,"1.5"])").time_s, 1435781430.781);
  EXPECT_EQ(ReadSample(R"([1,"1.5e+06"])").value, 1.5e6);
  EXPECT_TRUE(std::isnan(ReadSample(R"([1,"NaN"])").value));
  EXPECT_EQ(ReadSample(R"([1,"+Inf"])").value, HUGE_VAL);
  EXPECT_EQ(ReadSample(R"([1,"-Inf"])").value, -HUGE_VAL);
  for (const char* bad : {R"([1,"x"])", R"([1,""])", R"(["1","1"])", R"([1])", R"([1,"1","1"])", "[1,1]",
                          R"([1,"1 "])", R"([1,"1e999"])", R"([1,"++1"])", "1", "[]"}) {
    const Sample sample = ReadSample(bad);
    EXPECT_FALSE(sample.status.ok()) << bad;
    EXPECT_THAT(Message(sample.status), HasSubstr("[0]")) << bad;
    EXPECT_EQ(sample.value, -1) << bad;
  }
}

}  // namespace
}  // namespace taut
