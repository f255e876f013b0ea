#include "server/config/changed_defaults.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "brain/overcommit/settings.h"
#include "brain/rollout/rules.h"
#include "common/base/strings.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/config/agent_config.h"
#include "server/config/daemon_config.h"
#include "server/config/settings_file.h"

namespace taut::server {
namespace {

using ::testing::HasSubstr;
using Texts = std::vector<std::pair<std::string, std::string>>;

// All settings of all files, with their defaults.
struct AllSettings {
  DaemonConfig daemon;
  brain::JobPolicy jobs;
  AgentConfig agent;
  brain::OvercommitSettings overcommit;

  Texts Show() const {
    Texts out;
    for (const DaemonSetting& s : DaemonSettingsTable()) out.emplace_back(s.key, GetSetting(s, daemon));
    for (const brain::JobSetting& s : brain::JobSettingsTable())
      out.emplace_back(StrCat(kScopeJobs, s.key), brain::GetJobSetting(s.key, jobs));
    for (const brain::VerticalSetting& s : brain::VerticalSettingRows())
      out.emplace_back(StrCat(kScopeRecommenders, s.key), GetSetting(s, daemon.recommenders));
    for (const AgentSetting& s : AgentSettingsTable())
      out.emplace_back(StrCat(kScopeAgent, s.key), GetSetting(s, agent));
    for (const brain::OvercommitSetting& s : brain::OvercommitSettingsTable())
      out.emplace_back(StrCat(kScopeOvercommit, s.key), GetSetting(s, overcommit));
    return out;
  }

  absl::Status Set(std::string_view setting, std::string_view value) {
    const auto key_in = [setting](std::string_view scope) { return setting.substr(scope.size()); };
    if (setting.starts_with(kScopeJobs)) return brain::SetJobSetting(key_in(kScopeJobs), value, jobs);
    if (setting.starts_with(kScopeRecommenders))
      return brain::SetVerticalSetting(key_in(kScopeRecommenders), value, daemon.recommenders);
    if (setting.starts_with(kScopeOvercommit))
      return brain::SetOvercommitSetting(key_in(kScopeOvercommit), value, overcommit);
    const bool of_agent = setting.starts_with(kScopeAgent);
    const std::string_view key = of_agent ? key_in(kScopeAgent) : setting;
    const AgentSetting* agents = of_agent ? FindSetting(AgentSettingsTable(), key) : nullptr;
    if (agents != nullptr) return SetSetting(*agents, key, value, agent);
    const DaemonSetting* daemons = FindSetting(DaemonSettingsTable(), key);
    if (daemons != nullptr) return SetSetting(*daemons, key, value, daemon);
    return absl::NotFoundError("there is no such setting");
  }
};

constexpr const char* kRecord = "src/server/config/released_defaults.txt";

// Returns the defaults of the last release. With TAUT_WRITE_DEFAULTS=1, first replaces the record by this
// program's defaults; only used for a release.
Texts Released() {
  if (std::getenv("TAUT_WRITE_DEFAULTS") != nullptr) {
    std::ofstream out(kRecord);
    for (const auto& [setting, value] : AllSettings().Show()) out << setting << '=' << value << '\n';
  }
  Texts released;
  std::ifstream in(kRecord);
  for (std::string line; std::getline(in, line);) {
    const size_t equals = line.find('=');
    released.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  }
  return released;
}

// Returns the default before the first change; absent: the default has not changed.
std::optional<std::string> Before(std::string_view setting) {
  for (const ChangedDefault& c : ChangedDefaults()) {
    if (c.setting == setting) return std::string(c.before);
  }
  return std::nullopt;
}

TEST(ReleasedDefaults, EachDefaultThatDiffersHasARow) {
  const Texts released = Released();
  ASSERT_GT(released.size(), 200U);
  const Texts defaults = AllSettings().Show();
  for (const auto& [setting, value] : released) {
    AllSettings settings;
    const absl::Status set = settings.Set(setting, value);
    ASSERT_TRUE(set.ok()) << setting << "=" << value << ", of the last release: " << set;
    if (Before(setting).has_value()) continue;
    EXPECT_EQ(settings.Show(), defaults)
        << "the default of " << setting << " was " << value
        << " in the last release: changed_defaults.cc needs a row {setting, before, after, since, why}";
  }
}

TEST(ReleasedDefaults, CompatibilityRestoresEach) {
  AllSettings settings;
  for (const std::string_view scope :
       {kScopeDaemon, kScopeJobs, kScopeRecommenders, kScopeAgent, kScopeOvercommit}) {
    const auto set = [&](std::string_view key, std::string_view value) {
      return settings.Set(StrCat(scope, key), value);
    };
    EXPECT_TRUE(RestoreDefaults(kFirstRelease, scope, ChangedDefaults(), set).ok());
  }
  AllSettings released;
  for (const auto& [setting, value] : Released()) ASSERT_TRUE(released.Set(setting, value).ok());
  EXPECT_EQ(settings.Show(), released.Show());
}

TEST(ReleasedDefaults, RowsNameTheDefaultThatHoldsNow) {
  for (const ChangedDefault& c : ChangedDefaults()) {
    AllSettings settings;
    ASSERT_TRUE(settings.Set(c.setting, c.before).ok()) << c.setting;
    EXPECT_NE(settings.Show(), AllSettings().Show()) << c.setting << ": the row changes nothing";
    EXPECT_FALSE(c.why.empty()) << c.setting;
  }
}

// A table with changes of defaults, as a later version may contain it.
constexpr ChangedDefault kChanges[] = {
    {"server.threads", "3", "4", "0.2.0", "more cores"},
    {"server.listen", "[127.0.0.1:7071, 127.0.0.1:7072]", "[127.0.0.1:7070]", "0.2.0", "one port"},
    {"defaults.canary.share", "7%", "5%", "0.2.0", "fewer tasks at risk"},
    {"recommenders.ensemble.w_over", "7", "100", "0.2.0", "fewer kills"},
    {"tautlet.find", "9s", "5s", "0.2.0", "tasks are found earlier"},
    {"server.threads", "4", "2", "0.3.0", "less memory"},
};

TEST(Compatibility, RestoresTheOldestDefaultsThatTheFileDoesNotSet) {
  const absl::StatusOr<DaemonConfig> config =
      ParseDaemonConfig("compatibility: 0.1.0\nrecommenders: {peak.margin: 0.5}\n", "tautd.yaml", kChanges);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->server.options.threads, 3) << "the oldest of two changes";
  EXPECT_EQ(config->server.options.listen.size(), 2U);
  EXPECT_EQ(config->rules.defaults().canary.share, 0.07);
  EXPECT_EQ(config->recommenders.ensemble.w_over, 7);
  EXPECT_EQ(config->recommenders.peak.margin, 0.5);

