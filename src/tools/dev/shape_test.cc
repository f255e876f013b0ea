// Tests of load shapes: values computed by hand, and errors of invalid texts.
#include "tools/dev/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "common/base/byte_units.h"
#include "common/base/strings.h"

namespace taut::tools {
namespace {

using testing::HasSubstr;

constexpr int64_t kMs = 1000, kOneSecond = 1'000'000;

LoadShape Memory(std::string_view text, double speed = 1) {
  LoadShape::Options options;
  options.speed = speed;
  absl::StatusOr<LoadShape> shape = LoadShape::Parse(text, LoadUnit::kBytes, options);
  EXPECT_TRUE(shape.ok()) << text << ": " << shape.status();
  return *shape;
}
LoadShape Cpu(std::string_view text, uint64_t seed = 1) {
  LoadShape::Options options;
  options.seed = seed;
  absl::StatusOr<LoadShape> shape = LoadShape::Parse(text, LoadUnit::kCores, options);
  EXPECT_TRUE(shape.ok()) << text << ": " << shape.status();
  return *shape;
}
std::string Error(std::string_view text, LoadUnit unit = LoadUnit::kBytes) {
  const absl::StatusOr<LoadShape> shape = LoadShape::Parse(text, unit, {});
  EXPECT_FALSE(shape.ok()) << text;
  return shape.ok() ? "" : std::string(Message(shape.status()));
}

TEST(LoadShape, Constant) {
  EXPECT_EQ(Memory("64MiB").At(0), 64 * kMiB);
  EXPECT_EQ(Memory("64MiB").At(1'000 * kOneSecond), 64 * kMiB);
  EXPECT_EQ(Memory("64MiB").At(-1), 0);
  EXPECT_EQ(Memory("4096").At(0), 4096);
  EXPECT_EQ(Memory("1.5KiB").At(0), 1536);
  EXPECT_EQ(Cpu("0.3").At(5), 0.3);
  EXPECT_EQ(Cpu("0").At(5), 0);
}

TEST(LoadShape, Grow) {
  const LoadShape shape = Memory("grow:32MiB..256MiB/60s");
  EXPECT_EQ(shape.At(0), 32 * kMiB);
  EXPECT_EQ(shape.At(30 * kOneSecond), 144 * kMiB);
  EXPECT_EQ(shape.At(60 * kOneSecond), 256 * kMiB);
  EXPECT_EQ(shape.At(600 * kOneSecond), 256 * kMiB);
  EXPECT_EQ(Memory("grow:3MiB..1MiB/2s").At(kOneSecond), 2 * kMiB);
}

TEST(LoadShape, Double) {
  const LoadShape shape = Memory("double:32MiB/20s");
  EXPECT_EQ(shape.At(20 * kOneSecond - 1), 32 * kMiB);
  EXPECT_EQ(shape.At(20 * kOneSecond), 64 * kMiB);
  EXPECT_EQ(shape.At(120 * kOneSecond), 2048 * kMiB);
  EXPECT_EQ(shape.At(9'000 * kOneSecond), 2048 * kMiB);
  EXPECT_EQ(Memory("double:32MiB/500msx2").At(9'000 * kOneSecond), 128 * kMiB);
}

TEST(LoadShape, Leak) {
  EXPECT_EQ(Memory("leak:1MiB/s").At(2500 * kMs), 2.5 * kMiB);
  EXPECT_EQ(Memory("leak:64MiB+10MiB/2s").At(kOneSecond), 69 * kMiB);
  EXPECT_EQ(Memory("leak:16TiB/ms").At(kOneSecond), LoadShape::kMaxBytes);
}

TEST(LoadShape, SpikeAndDuty) {
  const LoadShape spike = Memory("spike:64MiB+200MiB/30s:2s");
  EXPECT_EQ(spike.At(0), 64 * kMiB);
  EXPECT_EQ(spike.At(30 * kOneSecond - 1), 64 * kMiB);
  EXPECT_EQ(spike.At(30 * kOneSecond), 264 * kMiB);
  EXPECT_EQ(spike.At(32 * kOneSecond), 64 * kMiB);
  EXPECT_EQ(spike.At(61 * kOneSecond), 264 * kMiB);
  const LoadShape duty = Cpu("duty:0.8/100ms:30%");
  EXPECT_EQ(duty.At(0), 0.8);
  EXPECT_EQ(duty.At(30 * kMs - 1), 0.8);
  EXPECT_EQ(duty.At(30 * kMs), 0);
  EXPECT_EQ(duty.At(101 * kMs), 0.8);
  EXPECT_EQ(Cpu("duty:0.8/100ms:30ms").At(30 * kMs), 0);
}

TEST(LoadShape, StepAndFall) {
  EXPECT_EQ(Cpu("step:0.2..0.8@30s").At(30 * kOneSecond - 1), 0.2);
  EXPECT_EQ(Cpu("step:0.2..0.8@30s").At(30 * kOneSecond), 0.8);
  EXPECT_EQ(Memory("fall:400MiB..80MiB@20s").At(19 * kOneSecond), 400 * kMiB);
  EXPECT_EQ(Memory("fall:400MiB..80MiB@20s").At(21 * kOneSecond), 80 * kMiB);
}

TEST(LoadShape, Day) {
  const LoadShape real = Memory("day:50MiB..200MiB");
  EXPECT_EQ(real.At(0), 50 * kMiB);
  EXPECT_NEAR(real.At(43'200 * kOneSecond), 200 * kMiB, 1);
  EXPECT_NEAR(real.At(21'600 * kOneSecond), 125 * kMiB, 1);
  const LoadShape fast = Memory("day:50MiB..200MiB", 864);  // a day in 100 s
  EXPECT_NEAR(fast.At(50 * kOneSecond), 200 * kMiB, 1);
  EXPECT_NEAR(fast.At(100 * kOneSecond), 50 * kMiB, 1);
}

TEST(LoadShape, NoiseIsTheSameForTheSameSeed) {
  const LoadShape noisy = Cpu("0.5~10%");
  int different = 0;
  for (int s = 0; s < 100; ++s) {
    const double at = noisy.At(s * kOneSecond);
    EXPECT_NEAR(at, 0.5, 0.05);
    EXPECT_EQ(at, noisy.At(s * kOneSecond + 999'999));
    EXPECT_EQ(at, Cpu("0.5~10%").At(s * kOneSecond));
    if (at != Cpu("0.5~10%", 2).At(s * kOneSecond)) ++different;
  }
  EXPECT_GT(different, 90);
}

TEST(LoadShape, Times) {
  EXPECT_EQ(*ParseLoadTimeUs("100ms"), 100 * kMs);
  EXPECT_EQ(*ParseLoadTimeUs("1.5"), 1500 * kMs);
  EXPECT_EQ(*ParseLoadTimeUs("s"), kOneSecond);
  EXPECT_EQ(*ParseLoadTimeUs("2m"), 120 * kOneSecond);
  EXPECT_EQ(*ParseLoadTimeUs("1h"), 3600 * kOneSecond);
  for (const char* text : {"", "0s", "0", "-1s", "1d", "s1", "1..2s", "1e3s", "20000h", "nan", " 1s"}) {
    EXPECT_FALSE(ParseLoadTimeUs(text).ok()) << text;
  }
}

TEST(LoadShape, NonsenseIsToldWhatIsWrong) {
  for (const char* text : {"", "lots", "grwo:1MiB..2MiB/3s", ":", ":64MiB", "-1MiB", "~10%"}) {
    EXPECT_THAT(Error(text), HasSubstr("is not a memory shape; expected 64MiB, grow:32MiB..256MiB/60s, "))
        << text;
  }
  EXPECT_EQ(Error("grow:32MiB-256MiB/60s"),
            "the memory shape \"grow:32MiB-256MiB/60s\": missing \"..\"; example: "
            "grow:32MiB..256MiB/60s");
  EXPECT_THAT(Error("64Mb"),
              HasSubstr("\"64Mb\" is not an amount of memory; expected one such as 64MiB; example: 64MiB"));
  EXPECT_THAT(Error("64MiB", LoadUnit::kCores),
              HasSubstr("is not a number of cores; expected one such as 0.3"));
  EXPECT_THAT(Error("17TiB"), HasSubstr("more than 16TiB"));
  EXPECT_THAT(Error("1025", LoadUnit::kCores), HasSubstr("more than 1024 cores"));
  EXPECT_THAT(Error("grow:1MiB..2MiB/0s"), HasSubstr("\"0s\" is not a duration; expected 100ms"));
  EXPECT_THAT(Error("double:1MiB/2sx0"), HasSubstr("\"0\" is not a number of doublings"));
  EXPECT_THAT(Error("double:1MiB/2sx2.5"), HasSubstr("\"2.5\" is not a number of doublings"));
  EXPECT_THAT(Error("spike:1MiB+1MiB/2s:3s"), HasSubstr("\"3s\" is longer than the period that contains it"));
  EXPECT_THAT(Error("duty:0.5/1s:130%", LoadUnit::kCores), HasSubstr("\"130%\" is not a share"));
  EXPECT_THAT(Error("fall:1MiB..2MiB@3s"), HasSubstr("the amount rises"));
  EXPECT_THAT(Error("64MiB~lots"), HasSubstr("\"lots\" is not a share"));
  EXPECT_THAT(Error("64MiB~"), HasSubstr("\"\" is not a share"));
  EXPECT_THAT(Error("1e400"), HasSubstr("is not an amount of memory"));
}

// Parse() returns finite amounts within the limits, or an error that contains the text.
RC_GTEST_PROP(LoadShape, AnyTextIsTakenOrRefused, ()) {
  std::string text;
  for (const auto& piece : *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
           "grow:", "double:", "leak:", "spike:", "duty:", "step:", "fall:", "day:", "1MiB", "3", "..", "/",
           "+", ":", "@", "x", "2s", "50ms", "7", "30%", "~", "9"))) {
    text += piece;
  }
  const auto unit = *rc::gen::element(LoadUnit::kBytes, LoadUnit::kCores);
  const absl::StatusOr<LoadShape> shape = LoadShape::Parse(text, unit, {});
  if (!shape.ok()) {
    RC_ASSERT(Message(shape.status()).find(text) != std::string_view::npos);
    return;
  }
  for (const int64_t t_us : {int64_t{0}, kMs, kOneSecond, 90 * kOneSecond, 1'000'000 * kOneSecond}) {
    RC_ASSERT(shape->At(t_us) >= 0);
    RC_ASSERT(shape->At(t_us) <= (unit == LoadUnit::kBytes ? LoadShape::kMaxBytes : LoadShape::kMaxCores));
  }
}

}  // namespace
}  // namespace taut::tools
