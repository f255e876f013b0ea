// Tests that responses with unusual values are written correctly as JSON, YAML and CSV.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "tools/cli/json_text.h"

namespace taut::tools {
namespace {

using testing::HasSubstr;

TEST(JsonForms, BytesThatAreNoUtf8AreReplaced) {
  const Json value = {{"name", "caf\xe9"}};
  EXPECT_EQ(JsonText(value), "{\n \"name\": \"caf\uFFFD\"\n}\n");
  EXPECT_EQ(YamlText(value), "name: \"caf\uFFFD\"\n");
  EXPECT_THAT(CsvText(Json{{"list", {"\xff"}}}), HasSubstr("\uFFFD"));
}

TEST(JsonForms, YamlReadsAsTheSameValue) {
  const std::vector<std::string> texts = {"yes",  "No",  "NULL", "~",  "1e3", "0x10", "12:30",
                                          "a: b", "- a", "# a",  "",   " a",  "a ",   "\x1b",
                                          "a\nb", "{a}", "*a",   "&a", "%a",  "größe"};
  Json value = Json::object();
  for (const std::string& text : texts) value["key " + text] = text;
  value["plain"] = "shop/web-1_2.x";
  const YAML::Node read = YAML::Load(YamlText(value));
  for (const std::string& text : texts) {
    EXPECT_EQ(read["key " + text].as<std::string>(), text);
    EXPECT_EQ(read["key " + text].Tag(), "!") << "quoted, so that \"" << text << "\" stays a text";
  }
  EXPECT_THAT(YamlText(value), HasSubstr("\nplain: shop/web-1_2.x\n"));
}

TEST(JsonForms, YamlNestsListsAndObjects) {
  const Json value = Json::parse(R"([[{"a": [1, 2]}, {"b": {}}], ["x", "y"], [], 3])");
  const std::string text = YamlText(value);
  const YAML::Node read = YAML::Load(text);
  ASSERT_EQ(read.size(), 4U) << text;
  EXPECT_EQ(read[0][0]["a"][1].as<int>(), 2);
  EXPECT_TRUE(read[0][1]["b"].IsMap());
  EXPECT_EQ(read[1][1].as<std::string>(), "y");
  EXPECT_EQ(read[2].size(), 0U);
  EXPECT_EQ(YamlText(Json(nullptr)), "null\n");
  EXPECT_EQ(YamlText(Json::object()), "{}\n");
}

TEST(JsonForms, CsvHasColumnsOfNestedObjectsAndEmptyCellsForAbsentValues) {
  const Json page = Json::parse(R"({"total": 3, "jobs": [
      {"name": "a", "cpu": {"limit": 2, "would_be": null}},
      {"name": "b,\"c\"", "cpu": {"limit": null}, "tags": [1, "x"]},
      {"memory": {"limit": 0}}]})");
  EXPECT_EQ(CsvText(page),
            "name,cpu.limit,cpu.would_be,tags,memory.limit\n"
            "a,2,,,\n"
            "\"b,\"\"c\"\"\",,,\"[1,\"\"x\"\"]\",\n"
            ",,,,0\n");
}

TEST(JsonForms, CsvHasOneRowForAnObjectAndNoneForAnEmptyList) {
  EXPECT_EQ(CsvText({{"a", 1}, {"b", true}}), "a,b\n1,true\n");
  EXPECT_EQ(CsvText({{"total", 0}, {"jobs", Json::array()}}), "");
  EXPECT_EQ(CsvText(Json::array()), "");
  EXPECT_EQ(CsvText(Json(7)), "value\n7\n");
  EXPECT_EQ(CsvText({{"tags", {1, 2}}, {"rows", {{{"n", 1}}}}}), "n\n1\n") << "numbers are no rows";
}

TEST(JsonForms, CsvCellsAreNoFormulasButNumbersStayNumbers) {
  EXPECT_EQ(CsvText({{"a", "=1+1"}, {"b", -5}, {"@c", "x"}}), "a,b,'@c\n'=1+1,-5,x\n");
}

}  // namespace
}  // namespace taut::tools
