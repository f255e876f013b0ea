// Which series of a Prometheus the mapping rules want, in its query language.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/ingest/mapping_rules.h"

namespace taut::server {

struct HistorySelector {
  std::string text;    // {__name__="x",cpu=~"|total"}
  bool facts = false;  // of rules that say who owns whom
};

// One selector for each metric that the rules name, and one, the last of its kind, for all patterns with a
// '*'; those of facts first. No two select the same series. A selector leaves out only series that no rule
// fits. Empty for no rules.
std::vector<HistorySelector> SelectorsOf(std::span<const MappingRule> rules);

// A pattern of common/base/pattern.h as an anchored regular expression (RE2).
std::string RegexOf(std::string_view pattern);
// A text as a regular expression that fits it alone.
std::string RegexOfText(std::string_view text);
// As a string of the query language, with its quotes.
std::string QuotePromQl(std::string_view text);

}  // namespace taut::server
