#include "common/model/reason.h"

#include "gtest/gtest.h"

namespace taut {
namespace {

Reason Sample() {
  Reason r;
  r.recommender = "ensemble";
  r.sentence = "Because.";
  r.cost_unit = "cores";
  r.facts = {{"windows seen", 12.0, ""}, {"model", std::string("half-life 6 h"), ""}};
  r.candidates = {{"a", 1.5, 2.5, "detail", true}, {"b", 3, 4, "", false}};
  r.steps = {{"margin", 1, 1.1, "margin"}};
  r.why = "usage rose";
  r.limit = 1.1;
  r.days = 18;
  r.days_over = 1;
  return r;
}

TEST(Reason, ComesBackAsItWas) {
  const Reason r = Sample();
  const absl::StatusOr<Reason> back = LoadReason(SaveReason(r));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->recommender, r.recommender);
  EXPECT_EQ(back->sentence, r.sentence);
  EXPECT_EQ(back->facts.size(), 2U);
  EXPECT_EQ(std::get<double>(back->facts[0].value), 12.0);
  EXPECT_EQ(std::get<std::string>(back->facts[1].value), "half-life 6 h");
  EXPECT_TRUE(back->candidates[0].chosen);
  EXPECT_EQ(back->steps[0].after, 1.1);
  EXPECT_EQ(back->steps[0].kind, "margin");
  EXPECT_EQ(back->why, "usage rose");
  EXPECT_EQ(back->limit, 1.1);
  EXPECT_FALSE(back->chance.has_value());
  EXPECT_EQ(back->days, 18U);
  EXPECT_EQ(back->days_over, 1U);
  EXPECT_EQ(SaveReason(*back), SaveReason(r));
}

TEST(Reason, AnyCutIsNoticed) {
  const std::string bytes = SaveReason(Sample());
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(LoadReason(bytes.substr(0, n)).ok()) << n;
  EXPECT_FALSE(LoadReason(bytes + "x").ok());
}

// The first version's format ends after the steps.
TEST(Reason, TheFirstVersionIsRead) {
  Reason plain = Sample();
  plain.steps[0].kind = plain.why = "";
  plain.limit.reset();
  std::string bytes = SaveReason(plain);
  bytes.resize(bytes.size() - 1 - 1 - 2 * (1 + sizeof(double)) - 2);  // drops kind, why, limit, chance, days
  bytes[0] = 1;
  const absl::StatusOr<Reason> back = LoadReason(bytes);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->sentence, "Because.");
  EXPECT_EQ(back->steps[0].after, 1.1);
  EXPECT_FALSE(back->limit.has_value());
}

TEST(Reason, TheSecondVersionIsRead) {
  std::string bytes = SaveReason(Sample());
  bytes.resize(bytes.size() - 2);  // removes the days
  bytes[0] = 2;
  const absl::StatusOr<Reason> back = LoadReason(bytes);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->limit, 1.1);
  EXPECT_EQ(back->days, 0U);
}

TEST(Reason, ANewerVersionIsSaid) {
  std::string bytes = SaveReason(Sample());
  bytes[0] = 9;
  EXPECT_EQ(LoadReason(bytes).status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace taut
