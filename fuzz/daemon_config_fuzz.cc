// Fuzzes the parser of the daemon's configuration with arbitrary text. The text is rejected with an error, or the
// configuration is unchanged after it is written and parsed again.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/base/strings.h"
#include "server/config/daemon_config.h"
#include "server/config/settings_file.h"

namespace taut {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void Read(std::string_view text) {
  const absl::StatusOr<server::DaemonConfig> config = server::ParseDaemonConfig(text, "f");
  if (!config.ok()) {
    Require(!Message(config.status()).empty());
  } else {
    for (const server::DaemonSetting& s : server::DaemonSettingsTable()) {
      server::DaemonConfig copy = *config;
      const std::string shown = GetSetting(s, copy);
      if (!shown.empty() && shown.front() == '[') continue;
      Require(SetSetting(s, s.key, shown, copy).ok());
      Require(GetSetting(s, copy) == shown);
    }
    brain::JobPolicy policy = config->rules.defaults();
    for (const brain::JobSetting& s : brain::JobSettingsTable()) {
      Require(brain::SetJobSetting(s.key, brain::GetJobSetting(s.key, policy), policy).ok());
    }
    config->rules.Resolve("batch/a", {}, {});
    Require(server::MappingRules::Compile(server::MappingRulesOf(config->ingest)).ok());
  }
  server::SettingsFile settings;
  (void)server::ParseSettings(text, "f", settings).ok();
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  taut::Read({reinterpret_cast<const char*>(data), size});
  return 0;
}
