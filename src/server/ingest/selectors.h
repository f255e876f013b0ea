// Prometheus selectors of the series that mapping rules match.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/ingest/mapping_rules.h"

namespace taut::server {

struct HistorySelector {
  std::string text;    // {__name__="x",cpu=~"|total"}
  bool facts = false;  // for rules that state who owns whom
};

// Returns one selector for each metric in the rules, and a last one for all patterns with a '*'; selectors of
// facts come first. No two select the same series. Selectors exclude only series that no rule matches. Empty
// if there are no rules.
std::vector<HistorySelector> SelectorsOf(std::span<const MappingRule> rules);

// Returns a pattern of common/base/pattern.h as an anchored regular expression (RE2).
std::string RegexOf(std::string_view pattern);
// Returns a regular expression that matches only this text.
std::string RegexOfText(std::string_view text);
// Returns the text as a string of PromQL, with quotes.
std::string QuotePromQl(std::string_view text);

}  // namespace taut::server
