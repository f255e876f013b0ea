#include "server/ingest/series_selection.h"

#include <algorithm>

#include "common/base/name_template.h"
#include "common/base/strings.h"

namespace taut::server {
namespace {

constexpr size_t kMostValues = 100;         // highest number of values per label
constexpr size_t kMostMatcherBytes = 4096;  // highest number of bytes per selector

bool IsPlainName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string MatcherOf(std::string_view label, const std::set<std::string>& values) {
  if (values.size() == 1) return StrCat(label, "=", QuotePromQl(*values.begin()));
  std::string any;
  for (const std::string& value : values) StrAppend(&any, any.empty() ? "" : "|", RegexOfText(value));
  return StrCat(label, "=~", QuotePromQl(any));
}

}  // namespace

void SeriesSelection::Merge(const Values& from, Values& into) {
  for (auto at = into.begin(); at != into.end();) {
    const auto other = from.find(at->first);
    if (other != from.end()) at->second.insert(other->second.begin(), other->second.end());
    at = other == from.end() || at->second.size() > kMostValues ? into.erase(at) : std::next(at);
  }
}

void SeriesSelection::Add(std::span<const LabelView> labels) {
  ++series_;
  Values values;
  for (const LabelView& l : labels) {
    if (l.name != kMetricNameLabel && IsPlainName(l.name) && !l.value.empty())
      values.emplace(l.name, std::set<std::string>{std::string(l.value)});
  }
  const auto [metric, is_new] = metrics_.try_emplace(std::string(LabelValue(labels, kMetricNameLabel)));
  if (is_new) {
    metric->second = std::move(values);
  } else {
    Merge(values, metric->second);
  }
}

void SeriesSelection::Add(const SeriesSelection& other) {
  series_ += other.series_;
  for (const auto& [name, values] : other.metrics_) {
    const auto [metric, is_new] = metrics_.try_emplace(name, values);
    if (!is_new) Merge(values, metric->second);
  }
}

std::vector<HistorySelector> SeriesSelection::Narrow(std::span<const HistorySelector> wanted) const {
  std::vector<HistorySelector> out;
  for (const auto& [name, values] : metrics_) {
    const std::string begin = StrCat("{__name__=", QuotePromQl(name));
    std::string text = begin;
    for (const HistorySelector& w : wanted) {
      const bool is_its = w.text.starts_with(begin) && w.text.size() > begin.size() &&
                          (w.text[begin.size()] == ',' || w.text[begin.size()] == '}');
      if (is_its) text = w.text.substr(0, w.text.size() - 1);
    }
    // Short matchers are first, because the size is limited: a namespace selects better than an image.
    std::vector<std::string> matchers;
    for (const auto& [label, its] : values) matchers.push_back(MatcherOf(label, its));
    std::ranges::sort(matchers, [](const std::string& a, const std::string& b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    size_t bytes = 0;
    for (const std::string& matcher : matchers) {
      bytes += matcher.size();
      if (bytes > kMostMatcherBytes) break;
      StrAppend(&text, ",", matcher);
    }
    out.push_back({text + "}", false});
  }
  return out;
}

}  // namespace taut::server
