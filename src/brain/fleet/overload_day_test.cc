#include "brain/fleet/overload_day.h"

#include <string>

#include "gtest/gtest.h"

namespace taut::brain {
namespace {

TEST(OverloadDay, CountsTheLastDay) {
  OverloadDay day;
  EXPECT_EQ(day.windows(), 0U);
  for (int32_t w = -100; w < 500; ++w) day.Add(WindowId{w}, w % 10 == 0);
  EXPECT_EQ(day.windows(), 288U);
  EXPECT_EQ(day.overloaded(), 28U) << "220, 230, ... 490";
  EXPECT_FALSE(day.now());
  day.Add(WindowId{500}, true);
  EXPECT_TRUE(day.now());
  EXPECT_EQ(day.overloaded(), 29U);
  day.Add(WindowId{500}, false);
  day.Add(WindowId{400}, false);
  EXPECT_EQ(day.overloaded(), 29U) << "seen already";
}

TEST(OverloadDay, WhatWasNotMeasuredDoesNotCount) {
  OverloadDay day;
  for (int32_t w = 0; w < 100; ++w) day.Add(WindowId{w}, true);
  day.Add(WindowId{300}, false);
  EXPECT_EQ(day.windows(), 88U) << "13 to 99, and 300";
  EXPECT_EQ(day.overloaded(), 87U);
  day.Add(WindowId{INT32_MAX}, false);
  EXPECT_EQ(day.windows(), 1U);
  EXPECT_EQ(day.overloaded(), 0U);
}

TEST(OverloadDay, IsSaved) {
  OverloadDay day, again;
  for (int32_t w = 0; w < 100; ++w) day.Add(WindowId{w}, w > 96);
  std::string bytes;
  ByteWriter out(&bytes);
  day.Save(out);
  for (size_t length = 0; length < bytes.size(); ++length) {
    ByteReader in(std::string_view(bytes).substr(0, length));
    EXPECT_FALSE(again.Load(in).ok()) << length;
    EXPECT_EQ(again.windows(), 0U);
  }
  ByteReader in(bytes);
  ASSERT_TRUE(again.Load(in).ok());
  EXPECT_TRUE(again.now());
  again.Add(WindowId{100}, false);
  EXPECT_EQ(again.windows(), 101U);
  EXPECT_EQ(again.overloaded(), 3U);
  bytes.back() = '\x7F';
  ByteReader damaged(bytes);
  EXPECT_FALSE(again.Load(damaged).ok()) << "overloaded and not measured";
}

}  // namespace
}  // namespace taut::brain
