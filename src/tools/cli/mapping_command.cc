// taut mapping test: shows the mapping rule that matches a series, and the resulting job and task.
#include <algorithm>
#include <iostream>
#include <optional>
#include <set>

#include "common/base/name_template.h"
#include "common/base/pattern.h"
#include "common/base/strings.h"
#include "server/config/daemon_config.h"
#include "server/ingest/series_mapper.h"
#include "server/ingest/series_text.h"
#include "tools/cli/answer.h"
#include "tools/cli/cli.h"
#include "tools/cli/commands.h"
#include "tools/cli/mapping_jobs.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

std::vector<LabelView> ViewsOf(const server::LabelList& labels) {
  std::vector<LabelView> out;
  for (const auto& [name, value] : labels) out.push_back({name, value});
  return out;
}

// Converts the pattern of a rule to a regular expression of Prometheus.
std::string RegexOf(std::string_view pattern) {
  std::string out;
  for (const char c : pattern) {
    if (std::string_view("\\.+?()[]{}^$").find(c) != std::string_view::npos) out.push_back('\\');
    if (c == '*') out.push_back('.');
    out.push_back(c);
  }
  return out;
}

// Returns the series whose metric occurs in a rule. The requests do not limit the number of series, because names
// of jobs depend on all series that describe pods or workloads.
absl::StatusOr<std::vector<server::LabelList>> AskPrometheus(const MappingTestArgs& args,
                                                             const server::MappingRules& rules) {
  ConnectionArgs connection = args.connection;
  connection.server = args.prometheus;
  const auto client = Connect(connection, "pass its URL with --prometheus");
  if (!client.ok()) return client.status();
  std::set<std::string> metrics;
  for (const server::MappingRule& rule : rules.rules()) metrics.insert(RegexOf(rule.metric));
  std::vector<server::LabelList> out;
  for (const std::string& metric : metrics) {
    const Json matcher = StrCat("{__name__=~", Json(metric).dump(), "}");
    const auto answer =
        GetJson(**client, "/api/v1/series" + FormatQuery({{"match[]", matcher.get<std::string>()}}));
    if (!answer.ok()) return answer.status();
    const auto data = answer->find("data");
    if (!answer->is_object() || data == answer->end() || !data->is_array())
      return absl::DataLossError(StrCat(args.prometheus, ": not a Prometheus: the response has no data"));
    for (const Json& series : *data) {
      server::LabelList labels;
      if (!series.is_object()) continue;
      for (const auto& [name, value] : series.items()) {
        if (value.is_string()) labels.emplace_back(name, value.get<std::string>());
      }
      std::sort(labels.begin(), labels.end());
      out.push_back(std::move(labels));
    }
  }
  return out;
}

absl::StatusOr<std::vector<server::LabelList>> ReadSeries(const MappingTestArgs& args,
                                                          const server::MappingRules& rules) {
  if (!args.prometheus.empty()) return AskPrometheus(args, rules);
  std::vector<std::string> texts = args.series;
  const bool from_stdin = texts.empty();
  if (from_stdin) {
    for (std::string line; std::getline(std::cin, line);) texts.push_back(line);
  }
  std::vector<server::LabelList> out;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string_view text = StripSpace(texts[i]);
    if (text.empty() || text.front() == '#') continue;
    auto labels = server::ParseSeriesText(text);
    if (!labels.ok())
      return absl::InvalidArgumentError(
          StrCat(from_stdin ? "line " : "series ", i + 1, ": ", Message(labels.status())));
    out.push_back(*std::move(labels));
  }
  if (out.empty())
    return absl::InvalidArgumentError(
        "no series: pass some as arguments, one per line on standard input, or --prometheus URL");
  return out;
}

struct Verdict {
  std::optional<server::Mapping> mapping;
  // rules for this metric that do not match, with the reason
  std::vector<std::pair<std::string, std::string>> misses;
};

Verdict Judge(const server::SeriesMapper& mapper, const server::LabelList& labels) {
  const std::vector<LabelView> views = ViewsOf(labels);
  Verdict out;
  out.mapping = mapper.Explain(views);
  if (out.mapping.has_value()) return out;
  const std::span<const server::MappingRule> rules = mapper.rules().rules();
  for (size_t i = 0; i < rules.size(); ++i) {
    if (FitsPattern(LabelValue(views, kMetricNameLabel), rules[i].metric))
      out.misses.emplace_back(rules[i].name, mapper.rules().WhyNot(i, views));
  }
  return out;
}

