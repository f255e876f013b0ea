#include "server/config/settings_file.h"

#include <algorithm>
#include <string_view>

#include "brain/recommend/policy.h"
#include "gtest/gtest.h"

namespace taut::server {
namespace {

TEST(SettingsFile, EveryRecommenderSweepsSettingsThatThereAre) {
  for (const brain::PolicyInfo& p : brain::Policies()) {
    for (const std::string_view axis : p.sweep) {
      const size_t equals = axis.find('=');
      ASSERT_NE(equals, std::string_view::npos) << axis;
      for (size_t from = equals + 1; from < axis.size();) {
        const size_t comma = std::min(axis.find(',', from), axis.size());
        brain::VerticalSettings settings;
        EXPECT_TRUE(SetSetting(axis.substr(0, equals), axis.substr(from, comma - from), settings).ok())
            << p.name << ": " << axis;
        from = comma + 1;
      }
    }
  }
}

}  // namespace
}  // namespace taut::server
