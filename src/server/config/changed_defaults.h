// Changes of defaults, as data. `compatibility: VERSION` restores the defaults of an older version, so that an
// upgrade moves no limit. Each change of a default adds a row: changed_defaults_test.cc compares the defaults with
// those of the last release, in released_defaults.txt.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace taut::server {

struct ChangedDefault {
  std::string_view setting;        // with its scope: "server.threads", "defaults.canary.share"
  std::string_view before, after;  // as the file shows them
  std::string_view since;          // the first version with `after`
  std::string_view why;
};
// In the order of their versions.
std::span<const ChangedDefault> ChangedDefaults();

// The first release: no earlier defaults are known.
inline constexpr std::string_view kFirstRelease = "0.1.0";
inline constexpr std::string_view kCompatibilityKey = "compatibility";

// The scope of a setting: what its name in ChangedDefault begins with.
inline constexpr std::string_view kScopeJobs = "defaults.", kScopeRecommenders = "recommenders.",
                                  kScopeAgent = "tautlet.", kScopeOvercommit = "overcommit.";
inline constexpr std::string_view kScopeDaemon;  // all others

// Calls `set` with the older default of each row of `scope` that is newer than `version`; the key has no scope.
// A setting that changed twice is set to its oldest default last. InvalidArgument unless `version` is from
// kFirstRelease to this program's, or empty, which restores nothing.
absl::Status RestoreDefaults(
    std::string_view version, std::string_view scope, std::span<const ChangedDefault> changes,
    absl::FunctionRef<absl::Status(std::string_view key, std::string_view value)> set);

// The section of docs/reference/configuration.md.
std::string ChangedDefaultsMarkdown(std::span<const ChangedDefault> changes);

}  // namespace taut::server
