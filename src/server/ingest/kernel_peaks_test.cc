#include "server/ingest/kernel_peaks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/byte_units.h"
#include "server/ingest/ingest.h"

namespace taut::server {
namespace {

constexpr int64_t kPeaksStart = 1'700'000'100;

class PeakCell {
 public:
  void Take(const char* pod, const char* container, double bytes, int minute) {
    const std::vector<LabelView> labels = {{"__name__", "container_memory_max_usage_bytes"},
                                           {"container", container},
                                           {"namespace", "shop"},
                                           {"pod", pod}};
    const RemoteSample sample{bytes, (kPeaksStart + minute * 60) * 1000};
    ingest_.Take({labels, {&sample, 1}, Fingerprint(labels)}, Timestamp{sample.timestamp_ms * 1000});
  }
  // Returns the only job's highest peak that rose or was first seen, MiB; 0: none.
  double Risen() {
    const std::vector<KernelPeak> peaks = ingest_.windows().TakeKernelPeaks(ingest_.mapper());
    EXPECT_LE(peaks.size(), 1U);
    if (peaks.empty()) return 0;
    double highest = peaks[0].bytes;
    for (const float met : peaks[0].met) highest = std::max(highest, double{met});
    return highest / kMiB;
  }
  Ingest& ingest() { return ingest_; }

 private:
  Ingest ingest_{*MappingRules::Compile(BuiltinRules()), Ingest::Options()};
};

TEST(KernelPeaks, ARestartedContainerBeginsAnew) {
  PeakCell cell;
  cell.Take("web-0", "app", 100 * kMiB, 0);
  cell.Take("web-0", "mesh", 20 * kMiB, 0);
  EXPECT_EQ(cell.Risen(), 120);
  cell.Take("web-0", "app", 100 * kMiB, 1);
  EXPECT_EQ(cell.Risen(), 0);
  cell.Take("web-0", "app", 10 * kMiB, 2);
  EXPECT_EQ(cell.Risen(), 0) << "another start";
  cell.Take("web-0", "app", 30 * kMiB, 3);
  EXPECT_EQ(cell.Risen(), 50);
}

TEST(KernelPeaks, WhatAnAgentReportsGoesBeforeSeries) {
  PeakCell cell;
  const std::optional<uint32_t> slot =
      cell.ingest().TaskSlot("shop/pod/web-0", "web-0", {}, Timestamp::FromSeconds(kPeaksStart));
  ASSERT_TRUE(slot.has_value());
  cell.Take("web-0", "app", 100 * kMiB, 0);
  ReportedWindow window;
  window.window = WindowId::Of(Timestamp::FromSeconds(kPeaksStart));
  window.figures.memory_mean_bytes = window.figures.memory_peak_bytes = 1e6F;
  window.memory_kernel_peak_bytes = static_cast<float>(110 * kMiB);
  ASSERT_TRUE(cell.ingest().TakeWindow(*slot, window, Timestamp::FromSeconds(kPeaksStart + 300)));
  const std::vector<KernelPeak> peaks = cell.ingest().windows().TakeKernelPeaks(cell.ingest().mapper());
  double highest = 0;
  for (const KernelPeak& job : peaks) {
    for (const float peak : job.met) highest = std::max(highest, double{peak});
  }
  EXPECT_EQ(highest / kMiB, 110);
}

// The peak of a task that is seen for the first time may be from before a restart, unlike a peak that rises. The
// result therefore lists the two kinds of peaks separately.
TEST(KernelPeaks, ThoseOfTasksThatAreMetFirstAreToldApart) {
  PeakCell cell;
  cell.Take("web-0", "app", 100 * kMiB, 0);
  cell.Take("web-0", "mesh", 20 * kMiB, 0);
  const std::vector<KernelPeak> first = cell.ingest().windows().TakeKernelPeaks(cell.ingest().mapper());
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].bytes, 0);
  EXPECT_THAT(first[0].met, testing::ElementsAre(120 * kMiB));
  cell.Take("web-0", "app", 130 * kMiB, 1);
  const std::vector<KernelPeak> grown = cell.ingest().windows().TakeKernelPeaks(cell.ingest().mapper());
  ASSERT_EQ(grown.size(), 1U);
  EXPECT_EQ(grown[0].bytes, 150 * kMiB);
  EXPECT_THAT(grown[0].met, testing::IsEmpty());
  EXPECT_THAT(grown[0].standing, testing::ElementsAre(150 * kMiB));
}

TEST(KernelPeaks, AbsentAndAbsurdOnesAreNone) {
  PeakCell cell;
  cell.Take("web-0", "app", 0, 0);
  EXPECT_EQ(cell.Risen(), 0);
  cell.Take("web-0", "app", 40 * kMiB, 1);
  EXPECT_EQ(cell.Risen(), 40);
  EXPECT_EQ(cell.ingest().counts().accepted, 2U);
}

}  // namespace
}  // namespace taut::server
