#include "tools/report/replicas_page.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "common/base/html_text.h"
#include "common/base/printable.h"
#include "common/base/strings.h"
#include "fmt/format.h"
#include "tools/report/static_page.h"
#include "tools/report/svg_chart.h"

namespace taut::tools {
namespace {

constexpr size_t kColumns = 480;

std::string SharePercent(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string Row(std::string_view name, const ReplicaScore& s, OverloadModel model) {
  const double days = static_cast<double>(std::max<uint64_t>(s.days, 1));
  const auto share = [&](uint64_t steps) { return SharePercent(s.OfLoadSteps(static_cast<double>(steps))); };
  return fmt::format(
      "<tr><td>{}</td><td>{:.3f}</td><td>{:.0f}</td><td>{}</td><td>{}</td><td>{:.1f}</td><td>{:.1f}</td>"
      "<td>{:.0f} %</td><td>{}</td><td>{}</td><td>{}</td></tr>",
      EscapedHtml(name), s.of_clairvoyant(), s.task_s / 3600, SharePercent(s.overloaded_share()),
      model == OverloadModel::kShed ? SharePercent(s.load > 0 ? s.lost / s.load : 0)
                                    : fmt::format("{:.2f} s", s.OfLoadSteps(s.delay_s)),
      s.PerDay(s.starts), s.PerDay(s.changes), 100 * static_cast<double>(s.days_without_change) / days,
      share(s.under_steps), share(s.over_steps), share(s.unstable_steps));
}

std::string Table(const std::vector<std::string>& policies, const std::vector<ReplicaScore>& scores,
                  OverloadModel model) {
  std::string out = StrCat(
      "<table><tr><th>policy</th><th>task-time ÷ clairvoyant's</th><th>task-hours</th><th>time "
      "overloaded</th><th>",
      model == OverloadModel::kShed ? "load lost" : "mean delay",
      "</th><th>starts a day</th><th>changes a day</th><th>days without a change</th><th>time with too "
      "few</th>"
      "<th>time with too many</th><th>time unstable</th></tr>");
  for (size_t i = 0; i < policies.size(); ++i) out += Row(policies[i], scores[i], model);
  return out + "</table>";
}

std::string LoadChart(const ReplicaTrack& track) {
  SvgChart chart("time", "load");
  chart.SetTime();
  SvgSeries served{"load", "#b8c4d0", SvgLine::kSolid, {}};
  SvgSeries over{"load above the capacity", "#c0392b", SvgLine::kSolid, {}};
  SvgSeries capacity{"capacity of the ready tasks", "#1259b8", SvgLine::kSolid, {}};
  for (size_t i = 0; i < track.columns().size(); ++i) {
    const ReplicaTrack::Column& c = track.columns()[i];
    if (c.steps == 0) continue;
    const double x = track.time_s(i), load = c.load.value_or(0);
    served.points.push_back({x, std::min(load, c.capacity)});
    over.points.push_back({x, load});
    capacity.points.push_back({x, c.capacity});
  }
  chart.AddBand(std::move(served));
  chart.AddBand(std::move(over));
  chart.AddLine(std::move(capacity));
  return chart.Render();
}

// One line a policy.
std::string TasksChart(const ReplicasPage& page, const ReplicasPageJob& job) {
  constexpr std::string_view kColours[] = {"#8a94a0", "#b3541e", "#1259b8", "#7fb3d5",
                                           "#6a4c93", "#00795f", "#1d2733"};
  SvgChart chart("time", "tasks");
  chart.SetTime();
  for (size_t p = 0; p < job.tracks.size(); ++p) {
    SvgSeries line{page.policies[p],
                   kColours[p % std::size(kColours)],
                   page.policies[p] == "clairvoyant" ? SvgLine::kDashed : SvgLine::kSolid,
                   {}};
    for (size_t i = 0; i < job.tracks[p].columns().size(); ++i) {
      const ReplicaTrack::Column& c = job.tracks[p].columns()[i];
      if (c.steps > 0) line.points.push_back({job.tracks[p].time_s(i), c.tasks});
    }
    chart.AddLine(std::move(line));
  }
  return chart.Render();
}

}  // namespace

ReplicaTrack::ReplicaTrack(int64_t from_s, int64_t to_s, double capacity)
    : from_s_(from_s), to_s_(std::max(to_s, from_s + 1)), capacity_(capacity), columns_(kColumns) {}

double ReplicaTrack::time_s(size_t column) const {
  const double width = static_cast<double>(to_s_ - from_s_) / static_cast<double>(columns_.size());
  return static_cast<double>(from_s_) + (static_cast<double>(column) + 0.5) * width;
}

void ReplicaTrack::Add(const ReplicaStep& step) {
  if (step.time_s < from_s_ || step.time_s >= to_s_) return;
  const auto at =
      static_cast<size_t>(static_cast<double>(step.time_s - from_s_) / static_cast<double>(to_s_ - from_s_) *
                          static_cast<double>(columns_.size()));
  Column& c = columns_[std::min(at, columns_.size() - 1)];
  const double capacity = step.ready * capacity_;
  c.capacity = c.steps == 0 ? capacity : std::min(c.capacity, capacity);
  if (step.load.has_value()) c.load = std::max(c.load.value_or(0), *step.load);
  c.tasks = (c.tasks * c.steps + step.ready + step.starting) / (c.steps + 1);
  ++c.steps;
}

void ReplicasPage::Add(ReplicasPageJob job) {
  const auto size = [](const ReplicasPageJob& j) {
    return j.scores.empty() ? 0.0 : j.scores.front().clairvoyant_task_s;
  };
  const auto at = std::ranges::find_if(largest, [&](const auto& j) { return size(j) < size(job); });
  largest.insert(at, std::move(job));
  if (largest.size() > kJobs) largest.pop_back();
}

std::string Render(const ReplicasPage& page) {
  std::string out = StaticPageHead(Printable(page.title));
  std::string conditions = EscapedHtml(page.conditions);
  for (size_t at = 0; (at = conditions.find('\n', at)) != std::string::npos;) conditions.replace(at, 1, " ");
  StrAppend(&out, "<p>", conditions, "</p>");
  out +=
      "<p class=muted>Task-time counts starting tasks. The clairvoyant policy has exactly the tasks that the "
      "load needs, when they are ready. Fewer tasks at the same overloaded time, or less overloaded time "
      "with "
      "the same tasks, is better. A point of a chart is the highest load and the lowest capacity "
      "(up to the utilisation above which tasks are overloaded) of its time. Times are UTC.</p>";
  if (page.jobs != 1) StrAppend(&out, "<h2>All ", page.jobs, " jobs</h2>");
  out += Table(page.policies, page.totals, page.model);
  if (page.jobs > page.largest.size()) {
    StrAppend(&out, "<p>Below are the ", page.largest.size(), " largest of ", page.jobs,
              " jobs; the others are in --json.</p>");
  }
  for (const ReplicasPageJob& job : page.largest) {
    StrAppend(&out, "<h2>", EscapedHtml(Printable(job.name)), "</h2>");
    if (page.jobs > 1) out += Table(page.policies, job.scores, page.model);
    StrAppend(&out, "<h3>Tasks, starting ones included</h3>", TasksChart(page, job));
    for (size_t p = 0; p < job.tracks.size(); ++p) {
      StrAppend(&out, "<h3>", EscapedHtml(page.policies[p]), ": overloaded ",
                SharePercent(job.scores[p].overloaded_share()), " of the time with ",
                fmt::format("{:.3f}", job.scores[p].of_clairvoyant()), " times the clairvoyant's tasks</h3>",
                LoadChart(job.tracks[p]));
    }
  }
  return out + "</html>\n";
}

}  // namespace taut::tools
