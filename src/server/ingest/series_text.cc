#include "server/ingest/series_text.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "common/base/name_template.h"
#include "common/base/strings.h"

namespace taut::server {
namespace {

bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsNameRest(char c) { return IsNameStart(c) || (c >= '0' && c <= '9'); }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  void SkipBlanks() {
    while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
  }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool AtEnd() const { return at_ == text_.size(); }
  bool Take(char c) {
    SkipBlanks();
    if (AtEnd() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  enum class Colon : uint8_t { kNo, kAllowed };
  // Returns the name at the present position; "" if no name begins there.
  std::string_view Name(Colon colon) {
    SkipBlanks();
    const size_t begin = at_;
    const auto fits = [&](char c) {
      return (at_ == begin ? IsNameStart(c) : IsNameRest(c)) || (colon == Colon::kAllowed && c == ':');
    };
    while (at_ < text_.size() && fits(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  // Returns the quoted text at the present position; nullopt if no quote begins there, or the quote does not
  // end.
  std::optional<std::string> Quoted() {
    SkipBlanks();
    const char quote = Peek();
    if (quote != '"' && quote != '\'' && quote != '`') return std::nullopt;
    std::string out;
    for (size_t i = at_ + 1; i < text_.size(); ++i) {
      char c = text_[i];
      if (c == quote) {
        at_ = i + 1;
        return out;
      }
      if (c == '\\' && quote != '`' && i + 1 < text_.size()) {
        c = text_[++i];
        if (c == 'n') c = '\n';
      }
      out.push_back(c);
    }
    return std::nullopt;
  }
  absl::Status Wanted(std::string_view what) const {
    return absl::InvalidArgumentError(StrCat(
        "column ", at_ + 1, ": ", what, AtEnd() ? " is missing" : StrCat(" expected, not '", Peek(), "'")));
  }

 private:
  const std::string_view text_;
  size_t at_ = 0;
};

absl::Status ParseLabels(Scanner& in, LabelList& out) {
  while (!in.Take('}')) {
    const std::string_view name = in.Name(Scanner::Colon::kNo);
    if (name.empty()) return in.Wanted("a label's name, or '}',");
    if (!in.Take('=')) return in.Wanted("'='");
    std::optional<std::string> value = in.Quoted();
    if (!value.has_value()) return in.Wanted("a value in quotes");
    out.emplace_back(name, *std::move(value));
    if (in.Take(',')) continue;
    if (in.Take('}')) break;
    return in.Wanted("',' or '}'");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LabelList> ParseSeriesText(std::string_view text) {
  Scanner in(text);
  LabelList out;
  const std::string_view metric = in.Name(Scanner::Colon::kAllowed);
  if (!metric.empty()) out.emplace_back(kMetricNameLabel, metric);
  if (in.Take('{')) {
    if (absl::Status s = ParseLabels(in, out); !s.ok()) return s;
  }
  in.SkipBlanks();
  if (!in.AtEnd()) return in.Wanted(out.empty() ? "a metric's name" : "the end");
  std::sort(out.begin(), out.end());
  const auto twice = std::adjacent_find(out.begin(), out.end(),
                                        [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != out.end())
    return absl::InvalidArgumentError(StrCat("the label ", twice->first, " is repeated"));
  if (std::none_of(out.begin(), out.end(), [](const auto& l) { return l.first == kMetricNameLabel; }))
    return absl::InvalidArgumentError(
        "the metric's name is missing: write it before the '{' or as the label __name__");
  return out;
}

std::string SeriesText(const LabelList& labels) {
  std::string metric, rest;
  for (const auto& [name, value] : labels) {
    if (name == kMetricNameLabel && !value.empty() &&
        value.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:") ==
            std::string::npos &&
        (value[0] < '0' || value[0] > '9')) {
      metric = value;
      continue;
    }
    StrAppend(&rest, rest.empty() ? "" : ",", name, "=\"");
    for (const char c : value) {
      if (c == '"' || c == '\\') rest.push_back('\\');
      c == '\n' ? rest += "\\n" : rest += c;
    }
    rest.push_back('"');
  }
  return rest.empty() ? metric : StrCat(metric, "{", rest, "}");
}

}  // namespace taut::server