Json ToJson(const server::SeriesMapper& mapper, const server::LabelList& labels, const Verdict& v) {
  Json out = {{"series", server::SeriesText(labels)}, {"rule", nullptr}};
  if (v.mapping.has_value()) {
    out["rule"] = mapper.rules().rules()[v.mapping->rule].name;
    out["kind"] = Name(v.mapping->kind);
    out["job"] = v.mapping->job;
    out["task"] = v.mapping->task;
    out["part"] = v.mapping->part;
    out["scale"] = v.mapping->scale;
    if (v.mapping->signal != 0) out["signal"] = mapper.rules().signals()[v.mapping->signal - 1U];
    return out;
  }
  out["misses"] = Json::array();
  for (const auto& [rule, why] : v.misses) out["misses"].push_back({{"rule", rule}, {"why", why}});
  return out;
}

std::string ToText(const server::SeriesMapper& mapper, const server::LabelList& labels, const Verdict& v) {
  std::string out = Printable(server::SeriesText(labels)) + "\n";
  if (!v.mapping.has_value()) {
    if (v.misses.empty()) return out + "  no rule for this metric\n";
    for (const auto& [rule, why] : v.misses) StrAppend(&out, "  not ", rule, ": ", Printable(why), "\n");
    return out;
  }
  const server::Mapping& m = *v.mapping;
  const std::string& rule = mapper.rules().rules()[m.rule].name;
  if (m.kind == server::SeriesKind::kOwner) {
    StrAppend(&out, "  ", rule, ": ", Printable(m.job), " is owned by ", Printable(m.task), "\n");
    return out;
  }
  StrAppend(&out, "  ", rule, ": job ", Printable(m.job), ", task ", Printable(m.task));
  if (!m.part.empty()) StrAppend(&out, ", part ", Printable(m.part));
  StrAppend(&out, ", ", Name(m.kind));
  if (m.scale != 1) StrAppend(&out, " x ", m.scale);
  if (m.signal != 0) StrAppend(&out, ", signal ", mapper.rules().signals()[m.signal - 1U]);
  return out + "\n";
}

struct Tally {
  size_t mapped = 0, unmapped = 0;
};

absl::StatusOr<Tally> TestMapping(const MappingTestArgs& args) {
  absl::StatusOr<std::vector<server::MappingRule>> wanted = server::ReadMappingRules(args.config);
  if (!wanted.ok()) return wanted.status();
  absl::StatusOr<server::MappingRules> rules = server::MappingRules::Compile(*std::move(wanted));
  if (!rules.ok()) return rules.status();
  const absl::StatusOr<std::vector<server::LabelList>> all = ReadSeries(args, *rules);
  if (!all.ok()) return all.status();
  server::SeriesMapper mapper(*std::move(rules));
  // Process the owners of objects first. A running daemon would already have received these owners.
  for (const server::LabelList& labels : *all) {
    const std::vector<LabelView> views = ViewsOf(labels);
    const std::optional<server::Mapping> m = mapper.Explain(views);
    if (m.has_value() && server::IsFact(m->kind))
      mapper.Resolve({views, {}, server::Fingerprint(views)}, Timestamp{0});
  }
  Tally tally;
  const bool jobs_shown = args.jobs || args.verbose || !args.prometheus.empty();
  const bool lines_shown = args.verbose || !jobs_shown;
  MappedJobs jobs;
  Json json = Json::array();
  std::string text;
  for (const server::LabelList& labels : *all) {
    const Verdict verdict = Judge(mapper, labels);
    ++(verdict.mapping.has_value() ? tally.mapped : tally.unmapped);
    if (verdict.mapping.has_value()) {
      jobs.Add(*verdict.mapping);
    } else {
      jobs.AddUnmapped(LabelValue(ViewsOf(labels), kMetricNameLabel));
    }
    if (!lines_shown) continue;
    if (args.output == OutputForm::kTable) {
      text += ToText(mapper, labels, verdict);
    } else {
      json.push_back(ToJson(mapper, labels, verdict));
    }
  }
  if (jobs_shown) {
    if (lines_shown && !text.empty()) text += "\n";
    text += jobs.Text();
    if (!lines_shown) json = jobs.ToJson();
  }
  Show(args.output, json, [&] { return text; });
  return tally;
}

}  // namespace

int RunMappingTest(const MappingTestArgs& args) {
  const absl::StatusOr<Tally> tally = TestMapping(args);
  if (!tally.ok()) {
    PrintError(Printable(std::string(Message(tally.status()))));
    const bool usage = absl::IsInvalidArgument(tally.status()) || absl::IsNotFound(tally.status());
    return usage ? kExitUsage : kExitFailed;
  }
  // A Prometheus has many series that need no rule, so only a named series without a rule fails the test.
  return args.prometheus.empty() && tally->unmapped > 0 ? kExitFailed : kExitOk;
}

}  // namespace taut::tools
