#include "server/pool/history_text.h"

#include "gtest/gtest.h"

namespace taut::server {
namespace {

TEST(HistoryText, ReadsTheSameBack) {
  const std::optional<QuotaGap> gap = QuotaGap{{17}, 5};
  brain::QuotaHistory history;
  history.Note({"shop", "prod", "cpu"}, 3600, 5, 4);
  history.Note({"shop", "prod", "cpu"}, 7200, 6, 0);
  history.Note({"a \"b\"", "prod", "gpu"}, 7200, 6, std::nullopt);
  const std::string text = EncodeState(history, gap);
  const auto read = DecodeState(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->history.places(), history.places());
  EXPECT_EQ(read->gap, gap);
  EXPECT_EQ(EncodeState(read->history, read->gap), text);
  EXPECT_FALSE(DecodeState(EncodeState(history, std::nullopt))->gap.has_value());
}

TEST(HistoryText, RefusesWhatItDidNotWrite) {
  for (const char* text :
       {"", "[]", "{}", R"({"version":2,"places":[]})", R"({"version":1,"places":[{}]})",
        R"({"version":1,"places":[{"group":"a","tier":"t","resource":"cpu","hours":[1,2]}]})",
        R"({"version":1,"places":[{"group":"a","tier":"t","resource":"cpu","hours":[1,2,"x"]}]})",
        R"({"version":1,"places":[{"group":"a","tier":"t","resource":"cpu","hours":[2,2,1,1,2,1]}]})"}) {
    EXPECT_EQ(DecodeState(text).status().code(), absl::StatusCode::kDataLoss) << text;
  }
}

}  // namespace
}  // namespace taut::server
