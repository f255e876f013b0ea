// Any text may be offered as the daemon's configuration: refused with a message or read, never a crash; and
// what was read shows values that read back the same.
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
  const absl::StatusOr<DaemonConfig> config = ParseDaemonConfig(text, "f");
  if (!config.ok()) {
    Require(!Message(config.status()).empty());
  } else {
    for (const DaemonSetting& s : DaemonSettingsTable()) {
      DaemonConfig copy = *config;
      const std::string shown = GetDaemonSetting(s, copy);
      if (!shown.empty() && shown.front() == '[') continue;
      Require(SetDaemonSetting(s, {&shown, 1}, copy).ok());
      Require(GetDaemonSetting(s, copy) == shown);
    }
    brain::JobPolicy policy = config->rules.defaults();
    for (const brain::JobSetting& s : brain::JobSettingsTable()) {
      Require(brain::SetJobSetting(s.key, brain::GetJobSetting(s.key, policy), policy).ok());
    }
    config->rules.Resolve("batch/a", {}, {});
    Require(MappingRules::Compile(MappingRulesOf(config->ingest)).ok());
  }
  brain::VerticalSettings settings;
  (void)ParseSettings(text, "f", settings).ok();
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  taut::Read({reinterpret_cast<const char*>(data), size});
  return 0;
}
