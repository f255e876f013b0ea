#include "brain/fleet/recent_peaks.h"

#include <gtest/gtest.h>

#include <string>

namespace taut::brain {
namespace {

TEST(RecentPeaks, TheHighestOfTheLastSlicesCounts) {
  RecentPeaks peaks;
  EXPECT_EQ(peaks.Highest(10), std::nullopt);
  peaks.Note(10, 50);
  peaks.Note(10, 40);
  EXPECT_EQ(peaks.Highest(10), 50);
  peaks.Note(13, 30);
  EXPECT_EQ(peaks.Highest(17), 50);
  EXPECT_EQ(peaks.Highest(18), 30);
  EXPECT_EQ(peaks.Highest(21), std::nullopt);
  peaks.Note(40, 5);
  EXPECT_EQ(peaks.Highest(40), 5) << "all slices between have none";
  peaks.Note(20, 500);  // Note ignores this call, because the slice is too old
  EXPECT_EQ(peaks.Highest(40), 5);
  peaks.Note(39, 7);
  EXPECT_EQ(peaks.Highest(40), 7);
}

TEST(RecentPeaks, SurviveSaveAndLoad) {
  RecentPeaks peaks;
  peaks.Note(-3, 50);
  std::string bytes;
  ByteWriter out(&bytes);
  peaks.Save(out);
  RecentPeaks again;
  EXPECT_TRUE(again.empty());
  ByteReader in(bytes);
  again.Load(in);
  EXPECT_EQ(again.Highest(0), 50);
  EXPECT_FALSE(again.empty());
}

}  // namespace
}  // namespace taut::brain
