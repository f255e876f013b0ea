#include "server/ingest/selectors.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "common/base/name_template.h"
#include "common/base/pattern.h"
#include "common/base/strings.h"

namespace taut::server {
namespace {

using RuleRefs = std::vector<const MappingRule*>;

bool HasStar(std::string_view text) { return text.find('*') != std::string_view::npos; }

bool IsPlainLabel(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::all_of(name.begin(), name.end(), fits) && name != kMetricNameLabel;
}

std::string Matcher(std::string_view label, std::string_view pattern, bool negate) {
  const bool is_text = pattern.find_first_of("*|") == std::string_view::npos;
  const std::string_view is = is_text ? (negate ? "!=" : "=") : (negate ? "!~" : "=~");
  return StrCat(label, is, QuotePromQl(is_text ? std::string(pattern) : RegexOf(pattern)));
}

bool Has(const MappingRule& rule, const LabelMatch& wanted) {
  return std::any_of(rule.match.begin(), rule.match.end(), [&wanted](const LabelMatch& m) {
    return m.label == wanted.label && m.pattern == wanted.pattern && m.negate == wanted.negate;
  });
}

// Returns the pattern of all values that any of the rules accepts for this label; nullopt if one of the rules
// accepts all values.
std::optional<std::string> AnyOf(const RuleRefs& rules, const std::string& label) {
  std::vector<std::string_view> patterns;
  for (const MappingRule* rule : rules) {
    const auto found = std::find_if(rule->match.begin(), rule->match.end(),
                                    [&label](const LabelMatch& m) { return !m.negate && m.label == label; });
    if (found == rule->match.end()) return std::nullopt;
    if (std::find(patterns.begin(), patterns.end(), found->pattern) == patterns.end()) {
      patterns.push_back(found->pattern);
    }
  }
  std::string out;
  for (size_t i = 0; i < patterns.size(); ++i) StrAppend(&out, i == 0 ? "" : "|", patterns[i]);
  return out;
}

// Returns the matchers that all rules share, with a comma before each matcher.
std::string Narrowed(const RuleRefs& rules) {
  std::string out;
  std::set<std::string_view> done;
  for (const LabelMatch& m : rules.front()->match) {
    if (!IsPlainLabel(m.label)) continue;
    if (m.negate) {
      const bool all =
          std::all_of(rules.begin(), rules.end(), [&m](const MappingRule* rule) { return Has(*rule, m); });
      if (all) StrAppend(&out, ",", Matcher(m.label, m.pattern, true));
    } else if (done.insert(m.label).second) {
      if (const auto any = AnyOf(rules, m.label)) StrAppend(&out, ",", Matcher(m.label, *any, false));
    }
  }
  return out;
}

struct Metrics {
  std::vector<std::string> names;  // names without '*', in the order of the rules
  std::string stars;               // patterns with a '*', joined by '|'; "" if none
};

Metrics MetricsOf(std::span<const MappingRule> rules, bool facts) {
  Metrics out;
  for (const MappingRule& rule : rules) {
    // For history, start-up usage is not kept apart, so series of start times are not needed.
    if (IsFact(rule.kind) != facts || IsReplicas(rule.kind) || rule.kind == SeriesKind::kStartTime) continue;
    for (const std::string_view one : Split(rule.metric, '|')) {
      if (one.empty()) continue;
      if (HasStar(one)) {
        StrAppend(&out.stars, out.stars.empty() ? "" : "|", one);
      } else if (std::find(out.names.begin(), out.names.end(), one) == out.names.end()) {
        out.names.emplace_back(one);
      }
    }
  }
  return out;
}

RuleRefs RulesWhere(std::span<const MappingRule> rules,
                    const std::function<bool(const MappingRule&)>& wanted) {
  RuleRefs out;
  for (const MappingRule& rule : rules) {
    if (wanted(rule)) out.push_back(&rule);
  }
  return out;
}

// Returns true if the rule may match a metric that `stars` matches.
bool MayMeet(const MappingRule& rule, std::string_view stars) {
  for (const std::string_view one : Split(rule.metric, '|')) {
    if (HasStar(one) || FitsPattern(one, stars)) return true;
  }
  return false;
}

bool IsTaken(const Metrics& by, std::string_view name) {
  return std::find(by.names.begin(), by.names.end(), name) != by.names.end() ||
         (!by.stars.empty() && FitsPattern(name, by.stars));
}

}  // namespace

std::string RegexOf(std::string_view pattern) {
  std::string out;
  for (const char c : pattern) {
    if (c == '*') {
      out += ".*";
    } else {
      if (std::string_view("\\.+?()[]{}^$").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string RegexOfText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\.+*?()[]{}^$|").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string QuotePromQl(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out += '"';
}

std::vector<HistorySelector> SelectorsOf(std::span<const MappingRule> rules) {
  std::vector<HistorySelector> out;
  const Metrics facts = MetricsOf(rules, true);
  for (const bool is_facts : {true, false}) {
    const Metrics metrics = is_facts ? facts : MetricsOf(rules, false);
    for (const std::string& name : metrics.names) {
      if (!metrics.stars.empty() && FitsPattern(name, metrics.stars)) continue;
      if (!is_facts && IsTaken(facts, name)) continue;
      const RuleRefs fitting =
          RulesWhere(rules, [&name](const MappingRule& r) { return FitsPattern(name, r.metric); });
      out.push_back({StrCat("{__name__=", QuotePromQl(name), Narrowed(fitting), "}"), is_facts});
    }
    if (metrics.stars.empty()) continue;
    // Prometheus rejects a selector that could match everything, so a second matcher excludes the empty name.
    std::string text = StrCat("{__name__=~", QuotePromQl(RegexOf(metrics.stars)), ",__name__!=\"\"");
    for (const std::string& name : facts.names) {
      if (!is_facts && FitsPattern(name, metrics.stars)) {
        StrAppend(&text, ",__name__!=", QuotePromQl(name));
      }
    }
    if (!is_facts && !facts.stars.empty()) {
      StrAppend(&text, ",__name__!~", QuotePromQl(RegexOf(facts.stars)));
    }
    const RuleRefs fitting = RulesWhere(rules, [&](const MappingRule& r) {
      return (is_facts ? !IsReplicas(r.kind) : !IsFact(r.kind)) && MayMeet(r, metrics.stars);
    });
    out.push_back({StrCat(text, Narrowed(fitting), "}"), is_facts});
  }
  return out;
}

}  // namespace taut::server
