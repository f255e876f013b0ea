#include "tools/report/replicas_page.h"

#include <algorithm>
#include <utility>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::tools {
namespace {

constexpr size_t kColumns = 480;
constexpr std::string_view kClairvoyantName = "clairvoyant";

constexpr std::string_view kTaskTimeLegend =
    "Task-time counts starting tasks. The clairvoyant policy has exactly the tasks that the load needs, when "
    "they are "
    "ready. Fewer tasks at the same overloaded time, or less overloaded time with the same tasks, is better.";
constexpr std::string_view kOfCharts =
    "A point of a chart is the highest load and the lowest capacity (up to the utilisation above which tasks "
    "are "
    "overloaded) of its time.";

std::vector<FigureValue> Row(std::string name, const ReplicaScore& s, OverloadModel model) {
  const double days = static_cast<double>(std::max<uint64_t>(s.days, 1));
  const auto share = [&](uint64_t steps) { return s.OfLoadSteps(static_cast<double>(steps)); };
  return {std::move(name),
          s.of_clairvoyant(),
          s.task_s / 3600,
          s.overloaded_share(),
          model == OverloadModel::kShed ? (s.load > 0 ? s.lost / s.load : 0) : s.OfLoadSteps(s.delay_s),
          s.PerDay(s.starts),
          s.PerDay(s.changes),
          static_cast<double>(s.days_without_change) / days,
          share(s.under_steps),
          share(s.over_steps),
          share(s.unstable_steps)};
}

DocumentTable Table(const std::vector<std::string>& policies, const std::vector<ReplicaScore>& scores,
                    OverloadModel model) {
  DocumentTable out{{{"policy"},
                     {"task-time", NumberForm("× clairvoyant's")},
                     {"task-time", NumberForm("task-hours")},
                     {"time overloaded", ShareForm(2)},
                     model == OverloadModel::kShed ? DocumentColumn{"load lost", ShareForm(2)}
                                                   : DocumentColumn{"mean delay", SecondsForm()},
                     {"starts", NumberForm("a day")},
                     {"changes", NumberForm("a day")},
                     {"days without a change", ShareForm()},
                     {"time with too few", ShareForm(2)},
                     {"time with too many", ShareForm(2)},
                     {"time unstable", ShareForm(2)}},
                    {}};
  for (size_t i = 0; i < policies.size(); ++i) out.rows.push_back(Row(policies[i], scores[i], model));
  return out;
}

DocumentChart LoadChart(std::string title, const ReplicaTrack& track) {
  DocumentChart chart{std::move(title), {"time", {FigureForm::kTime}}, {"load", NumberForm()}};
  ChartSeries served{"load", ChartLine::kStacked}, over{"load above the capacity", ChartLine::kStacked},
      capacity{"capacity of the ready tasks"};
  for (size_t i = 0; i < track.columns().size(); ++i) {
    const ReplicaTrack::Column& c = track.columns()[i];
    if (c.steps == 0) continue;
    const double x = track.time_s(i), load = c.load.value_or(0);
    served.Add(x, std::min(load, c.capacity));
    over.Add(x, std::max(0.0, load - c.capacity));
    capacity.Add(x, c.capacity);
  }
  chart.series = {std::move(served), std::move(over), std::move(capacity)};
  return chart;
}

// Returns a chart of the number of tasks with one line per policy.
DocumentChart TasksChart(const ReplicasPage& page, const ReplicasPageJob& job) {
  DocumentChart chart{
      "Tasks, starting ones included", {"time", {FigureForm::kTime}}, {"tasks", NumberForm("tasks")}};
  for (size_t p = 0; p < job.tracks.size(); ++p) {
    ChartSeries& line = chart.series.emplace_back(ChartSeries{
        page.policies[p], page.policies[p] == kClairvoyantName ? ChartLine::kDashed : ChartLine::kSolid});
    for (size_t i = 0; i < job.tracks[p].columns().size(); ++i) {
      const ReplicaTrack::Column& c = job.tracks[p].columns()[i];
      if (c.steps > 0) line.Add(job.tracks[p].time_s(i), c.tasks);
    }
  }
  return chart;
}

// Returns a sentence about the policy with the least overload. Considers the clairvoyant policy, which knows
// future load, only if there is no other policy.
Sentence AnswerOf(const ReplicasPage& page) {
  const ReplicaScore* best = nullptr;
  const std::string* name = nullptr;
  const auto rank = [](const ReplicaScore& s) { return std::pair(s.overloaded_share(), s.task_s); };
  for (size_t p = 0; p < page.policies.size(); ++p) {
    if (page.policies[p] == kClairvoyantName && page.policies.size() > 1) continue;
    if (best != nullptr && rank(page.totals[p]) >= rank(*best)) continue;
    best = &page.totals[p];
    name = &page.policies[p];
  }
  if (best == nullptr) return {"No policy was replayed."};
  return {StrCat(*name, " has the least overloaded time: "), Figure{best->overloaded_share(), ShareForm(2)},
          ", with ", Figure{best->of_clairvoyant(), NumberForm("times")},
          " the task-time that the load needs."};
}

DocumentSection JobSection(const ReplicasPage& page, const ReplicasPageJob& job) {
  DocumentSection out{job.name};
  if (page.jobs > 1) out.Add(Table(page.policies, job.scores, page.model));
  out.Add(TasksChart(page, job));
  for (size_t p = 0; p < job.tracks.size(); ++p) {
    out.Add(LoadChart(
        fmt::format("{}: overloaded {:.2f} % of the time with {:.3f} times the clairvoyant's tasks",
                    page.policies[p], 100 * job.scores[p].overloaded_share(), job.scores[p].of_clairvoyant()),
        job.tracks[p]));
  }
  return out;
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

Document ReplicasDocument(const ReplicasPage& page) {
  Document out{"taut replay --replicas", page.title};
  if (!page.largest.empty() && !page.largest.front().tracks.empty())
    out.clock_is_unix =
        LooksLikeUnixTime(static_cast<int64_t>(page.largest.front().tracks.front().time_s(0)));
  out.answer = AnswerOf(page);
  out.AddNotes(page.conditions);
  DocumentSection& all = out.sections.emplace_back(
      DocumentSection{page.jobs == 1 ? "The policies" : StrCat("All ", FormatCount(page.jobs), " jobs")});
  all.Add(std::string(kTaskTimeLegend));
  all.Add(Table(page.policies, page.totals, page.model));
  if (page.jobs > page.largest.size()) {
    all.Add(StrCat("Below are the ", page.largest.size(), " largest of ", FormatCount(page.jobs),
                   " jobs; the others are in --json."));
  }
  all.Add(std::string(kOfCharts));
  for (const ReplicasPageJob& job : page.largest) out.sections.push_back(JobSection(page, job));
  return out;
}

}  // namespace taut::tools
