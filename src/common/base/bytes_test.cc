// Tests that ByteReader returns the values that ByteWriter wrote, and that every read after the end of the bytes
// fails.
#include "common/base/bytes.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace taut {
namespace {

RC_GTEST_PROP(Bytes, RoundTrips, (std::vector<uint64_t> numbers, std::string text, int32_t i, double d)) {
  std::string bytes;
  ByteWriter out(&bytes);
  for (const uint64_t n : numbers) {
    const int shift = static_cast<int>(n % 64);
    out.PutVarint(n >> shift);
    out.Put(n);
  }
  out.PutString(text);
  out.Put(i);
  out.Put(d);
  const auto read = [&](ByteReader& in) {
    bool same = true;
    for (const uint64_t n : numbers) {
      same &= in.GetVarint() == n >> static_cast<int>(n % 64);
      same &= in.Get<uint64_t>() == n;
    }
    same &= in.GetString() == text;
    same &= in.Get<int32_t>() == i;
    same &= std::bit_cast<uint64_t>(in.Get<double>()) == std::bit_cast<uint64_t>(d);
    return same;
  };
  ByteReader in(bytes);
  RC_ASSERT(read(in));
  RC_ASSERT(!in.failed() && in.remaining() == 0U && in.status("all").ok());

  ByteReader cut(std::string_view(bytes).substr(0, *rc::gen::inRange<size_t>(0, bytes.size())));
  read(cut);
  RC_ASSERT(cut.failed());
  RC_ASSERT(cut.status("a record").code() == absl::StatusCode::kDataLoss);
}

TEST(Bytes, VarintsTakeSevenBitsAByte) {
  const auto size_of = [](uint64_t n) {
    std::string bytes;
    ByteWriter(&bytes).PutVarint(n);
    return bytes.size();
  };
  EXPECT_EQ(size_of(0), 1U);
  EXPECT_EQ(size_of(127), 1U);
  EXPECT_EQ(size_of(128), 2U);
  EXPECT_EQ(size_of(std::numeric_limits<uint64_t>::max()), 10U);
}

TEST(Bytes, AVarintThatNeverEndsFails) {
  ByteReader in(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12));
  EXPECT_EQ(in.failed(), false);
  in.GetVarint();
  EXPECT_TRUE(in.failed());
}

TEST(Bytes, OnceFailedAlwaysFailed) {
  ByteReader in(
      std::string_view("\x05"
                       "ab",
                       3));
  EXPECT_EQ(in.GetString(), "");
  EXPECT_TRUE(in.failed());
  EXPECT_EQ(in.Get<uint8_t>(), 0);
  const absl::Status status = in.status("the name of a job");
  EXPECT_NE(std::string(status.message()).find("the name of a job"), std::string::npos) << status;
}

}  // namespace
}  // namespace taut
