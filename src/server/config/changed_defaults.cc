#include "server/config/changed_defaults.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "common/base/strings.h"
#include "common/base/version.h"

namespace taut::server {
namespace {

// No default has changed since the first release. Format of a row: {"defaults.canary.share", "10%", "5%",
// "0.2.0", "..."}.
constexpr std::array<ChangedDefault, 0> kChangedDefaults = {};

constexpr std::string_view kScopes[] = {kScopeJobs, kScopeRecommenders, kScopeAgent, kScopeOvercommit};

using VersionNumbers = std::array<int, 3>;

// Returns nullopt unless the version has the form "1.2.3".
std::optional<VersionNumbers> NumbersOf(std::string_view version) {
  const std::vector<std::string_view> parts = Split(version, '.');
  VersionNumbers out{};
  if (parts.size() != out.size()) return std::nullopt;
  for (size_t i = 0; i < out.size(); ++i) {
    const bool digits = !parts[i].empty() && parts[i].size() <= 6 &&
                        parts[i].find_first_not_of("0123456789") == std::string_view::npos;
    if (!digits) return std::nullopt;
    for (const char c : parts[i]) out[i] = out[i] * 10 + (c - '0');
  }
  return out;
}

std::string_view ScopeOf(std::string_view setting) {
  const auto* const found =
      std::ranges::find_if(kScopes, [setting](std::string_view scope) { return setting.starts_with(scope); });
  return found == std::end(kScopes) ? kScopeDaemon : *found;
}

}  // namespace

std::span<const ChangedDefault> ChangedDefaults() { return kChangedDefaults; }

absl::Status RestoreDefaults(
    std::string_view version, std::string_view scope, std::span<const ChangedDefault> changes,
    absl::FunctionRef<absl::Status(std::string_view key, std::string_view value)> set) {
  if (version.empty()) return absl::OkStatus();
  const std::optional<VersionNumbers> wanted = NumbersOf(version);
  if (!wanted.has_value() || *wanted < NumbersOf(kFirstRelease) || *wanted > NumbersOf(kVersion)) {
    return absl::InvalidArgumentError(
        StrCat("invalid version \"", version, "\": expected one from ", kFirstRelease, " to ", kVersion));
  }
  // Iterate from the latest change to the first, so that the oldest default is set last.
  for (auto at = changes.rbegin(); at != changes.rend(); ++at) {
    const ChangedDefault& change = *at;
    if (ScopeOf(change.setting) != scope || NumbersOf(change.since) <= wanted) continue;
    if (absl::Status s = set(change.setting.substr(scope.size()), change.before); !s.ok()) return s;
  }
  return absl::OkStatus();
}

std::string ChangedDefaultsMarkdown(std::span<const ChangedDefault> changes) {
  std::string out = StrCat(
      "\n## Changes of defaults: `compatibility`\n\nWith `compatibility: ", kFirstRelease,
      "` in the file of tautd or of tautlet, or in a settings file of recommenders, keys that the\n"
      "file does not set keep the defaults of that version after an upgrade. `taut replay`, `taut tune` and\n"
      "`taut overcommit` have `--compatibility ",
      kFirstRelease, "`.\n\n");
  if (changes.empty()) {
    StrAppend(&out, "No default has changed since version ", kFirstRelease, ".\n");
    return out;
  }
  StrAppend(&out, "\n| Since | Key | Default before | Default | Reason |\n|---|---|---|---|---|\n");
  for (const ChangedDefault& c : changes) {
    StrAppend(&out, "| ", c.since, " | `", c.setting, "` | `", c.before, "` | `", c.after, "` | ", c.why,
              " |\n");
  }
  return out;
}

}  // namespace taut::server