  const absl::StatusOr<DaemonConfig> set = ParseDaemonConfig(
      "server: {threads: 5}\ndefaults: {canary.share: 9%}\ncompatibility: 0.1.0\n", "tautd.yaml", kChanges);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->server.options.threads, 5) << "what the file sets holds, wherever the version stands";
  EXPECT_EQ(set->rules.defaults().canary.share, 0.09);
}

TEST(Compatibility, WithoutItTheDefaultsAreTheProgramsOwn) {
  const absl::StatusOr<DaemonConfig> config = ParseDaemonConfig("", "tautd.yaml", kChanges);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->server.options.threads, DaemonConfig().server.options.threads);
  EXPECT_EQ(config->recommenders.ensemble.w_over, brain::VerticalSettings().ensemble.w_over);
}

TEST(Compatibility, HoldsForTheAgentsFileAndForFilesOfSettings) {
  const absl::StatusOr<AgentConfig> agent =
      ParseAgentConfig("compatibility: 0.1.0\n", "tautlet.yaml", kChanges);
  ASSERT_TRUE(agent.ok()) << agent.status();
  EXPECT_EQ(agent->find_s, 9);
  SettingsFile file;
  ASSERT_TRUE(ParseSettings("compatibility: 0.1.0\npeak.margin: 0.5\n", "s.yaml", file, kChanges).ok());
  EXPECT_EQ(file.settings.ensemble.w_over, 7);
  EXPECT_EQ(file.settings.peak.margin, 0.5);
  EXPECT_FALSE(ParseDaemonConfig("recommenders: {compatibility: 0.1.0}", "tautd.yaml").ok())
      << "it is a key of the whole file";
}

TEST(Compatibility, RefusesAVersionWhoseDefaultsAreNotKnown) {
  for (const std::string_view version : {"0.0.9", "99.0.0", "0.1", "one", "0.1.0-rc1"}) {
    const absl::Status s =
        ParseDaemonConfig(StrCat("\ncompatibility: ", version, "\n"), "tautd.yaml").status();
    EXPECT_THAT(std::string(Message(s)), HasSubstr(StrCat("tautd.yaml:2: compatibility: invalid version \"",
                                                          version, "\": expected one from 0.1.0 to ")));
  }
}

TEST(Compatibility, TheDocumentHasARowForEachChange) {
  const std::string text = ChangedDefaultsMarkdown(kChanges);
  EXPECT_THAT(text, HasSubstr("| 0.2.0 | `defaults.canary.share` | `7%` | `5%` | fewer tasks at risk |"));
}

}  // namespace
}  // namespace taut::server
