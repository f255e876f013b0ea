#include "common/json/json_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/base/strings.h"

namespace taut {
namespace {

using ::testing::ElementsAre;

TEST(JsonTree, ValuesAreFoundByNameAndKind) {
  JsonTree tree;
  ASSERT_TRUE(tree.Parse(R"({"a":{"b":"x","b":"y"},"n":3,"f":1.5,"t":true,"z":null,"l":[1,"2"]})").ok());
  const JsonNode root = tree.root();
  EXPECT_TRUE(root.is_object());
  EXPECT_EQ(root["a"].Text("b"), "x");
  EXPECT_EQ(root.Whole("n"), 3);
  EXPECT_EQ(root["n"].number(), 3.0);
  EXPECT_EQ(root["f"].number(), 1.5);
  EXPECT_EQ(root["f"].whole(), std::nullopt);
  EXPECT_TRUE(root.Flag("t"));
  EXPECT_TRUE(root["z"].is_null());
  EXPECT_TRUE(static_cast<bool>(root["z"]));
  EXPECT_TRUE(root["l"].is_array());
  std::vector<std::string> seen;
  root.ForEachField([&seen](std::string_view key, JsonNode) { seen.emplace_back(key); });
  root["l"].ForEachItem([&seen](JsonNode item) { seen.emplace_back(item.text().value_or("no text")); });
  EXPECT_THAT(seen, ElementsAre("a", "n", "f", "t", "z", "l", "no text", "2"));
}

TEST(JsonTree, WhatIsNotThereIsEmpty) {
  JsonTree tree;
  ASSERT_TRUE(tree.Parse(R"({"a":1})").ok());
  for (const JsonNode none : {JsonNode(), tree.root()["b"], tree.root()["a"]["b"]["c"]}) {
    EXPECT_FALSE(static_cast<bool>(none));
    EXPECT_FALSE(none.is_null() || none.is_object() || none.is_array());
    EXPECT_EQ(none.text(), std::nullopt);
    EXPECT_EQ(none.Text("a"), "");
    EXPECT_EQ(none.Whole("a"), 0);
    none.ForEachField([](std::string_view, JsonNode) { FAIL(); });
    none.ForEachItem([](JsonNode) { FAIL(); });
  }
  tree.root()["a"].ForEachItem([](JsonNode) { FAIL(); });
}

TEST(JsonTree, WhatIsNotJsonHasNoRoot) {
  JsonTree tree;
  ASSERT_TRUE(tree.Parse("{}").ok());
  const std::string deep(2000, '[');
  for (const std::string& text : {std::string(), std::string("{"), std::string("{} x"),
                                  std::string("\"\xff\""), StrCat(deep, std::string(2000, ']'))}) {
    EXPECT_TRUE(absl::IsDataLoss(tree.Parse(text))) << text.substr(0, 9);
    EXPECT_FALSE(static_cast<bool>(tree.root()));
  }
  EXPECT_TRUE(tree.Parse("1").ok());
  EXPECT_EQ(tree.root().whole(), 1);
}

}  // namespace
}  // namespace taut
