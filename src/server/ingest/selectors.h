// Prometheus selectors of the series that match mapping rules.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/ingest/mapping_rules.h"

namespace taut::server {

struct HistorySelector {
  std::string text;    // selector such as {__name__="x",cpu=~"|total"}
  bool facts = false;  // true for rules about the owners of pods and workloads
};

// Returns one selector for each metric in the rules, and a last selector for all patterns with a '*'. Selectors of
// facts are first. No two selectors match the same series. The selectors exclude no series that a rule matches.
// Empty if there are no rules.
std::vector<HistorySelector> SelectorsOf(std::span<const MappingRule> rules);

// Returns a pattern of common/base/pattern.h as an anchored regular expression (RE2).
std::string RegexOf(std::string_view pattern);
// Returns a regular expression that matches only this text.
std::string RegexOfText(std::string_view text);
// Returns the text as a string of PromQL, with quotes.
std::string QuotePromQl(std::string_view text);

}  // namespace taut::server
