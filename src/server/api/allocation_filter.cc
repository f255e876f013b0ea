#include "server/api/allocation_filter.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/short_text.h"
#include "common/base/strings.h"
#include "server/api/parameters.h"

namespace taut::server {
namespace {

constexpr int kMostDepth = 20;  // maximum nesting of parentheses

enum class Comparison : uint8_t { kEqual, kContains, kBegins, kEnds };

bool Holds(Comparison comparison, std::string_view value, std::string_view wanted) {
  switch (comparison) {
    case Comparison::kEqual:
      return value == wanted;
    case Comparison::kContains:
      return value.find(wanted) != std::string_view::npos;
    case Comparison::kBegins:
      return value.starts_with(wanted);
    case Comparison::kEnds:
      break;
  }
  return value.ends_with(wanted);
}

enum class Field : uint8_t { kLabel, kControllerName, kControllerKind };

struct Test {
  Field field = Field::kLabel;
  std::string label;  // name of the label for kLabel
  Comparison comparison = Comparison::kEqual;
  bool negate = false;
  std::vector<std::string> values;

  bool Any(std::string_view value) const {
    return std::ranges::any_of(values, [&](const std::string& v) { return Holds(comparison, value, v); });
  }
  bool operator()(const JobRecord& job) const {
    bool any = false;
    if (field == Field::kLabel) {
      const auto at = std::ranges::find(job.labels, label, &std::pair<std::string, std::string>::first);
      any = Any(at == job.labels.end() ? std::string_view() : std::string_view(at->second));
    } else {
      const Workload of = job.workload();
      any = field == Field::kControllerKind ? Any(of.kind)
                                            : Any(of.name) || Any(of.NameWithGroup()) || Any(job.name);
      // Without parts, a custom rule made the job's name, so each piece of the name may be the name of the
      // controller.
      if (!job.parts.has_parts()) {
        for (const std::string_view part : Split(job.name, '/')) any = any || Any(part);
      }
    }
    return any != negate;
  }
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), rest_(text) {}

  absl::StatusOr<JobFilter> Whole() {
    absl::StatusOr<JobFilter> filter = Group(0);
    if (!filter.ok()) return filter;
    SkipBlanks();
    if (!rest_.empty()) return Bad("the end");
    return filter;
  }

 private:
  absl::Status Bad(std::string_view expected) const {
    return absl::InvalidArgumentError(StrCat("invalid filter ", ShortText(text_), ": expected ", expected,
                                             " at character ", text_.size() - rest_.size() + 1));
  }
  void SkipBlanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }
  bool Take(std::string_view token) {
    SkipBlanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  absl::StatusOr<JobFilter> Group(int depth) {
    absl::StatusOr<JobFilter> first = One(depth);
    if (!first.ok()) return first;
    std::vector<JobFilter> all = {*std::move(first)};
    const bool every = Take("+");
    if (!every && !Take("|")) return std::move(all.front());
    do {
      absl::StatusOr<JobFilter> next = One(depth);
      if (!next.ok()) return next;
      all.push_back(*std::move(next));
    } while (Take(every ? "+" : "|"));
    return JobFilter([all = std::move(all), every](const JobRecord& job) {
      const auto holds = [&job](const JobFilter& f) { return f(job); };
      return every ? std::ranges::all_of(all, holds) : std::ranges::any_of(all, holds);
    });
  }
  absl::StatusOr<JobFilter> One(int depth) {
    if (!Take("(")) return Compare();
    if (depth >= kMostDepth) return Bad("fewer parentheses");
    absl::StatusOr<JobFilter> group = Group(depth + 1);
    if (group.ok() && !Take(")")) return Bad(")");
    return group;
  }
  absl::StatusOr<JobFilter> Compare() {
    Test test;
    if (absl::Status s = TakeField(test); !s.ok()) return s;
    test.negate = Take("!");
    constexpr std::array<std::pair<std::string_view, Comparison>, 4> kOperators = {
        {{"<~:", Comparison::kBegins},
         {"~>:", Comparison::kEnds},
         {"~:", Comparison::kContains},
         {":", Comparison::kEqual}}};
    const auto* const op = std::ranges::find_if(kOperators, [this](const auto& o) { return Take(o.first); });
    if (op == kOperators.end()) return Bad("one of : !: ~: !~: <~: !<~: ~>: !~>:");
    test.comparison = op->second;
    do {
      if (!Take("\"")) return Bad("a value in double quotes");
      const size_t end = rest_.find('"');
      if (end == std::string_view::npos) return Bad("a closing quote after it");
      test.values.emplace_back(rest_.substr(0, end));
      rest_.remove_prefix(end + 1);
    } while (Take(","));
    return JobFilter(std::move(test));
  }
  absl::Status TakeField(Test& test) {
    if (Take("label[")) {
      const size_t end = rest_.find(']');
      if (end == std::string_view::npos || end == 0) return Bad("the name of a label and ]");
      test.label = rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
    } else if (Take("controllerName")) {
      test.field = Field::kControllerName;
    } else if (Take("controllerKind")) {
      test.field = Field::kControllerKind;
    } else if (Take("namespace")) {
      test.label = "namespace";
    } else if (Take("cluster")) {
      test.label = "cluster";
    } else {
      return Bad("cluster, namespace, controllerName, controllerKind or label[NAME]");
    }
    return absl::OkStatus();
  }

  const std::string_view text_;
  std::string_view rest_;
};

std::vector<std::string> ListOf(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string_view part : Split(text, ',')) {
    if (!StripSpace(part).empty()) out.emplace_back(StripSpace(part));
  }
  return out;
}

}  // namespace

absl::StatusOr<JobFilter> ParseAllocationFilter(std::string_view text) { return Parser(text).Whole(); }

absl::StatusOr<JobFilter> AllocationFilterOf(const HttpRequest& request) {
  std::vector<JobFilter> all;
  if (const std::string text = TextParameter(request, "filter"); !text.empty()) {
    absl::StatusOr<JobFilter> filter = ParseAllocationFilter(text);
    if (!filter.ok()) return filter;
    all.push_back(*std::move(filter));
  }
  const auto add = [&](std::string_view parameter, Field field, std::string_view label) {
    std::vector<std::string> values = ListOf(TextParameter(request, parameter));
    if (!values.empty())
      all.emplace_back(Test{field, std::string(label), Comparison::kEqual, false, std::move(values)});
  };
  add("filterClusters", Field::kLabel, "cluster");
  add("filterNamespaces", Field::kLabel, "namespace");
  add("filterControllers", Field::kControllerName, "");
  for (const std::string& label : ListOf(TextParameter(request, "filterLabels"))) {
    const size_t colon = label.find(':');
    if (colon == std::string::npos || colon == 0)
      return absl::InvalidArgumentError(
          StrCat("invalid filterLabels=", ShortText(label), ": expected NAME:VALUE"));
    all.emplace_back(
        Test{Field::kLabel, label.substr(0, colon), Comparison::kEqual, false, {label.substr(colon + 1)}});
  }
  if (all.empty()) return JobFilter();
  return JobFilter([all = std::move(all)](const JobRecord& job) {
    return std::ranges::all_of(all, [&job](const JobFilter& f) { return f(job); });
  });
}

}  // namespace taut::server
