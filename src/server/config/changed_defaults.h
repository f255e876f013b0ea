// Table of the changes of defaults. `compatibility: VERSION` restores the defaults of an older version, so that an
// upgrade changes no limit. Each change of a default adds a row: changed_defaults_test.cc compares the defaults
// with released_defaults.txt, the defaults of the last release.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace taut::server {

struct ChangedDefault {
  std::string_view setting;        // name with its scope: "server.threads", "defaults.canary.share"
  std::string_view before, after;  // values as written in the file
  std::string_view since;          // first version with the default `after`
  std::string_view why;
};
// Returns all changes, in order of their versions.
std::span<const ChangedDefault> ChangedDefaults();

// First release. The defaults before the first release are unknown.
inline constexpr std::string_view kFirstRelease = "0.1.0";
inline constexpr std::string_view kCompatibilityKey = "compatibility";

// Scopes: prefixes of ChangedDefault::setting.
inline constexpr std::string_view kScopeJobs = "defaults.", kScopeRecommenders = "recommenders.",
                                  kScopeAgent = "tautlet.", kScopeOvercommit = "overcommit.";
inline constexpr std::string_view kScopeDaemon;  // no prefix: all other settings

// Calls `set` with the earlier default for each row in `scope` whose `since` is later than `version`. The passed
// key does not include the scope. If a default has changed several times, the last call passes the oldest default.
// Does nothing if `version` is empty. Returns InvalidArgument if `version` is not between kFirstRelease and this
// program's version. Returns the first error of `set`.
absl::Status RestoreDefaults(
    std::string_view version, std::string_view scope, std::span<const ChangedDefault> changes,
    absl::FunctionRef<absl::Status(std::string_view key, std::string_view value)> set);

// Returns the section about `changes` in docs/reference/configuration.md.
std::string ChangedDefaultsMarkdown(std::span<const ChangedDefault> changes);

}  // namespace taut::server
