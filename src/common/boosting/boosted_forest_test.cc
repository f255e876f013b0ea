#include "common/boosting/boosted_forest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "common/base/random.h"

namespace taut {
namespace {

constexpr size_t kFeatures = 3;
const std::vector<float> kGrid = {-1, -0.5, 0, 0.25, 1, 2};

// Adds a random subtree at node `at`. The score falls with the threshold: `low` and `high` bound the leaves.
void Grow(Rng& rng, size_t at, int depth, double low, double high, BoostedForest::Tree& tree) {
  if (depth == 0 || rng.Uniform() < 0.2) {
    tree[at].value = static_cast<float>(rng.Uniform(low, high));
    return;
  }
  BoostedForest::Node node;
  node.feature = static_cast<uint8_t>(rng.Below(kFeatures + 1));
  node.value = static_cast<float>(rng.Uniform(-1.5, 1.5));
  node.missing_left = rng.Uniform() < 0.5;
  node.left = static_cast<uint16_t>(tree.size());
  tree[at] = node;
  tree.resize(tree.size() + 2);
  const double middle = (low + high) / 2;
  const bool at_threshold = node.feature == kFeatures;
  Grow(rng, node.left, depth - 1, at_threshold ? middle : low, high, tree);
  Grow(rng, node.left + size_t{1}, depth - 1, low, at_threshold ? middle : high, tree);
}

std::vector<BoostedForest::Tree> RandomTrees(uint64_t seed) {
  std::vector<BoostedForest::Tree> trees;
  for (uint64_t t = 0; t < 20; ++t) {
    Rng rng = Rng(seed).Fork(t);
    Grow(rng, 0, 6, -1, 1, trees.emplace_back(1));
  }
  return trees;
}

double ScoreOf(const BoostedForest::Tree& tree, std::span<const float> features, float x) {
  size_t at = 0;
  while (tree[at].left != 0) {
    const BoostedForest::Node& node = tree[at];
    const float v = node.feature == kFeatures ? x : features[node.feature];
    const bool left = std::isnan(v) ? node.missing_left : v < node.value;
    at = node.left + (left ? 0U : 1U);
  }
  return tree[at].value;
}

TEST(BoostedForest, EvaluatesAllPointsOfTheGridAsTheTreesDoOneByOne) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<BoostedForest::Tree> trees = RandomTrees(seed);
    const auto forest = BoostedForest::Make(kFeatures, kGrid, trees);
    ASSERT_TRUE(forest.ok()) << forest.status();
    Rng rng(seed + 100);
    for (int i = 0; i < 20; ++i) {
      std::vector<float> features;
      for (size_t f = 0; f < kFeatures; ++f)
        features.push_back(rng.Uniform() < 0.2 ? std::numeric_limits<float>::quiet_NaN()
                                               : static_cast<float>(rng.Uniform(-2, 2)));
      std::vector<float> chances(kGrid.size());
      forest->Evaluate(features, chances);
      for (size_t k = 0; k < kGrid.size(); ++k) {
        double score = 0;
        for (const BoostedForest::Tree& tree : trees) score += ScoreOf(tree, features, kGrid[k]);
        EXPECT_NEAR(chances[k], 1 / (1 + std::exp(-score)), 1e-5) << seed << " " << k;
      }
    }
  }
}

TEST(BoostedForest, LoadsWhatItSaved) {
  const auto forest = BoostedForest::Make(kFeatures, kGrid, RandomTrees(5));
  ASSERT_TRUE(forest.ok());
  std::string bytes;
  ByteWriter out(&bytes);
  forest->Save(out);
  BoostedForest loaded;
  ByteReader in(bytes);
  ASSERT_TRUE(loaded.Load(in).ok());
  EXPECT_EQ(in.remaining(), 0);
  const float features[] = {0.5F, -1, 1};
  std::vector<float> expected(kGrid.size()), found(kGrid.size());
  forest->Evaluate(features, expected);
  loaded.Evaluate(features, found);
  EXPECT_EQ(found, expected);
  for (size_t cut = 0; cut < bytes.size(); cut += 7) {
    ByteReader short_in(std::string_view(bytes).substr(0, cut));
    EXPECT_FALSE(loaded.Load(short_in).ok()) << cut;
  }
  loaded.Evaluate(features, found);
  EXPECT_EQ(found, expected);
}

TEST(BoostedForest, LoadedBytesOfAnyKindAreSafeToEvaluate) {
  const auto forest = BoostedForest::Make(kFeatures, kGrid, RandomTrees(6));
  ASSERT_TRUE(forest.ok());
  std::string bytes;
  ByteWriter out(&bytes);
  forest->Save(out);
  Rng rng(1);
  const float features[] = {0, 0, 0};
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = bytes;
    for (int n = 0; n < 3; ++n) damaged[rng.Below(damaged.size())] = static_cast<char>(rng.Below(256));
    BoostedForest loaded;
    ByteReader in(damaged);
    if (!loaded.Load(in).ok() || loaded.empty() || loaded.features() != kFeatures) continue;
    std::vector<float> chances(loaded.grid().size());
    loaded.Evaluate(features, chances);
  }
}

TEST(BoostedForest, RejectsImpossibleTrees) {
  const auto made = [](BoostedForest::Tree tree) {
    return BoostedForest::Make(kFeatures, kGrid, {{tree}}).ok();
  };
  EXPECT_TRUE(made({{0.5F, 0, 0, false}}));
  EXPECT_FALSE(made({}));
  EXPECT_FALSE(made({{0, 1, 0, false}}));                        // no children
  EXPECT_FALSE(made({{0, 1, kFeatures + 1, false}, {}, {}}));    // no such feature
  EXPECT_FALSE(made({{0, 1, 0, false}, {0, 1, 0, false}, {}}));  // a node is its own child
  EXPECT_FALSE(made({{std::numeric_limits<float>::quiet_NaN(), 0, 0, false}}));
  EXPECT_FALSE(BoostedForest::Make(kFeatures, {}, {}).ok());
  EXPECT_FALSE(BoostedForest::Make(kFeatures, {1, 0}, {}).ok());
}

}  // namespace
}  // namespace taut
