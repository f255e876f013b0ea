// Tests of stories: a packed heatmap can be unpacked, long stories add up columns, and limits keep their steps.
#include "tools/report/story_json.h"

#include <cmath>
#include <map>
#include <numeric>

#include "common/base/byte_units.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "rapidcheck.h"
#include "rapidcheck/gtest.h"
#include "tools/report/report_json.h"

namespace taut::tools {
namespace {

using nlohmann::json;

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";

json Written(const JobStory& story) {
  JsonWriter writer;
  WriteStory(story, &writer);
  return json::parse(writer.Take());
}

// Unpacks a column as the page does. Returns the level of each bucket.
std::map<size_t, size_t> Unpack(const std::string& packed) {
  std::map<size_t, size_t> levels;
  if (packed.empty()) return levels;
  size_t bucket = kDigits.find(packed[0]) * 64 + kDigits.find(packed[1]);
  for (size_t i = 2; i < packed.size(); ++i) {
    if (packed[i] == '.') {
      bucket += kDigits.find(packed[++i]);
      continue;
    }
    if (const size_t level = kDigits.find(packed[i]); level > 0) levels[bucket] = level;
    ++bucket;
  }
  return levels;
}

JobStory StoryOf(std::vector<JobStory::Column> columns) {
  JobStory story;
  story.job = "job";
  story.start_s = 86400;
  story.column_s = 3600;
  story.columns = std::move(columns);
  return story;
}

TEST(StoryJsonTest, PacksSharesOnALogScale) {
  const json story = Written(StoryOf({{{{3, 1}, {4, 998}, {200, 1}}, kGiB}, {}, {{{384, 5}}, 2 * kGiB}}));
  const auto first = Unpack(story["heat"][0].get<std::string>());
  EXPECT_EQ(first, (std::map<size_t, size_t>{{3, 1}, {4, 63}, {200, 1}}));
  EXPECT_EQ(story["heat"][1], "");
  EXPECT_EQ(Unpack(story["heat"][2].get<std::string>()), (std::map<size_t, size_t>{{384, 63}}));
  EXPECT_EQ(story["peak"], json::parse("[1, null, 2]"));
}

RC_GTEST_PROP(StoryJsonTest, UnpacksToTheBucketsThatWentIn, (const std::map<uint16_t, uint8_t>& raw)) {
  JobStory::Column column;
  std::map<size_t, double> weights;
  for (const auto& [bucket, weight] : raw) weights[bucket % 385U] += weight;
  double total = 0;
  for (const auto& [bucket, weight] : weights) {
    column.buckets.push_back({static_cast<Bucket>(bucket), static_cast<float>(weight)});
    total += weight;
  }
  const auto levels = Unpack(Written(StoryOf({column}))["heat"][0].get<std::string>());
  for (const auto& [bucket, weight] : weights) {
    RC_ASSERT(levels.count(bucket) == (weight > 0 ? 1U : 0U));
    if (!(weight > 0)) continue;
    const double level = std::max(1.0, 1 + 62 * (1 + std::log10(weight / total) / 3));
    RC_ASSERT(std::abs(static_cast<double>(levels.at(bucket)) - level) <= 0.5 + 1e-9);
  }
  for (const auto& [bucket, level] : levels) RC_ASSERT(weights.count(bucket) == 1U);
}

TEST(StoryJsonTest, AddsUpColumnsTooFineToDraw) {
  std::vector<JobStory::Column> columns;
  for (size_t i = 0; i < 2 * kMaxStoryColumns + 1; ++i) {
    columns.push_back({{{static_cast<Bucket>(i % 2 == 0 ? 10 : 11), 1}}, static_cast<float>(kGiB * (i % 3))});
  }
  const json story = Written(StoryOf(columns));
  EXPECT_EQ(story["dt"], 3 * 3600);
  EXPECT_EQ(story["heat"].size(), (columns.size() + 2) / 3);
  const auto levels = Unpack(story["heat"][0].get<std::string>());  // merges buckets 10, 11, 10
  EXPECT_GT(levels.at(10), levels.at(11));
  EXPECT_EQ(story["peak"][0], 2);
}

TEST(StoryJsonTest, LimitsKeepTheirStepsAndGaps) {
  JobStory story = StoryOf({});
  story.limits = {{brain::Policy::kVpa, {{86400, 1.0 * kGiB}, {87000, std::nullopt}, {90000, 0.5 * kGiB}}}};
  story.ooms = {{brain::Policy::kVpa, 86700}, {brain::Policy::kPeak, 87000}, {brain::Policy::kVpa, 90300}};
  const json line = Written(story)["lines"][0];
  const auto t = line["t"].get<std::vector<int64_t>>();
  EXPECT_EQ(t, (std::vector<int64_t>{288, 2, 10}));
  EXPECT_EQ(std::accumulate(t.begin(), t.end(), int64_t{0}) * kWindowSeconds, 90000);
  EXPECT_EQ(line["v"], json::parse("[1, null, 0.5]"));
  EXPECT_EQ(line["ooms"], json::parse("[289, 12]"));
}

}  // namespace
}  // namespace taut::tools
