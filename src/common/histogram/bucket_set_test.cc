// Compares the sparse array with std::map.
#include "common/histogram/bucket_set.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "common/base/bytes.h"

namespace taut {
namespace {

using Model = std::map<Bucket, std::vector<float>>;

void CheckEqual(const BucketFloats& real, const Model& model) {
  RC_ASSERT(real.size() == static_cast<int>(model.size()));
  RC_ASSERT(real.empty() == model.empty());
  RC_ASSERT(real.values().size() == model.size() * static_cast<size_t>(real.stride()));
  const auto row_is = [&](const float* row, const std::vector<float>& wanted) {
    return std::equal(wanted.begin(), wanted.end(), row);
  };
  auto it = model.begin();
  int rank = 0;
  real.ForEach([&](Bucket b, const float* row) {
    RC_ASSERT(b == it->first);
    RC_ASSERT(row_is(row, it->second));
    RC_ASSERT(real.Find(b) == row);
    RC_ASSERT(row == real.values().data() + rank++ * real.stride());
    ++it;
  });
  auto down = model.rbegin();
  real.Descending([&](Bucket b, const float* row) {
    RC_ASSERT(b == down->first);
    RC_ASSERT(row_is(row, down->second));
    ++down;
    return true;
  });
  RC_ASSERT(down == model.rend());
  for (Bucket b = 0; b < Grid::kMaxBuckets; ++b) {
    RC_ASSERT(real.Contains(b) == (model.count(b) > 0));
    RC_ASSERT((real.Find(b) != nullptr) == (model.count(b) > 0));
  }
  if (!model.empty()) {
    RC_ASSERT(real.Lowest() == model.begin()->first);
    RC_ASSERT(real.Highest() == model.rbegin()->first);
  }
}

RC_GTEST_PROP(BucketFloats, BehavesAsAMap, ()) {
  const int stride = *rc::gen::element(1, 3, 8);
  BucketFloats real(stride);
  Model model;
  const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 20), rc::gen::inRange(0, Grid::kMaxBuckets)));
  float value = 1;
  for (const auto& [what, n] : steps) {
    const auto b = static_cast<Bucket>(n);
    if (what == 0) {
      const int rest = n % 3;  // clang 14 captures no structured bindings
      real.EraseIf([&](Bucket at, const float*) { return at % 3 == rest; });
      std::erase_if(model, [&](const auto& e) { return e.first % 3 == rest; });
    } else if (what == 1) {
      BucketFloats copy(real);
      real.Clear();
      RC_ASSERT(real.empty() && real.heap_bytes() == 0);
      real = std::move(copy);
    } else {
      real.FindOrInsert(b)[n % stride] += value;
      auto& row = model[b];
      row.resize(static_cast<size_t>(stride));
      row[static_cast<size_t>(n % stride)] += value;
      value += 1;
    }
  }
  CheckEqual(real, model);

  std::string bytes;
  ByteWriter out(&bytes);
  real.Save(out);
  BucketFloats loaded(stride);
  ByteReader in(bytes);
  RC_ASSERT(loaded.Load(in, Grid::kMaxBuckets).ok());
  RC_ASSERT(in.remaining() == 0U);
  RC_ASSERT(loaded == real);
  CheckEqual(loaded, model);
}

TEST(BucketFloats, DescendingStopsWhenTold) {
  BucketFloats set;
  for (const Bucket b : {5, 70, 399}) *set.FindOrInsert(b) = b;
  std::vector<Bucket> seen;
  set.Descending([&](Bucket b, const float*) {
    seen.push_back(b);
    return seen.size() < 2;
  });
  EXPECT_EQ(seen, (std::vector<Bucket>{399, 70}));
}

TEST(BucketFloats, StaysSmall) {
  EXPECT_LE(sizeof(BucketFloats), 88U);
  BucketFloats set;
  for (int b = 100; b < 150; ++b) *set.FindOrInsert(static_cast<Bucket>(b)) = 1;
  EXPECT_LE(set.heap_bytes(), 58 * sizeof(float));
  set.EraseIf([](Bucket b, const float*) { return b >= 110; });
  EXPECT_EQ(set.heap_bytes(), 10 * sizeof(float));
  set.EraseIf([](Bucket, const float*) { return true; });
  EXPECT_EQ(set.heap_bytes(), 0U);
  EXPECT_EQ(*set.FindOrInsert(7), 0.0F);
}

TEST(BucketFloats, RefusesBucketsBeyondTheGridAndValuesThatAreNoWeights) {
  const auto load = [](std::vector<uint64_t> varints, std::vector<float> values) {
    std::string bytes;
    ByteWriter out(&bytes);
    for (const uint64_t v : varints) out.PutVarint(v);
    out.PutString({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
    BucketFloats set;
    ByteReader in(bytes);
    const absl::Status status = set.Load(in, 321);
    EXPECT_EQ(set.empty(), !status.ok() || varints[0] == 0);
    return status.code();
  };
  EXPECT_EQ(load({2, 319, 0}, {1, 2}), absl::StatusCode::kOk);
  EXPECT_EQ(load({2, 320, 0}, {1, 2}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load({1, 321}, {1}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load({1, UINT64_MAX}, {1}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load({2, 0, UINT64_MAX}, {1, 2}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load({322}, {}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load({1, 0}, {1, 2}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load({1, 0}, {-1}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load({1, 0}, {std::bit_cast<float>(0x7fc00000)}), absl::StatusCode::kDataLoss);
  EXPECT_EQ(load({1, 0}, {std::bit_cast<float>(0x7f800000)}), absl::StatusCode::kDataLoss);
}

TEST(BucketFloats, AreEqualOnlyInEachBucketAndValue) {
  const auto filled = [](Bucket second, float last) {
    BucketFloats out(2);
    for (const Bucket b : {Bucket{3}, second}) out.FindOrInsert(b)[0] = 1;
    out.FindOrInsert(second)[1] = last;
    return out;
  };
  EXPECT_TRUE(filled(9, 5) == filled(9, 5));
  EXPECT_FALSE(filled(9, 5) == filled(9, 6));
  EXPECT_FALSE(filled(9, 5) == filled(8, 5));
  EXPECT_FALSE(filled(9, 5) == BucketFloats(2));
  EXPECT_FALSE(BucketFloats(1) == BucketFloats(2));
}

TEST(BucketFloats, GrowByHalfAndByEightRowsAtMost) {
  BucketFloats set;
  std::vector<size_t> rows = {0};
  for (Bucket b = 0; b < 35; ++b) {
    *set.FindOrInsert(b) = 1;
    const size_t now = set.heap_bytes() / sizeof(float);
    if (now != rows.back()) rows.push_back(now);
  }
  EXPECT_EQ(rows, (std::vector<size_t>{0, 4, 8, 12, 18, 26, 34, 42}));
}

TEST(BucketFloats, OfAFullGridComeBack) {
  BucketFloats full, loaded;
  for (Bucket b = 0; b < 321; ++b) *full.FindOrInsert(b) = b;
  std::string bytes;
  ByteWriter out(&bytes);
  full.Save(out);
  ByteReader in(bytes);
  ASSERT_TRUE(loaded.Load(in, 321).ok());
  EXPECT_TRUE(loaded == full);
  ByteReader again(bytes);
  EXPECT_EQ(BucketFloats().Load(again, 320).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace taut
