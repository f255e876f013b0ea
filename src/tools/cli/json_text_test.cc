#include "tools/cli/json_text.h"

#include "gtest/gtest.h"

namespace taut::tools {
namespace {

TEST(CsvText, HasARowForEachObjectOfTheFirstList) {
  const Json page = Json::parse(R"({"total": 2, "labels": ["a"], "jobs": [
      {"name": "shop/web, blue", "cpu": {"limit": 0.5, "usage": null}, "tasks": 3},
      {"name": "b\"x", "cpu": {"limit": -1}, "list": [1, 2], "late": true}]})");
  EXPECT_EQ(CsvText(page),
            "name,cpu.limit,cpu.usage,tasks,list,late\n"
            "\"shop/web, blue\",0.5,,3,,\n"
            "\"b\"\"x\",-1,,,\"[1,2]\",true\n");
}

TEST(CsvText, OfOneObjectIsOneRow) {
  EXPECT_EQ(CsvText(Json::parse(R"({"time": 5, "store": {"rows": 7}, "names": ["a", "b"]})")),
            "time,store.rows,names\n5,7,\"[\"\"a\"\",\"\"b\"\"]\"\n");
}

TEST(CsvText, OfAnEmptyListHasNoRow) {
  EXPECT_EQ(CsvText(Json::parse(R"({"total": 0, "jobs": []})")), "");
  EXPECT_EQ(CsvText(Json::parse("[]")), "");
}

TEST(CsvText, DoesNotLetASpreadsheetRunAFormula) {
  EXPECT_EQ(CsvText(Json::parse(R"([{"name": "=1+1"}])")), "name\n'=1+1\n");
}

}  // namespace
}  // namespace taut::tools
