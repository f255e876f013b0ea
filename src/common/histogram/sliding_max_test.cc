// Tests SlidingMax against a list of all values.
#include "common/histogram/sliding_max.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace taut {
namespace {

using Added = std::vector<std::pair<int32_t, Bucket>>;

std::optional<Bucket> NaiveMax(const Added& all, int32_t now, int32_t n) {
  std::optional<Bucket> max;
  for (const auto& [window, bucket] : all) {
    if (window > now - n && window <= now) max = std::max(max.value_or(0), bucket);
  }
  return max;
}

absl::StatusOr<SlidingMax> SavedAndLoaded(const SlidingMax& max) {
  std::string bytes;
  ByteWriter out(&bytes);
  max.Save(out);
  ByteReader in(bytes);
  absl::StatusOr<SlidingMax> loaded = SlidingMax::Load(in);
  if (loaded.ok() && in.remaining() != 0) return absl::InternalError("bytes are left");
  return loaded;
}

RC_GTEST_PROP(SlidingMax, IsTheMaximumOfEveryLastNInAnyOrder, ()) {
  const bool in_order = *rc::gen::arbitrary<bool>();
  auto all = *rc::gen::container<Added>(
      rc::gen::pair(rc::gen::inRange<int32_t>(-60, 60), rc::gen::inRange<Bucket>(0, 30)));
  if (in_order) std::sort(all.begin(), all.end());
  SlidingMax max;
  for (const auto& [window, bucket] : all) max.Add(window, bucket);
  RC_ASSERT(max.size() <= 30U);

  const absl::StatusOr<SlidingMax> loaded = SavedAndLoaded(max);
  RC_ASSERT(loaded.ok());
  for (const int32_t now : {60, 75, 200}) {
    for (int32_t n = 0; n <= 270; ++n) {
      RC_ASSERT(max.Max(now, n) == NaiveMax(all, now, n));
      RC_ASSERT(loaded->Max(now, n) == max.Max(now, n));
    }
  }
  const auto first = *rc::gen::inRange<int32_t>(-70, 70);
  max.ForgetBefore(first);
  std::erase_if(all, [&](const auto& a) { return a.first < first; });
  for (int32_t n = 0; n <= 60 - first; ++n) RC_ASSERT(max.Max(60, n) == NaiveMax(all, 60, n));
}

TEST(SlidingMax, TakesSixBytesPerDistinctBucketAtMost) {
  SlidingMax max;
  for (int32_t w = 0; w < 100'000; ++w) max.Add(w, static_cast<Bucket>(w * 7919 % 321));
  EXPECT_LE(max.size(), 321U);
  EXPECT_LE(max.state_bytes(), sizeof(SlidingMax) + 6 * 512);
}

TEST(SlidingMax, EndsOfTheWindowNumbers) {
  SlidingMax max;
  EXPECT_EQ(max.Max(5, 10), std::nullopt);
  max.Add(INT32_MIN, 7);
  max.Add(INT32_MAX, 3);
  EXPECT_EQ(max.Max(INT32_MAX, 1), 3);
  EXPECT_EQ(max.Max(INT32_MAX, INT32_MAX), 3);
  EXPECT_EQ(max.Max(INT32_MAX, 0), std::nullopt);
  std::string bytes;
  ByteWriter out(&bytes);
  max.Save(out);
  ByteReader in(bytes);
  const absl::StatusOr<SlidingMax> loaded = SlidingMax::Load(in);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->Max(INT32_MAX, 1), 3);
}

TEST(SlidingMax, LoadRefusesDisorder) {
  const auto load = [](std::vector<uint64_t> varints) {
    std::string bytes;
    ByteWriter out(&bytes);
    for (const uint64_t v : varints) out.PutVarint(v);
    ByteReader in(bytes);
    return SlidingMax::Load(in).status().code();
  };
  EXPECT_EQ(load({2, 5, 9, 1, 8}), absl::StatusCode::kOk);
  EXPECT_EQ(load({2, 5, 9, 0, 8}), absl::StatusCode::kDataLoss);  // the same window twice
  EXPECT_EQ(load({2, 5, 9, 1, 9}), absl::StatusCode::kDataLoss);  // the buckets do not descend
  EXPECT_EQ(load({1, 5, 400}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load({1, uint64_t{1} << 32, 4}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load({2, 5, 9, UINT64_MAX, 8}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load({2, 5, 9, 1}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load({1'000'000'000}), absl::StatusCode::kDataLoss);
}

TEST(SlidingMax, ForgetsBeforeAWindowButNotTheWindow) {
  SlidingMax max;
  max.Add(5, 9);
  max.Add(6, 7);
  max.ForgetBefore(5);
  EXPECT_EQ(max.Max(6, 2), 9);
  max.ForgetBefore(6);
  EXPECT_EQ(max.Max(6, 2), 7);
}

TEST(SlidingMax, AnEntryForEachBucketComesBack) {
  SlidingMax max;
  for (int32_t w = 0; w < Grid::kMaxBuckets; ++w) max.Add(w, static_cast<Bucket>(Grid::kMaxBuckets - 1 - w));
  EXPECT_EQ(max.size(), size_t{Grid::kMaxBuckets});
  const absl::StatusOr<SlidingMax> loaded = SavedAndLoaded(max);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->size(), max.size());
}

}  // namespace
}  // namespace taut
