#include "common/model/tier_act.h"

#include <gtest/gtest.h>

namespace taut {
namespace {

TEST(TierAct, NamesOfTiersAreReadAgain) {
  for (size_t i = 0; i < kTiers; ++i) {
    const auto tier = static_cast<Tier>(i);
    EXPECT_EQ(ParseTier(Name(tier)), tier);
  }
  EXPECT_EQ(ParseTier(""), std::nullopt);
  EXPECT_EQ(ParseTier("Batch"), std::nullopt);
}

TEST(TierAct, ASentenceSaysWhatWasDoneToWhom) {
  TierAct act;
  act.job = "batch/x";
  act.task = "host1/a";
  act.tier = Tier::kBatch;
  act.kind = TierActKind::kKill;
  EXPECT_EQ(Describe(act), "kill of batch/x, task host1/a (batch)");
  act.observed = true;
  EXPECT_EQ(Describe(act), "observed, not done: kill of batch/x, task host1/a (batch)");
}

}  // namespace
}  // namespace taut
