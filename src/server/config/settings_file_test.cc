#include "server/config/settings_file.h"

#include <algorithm>
#include <string_view>

#include "brain/recommend/policy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SettingsFile, EveryRecommenderSweepsSettingsThatThereAre) {
  for (const brain::PolicyInfo& p : brain::Policies()) {
    for (const std::string_view axis : p.sweep) {
      const size_t equals = axis.find('=');
      ASSERT_NE(equals, std::string_view::npos) << axis;
      for (size_t from = equals + 1; from < axis.size();) {
        const size_t comma = std::min(axis.find(',', from), axis.size());
        brain::VerticalSettings settings;
        SettingNotices notices;
        EXPECT_TRUE(brain::SetVerticalSetting(axis.substr(0, equals), axis.substr(from, comma - from),
                                              settings, &notices)
                        .ok())
            << p.name << ": " << axis;
        EXPECT_THAT(notices, IsEmpty());
        from = comma + 1;
      }
    }
  }
}

TEST(SettingsFile, ReadsValuesWithUnits) {
  SettingsFile file;
  ASSERT_TRUE(ParseSettings("moving_window: {cpu_half_life: 90m, peak_window: 4d}\nvpa: {min_memory: 16MiB, "
                            "margin: 15%}\nensemble.half_lives: [1h, 2d]\nanalogs.raise_for: 30m\n"
                            "analogs.min_history: 2w\nmemory.upper: none\n",
                            "s.yaml", file)
                  .ok());
  EXPECT_EQ(file.settings.moving_window.cpu_half_life_s, 5400);
  EXPECT_EQ(file.settings.moving_window.peak_days, 4);
  EXPECT_EQ(file.settings.vpa.min_memory_bytes, 16 << 20);
  EXPECT_EQ(file.settings.vpa.margin, 0.15);
  EXPECT_THAT(file.settings.ensemble.half_lives_s, ElementsAre(3600, 2 * 86'400));
  EXPECT_EQ(file.settings.analogs.raise_hours, 0.5);
  EXPECT_EQ(file.settings.analogs.min_days, 14);
  EXPECT_THAT(file.notices, IsEmpty());
}

// Parses a file of an earlier version, with the unit in the key.
TEST(SettingsFile, ReadsOldKeysWithANoticeEach) {
  SettingsFile file;
  ASSERT_TRUE(ParseSettings("moving_window: {cpu_half_life_h: 1.5}\nvpa:\n  min_memory_mib: 16\n"
                            "ensemble: {half_lives_h: [1, 48]}\ncpu: {upper_cores: none}\npeak: {days: 4}\n",
                            "s.yaml", file)
                  .ok());
  EXPECT_EQ(file.settings.moving_window.cpu_half_life_s, 5400);
  EXPECT_EQ(file.settings.vpa.min_memory_bytes, 16 << 20);
  EXPECT_THAT(file.settings.ensemble.half_lives_s, ElementsAre(3600, 2 * 86'400));
  EXPECT_EQ(file.settings.peak.days, 4);
  EXPECT_THAT(
      file.notices,
      ElementsAre(
          "s.yaml:1: moving_window.cpu_half_life_h is now moving_window.cpu_half_life; write "
          "moving_window.cpu_half_life: 90m",
          "s.yaml:3: vpa.min_memory_mib is now vpa.min_memory; write vpa.min_memory: 16MiB",
          "s.yaml:4: ensemble.half_lives_h is now ensemble.half_lives; write ensemble.half_lives: [1h, 2d]",
          "s.yaml:5: cpu.upper_cores is now cpu.upper; write cpu.upper: none",
          "s.yaml:6: peak.days is now peak.window; write peak.window: 4d"));
}

TEST(SettingsFile, WhatIsWrittenIsReadBackToTheSame) {
  SettingsFile file;
  file.settings.moving_window.cpu_half_life_s = 0.7 * 3600;
  file.settings.vpa.min_memory_bytes = 1234567;
  file.settings.analogs.raise_hours = 0.35;
  SettingsFile again;
  ASSERT_TRUE(ParseSettings(WriteSettings(file.settings, /*only_changed=*/true), "s.yaml", again).ok());
  EXPECT_EQ(again.settings.moving_window.cpu_half_life_s, file.settings.moving_window.cpu_half_life_s);
  EXPECT_EQ(again.settings.vpa.min_memory_bytes, 1234567);
  EXPECT_EQ(again.settings.analogs.raise_hours, 0.35);
}

}  // namespace
}  // namespace taut::server
