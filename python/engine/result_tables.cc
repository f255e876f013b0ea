#include "result_tables.h"

#include <map>
#include <utility>

#include "common/model/units.h"
#include "tools/sim/lane_scores.h"

namespace taut::python {
namespace {

using tools::LaneResult;
using tools::LimitChange;
using tools::ReplayResult;
using Table = std::shared_ptr<const ArrowTable>;

// Numbers texts in the order of their first appearance.
class NameColumn {
 public:
  void Add(const std::string& name) {
    const auto [at, is_new] = numbers_.try_emplace(name, static_cast<int32_t>(out_.names.size()));
    if (is_new) out_.names.push_back(name);
    out_.of_row.push_back(at->second);
  }
  ArrowTable::Names Take() { return std::move(out_); }

 private:
  std::map<std::string, int32_t> numbers_;
  ArrowTable::Names out_;
};

std::shared_ptr<const ArrowTable> Done(ArrowTable table) {
  return std::make_shared<const ArrowTable>(std::move(table));
}

std::string NameOf(brain::PolicyPair policy, const std::string& label) {
  return label.empty() ? Name(policy) : label;
}

}  // namespace

Table ScoresTable(const ReplayResult& result, const std::string& label) {
  ArrowTable out;
  NameColumn recommenders, resources, units;
  std::vector<std::vector<tools::LaneScore>> rows;
  for (const LaneResult& lane : result.lanes) {
    recommenders.Add(NameOf(lane.policy, label));
    resources.Add(std::string(Name(lane.resource)));
    units.Add(std::string(UnitName(lane.resource)));
    rows.push_back(tools::LaneScores(lane, result.first_scored_day));
  }
  out.Add("recommender", recommenders.Take());
  out.Add("resource", resources.Take());
  out.Add("unit", units.Take());
  for (size_t i = 0; !rows.empty() && i < rows[0].size(); ++i) {
    if (std::holds_alternative<uint64_t>(rows[0][i].value)) {
      ArrowTable::Integers values;
      for (const auto& row : rows)
        values.emplace_back(static_cast<int64_t>(std::get<uint64_t>(row[i].value)));
      out.Add(std::string(rows[0][i].name), std::move(values));
      continue;
    }
    ArrowTable::Reals values;
    for (const auto& row : rows) {
      const auto* number = std::get_if<double>(&row[i].value);
      values.push_back(number != nullptr ? std::optional(*number) : std::nullopt);
    }
    out.Add(std::string(rows[0][i].name), std::move(values));
  }
  return Done(std::move(out));
}

Table JobsTable(const ReplayResult& result, const std::vector<JobInfo>& jobs_of_trace,
                const std::string& label) {
  ArrowTable out;
  NameColumn jobs, recommenders, resources;
  ArrowTable::Integers job_days, oom_days, serious, ooms, changes, windows, windows_over;
  ArrowTable::Reals slack, limit, owner, usage, over;
  for (const LaneResult& lane : result.lanes) {
    for (size_t i = 0; i < lane.per_job.size(); ++i) {
      const tools::Totals& t = lane.per_job[i];
      if (t.job_days == 0) continue;
      jobs.Add(jobs_of_trace[i].name);
      recommenders.Add(NameOf(lane.policy, label));
      resources.Add(std::string(Name(lane.resource)));
      for (const auto& [to, value] : {std::pair{&job_days, t.job_days},
                                      {&oom_days, t.oom_days},
                                      {&serious, t.serious_oom_days},
                                      {&ooms, t.ooms},
                                      {&changes, t.changes},
                                      {&windows, t.windows},
                                      {&windows_over, t.windows_over}})
        to->emplace_back(static_cast<int64_t>(value));
      for (const auto& [to, value] : {std::pair{&slack, t.mean_slack()},
                                      {&limit, t.limit_seconds},
                                      {&owner, t.owner_limit_seconds},
                                      {&usage, t.usage_seconds},
                                      {&over, t.usage_over_seconds}})
        to->emplace_back(value);
    }
  }
  out.Add("job", jobs.Take());
  out.Add("recommender", recommenders.Take());
  out.Add("resource", resources.Take());
  out.Add("job_days", std::move(job_days));
  out.Add("slack_mean", std::move(slack));
  out.Add("limit_seconds", std::move(limit));
  out.Add("owner_limit_seconds", std::move(owner));
  out.Add("usage_seconds", std::move(usage));
  out.Add("windows", std::move(windows));
  out.Add("windows_over", std::move(windows_over));
  out.Add("usage_over_seconds", std::move(over));
  out.Add("oom_days", std::move(oom_days));
  out.Add("serious_oom_days", std::move(serious));
  out.Add("ooms", std::move(ooms));
  out.Add("changes", std::move(changes));
  return Done(std::move(out));
}

Table DecisionsTable(const std::vector<LimitChange>& changes, const std::vector<JobInfo>& jobs_of_trace,
                     std::optional<JobId> only, const std::string& label) {
  ArrowTable out;
  ArrowTable::Times times;
  NameColumn jobs, recommenders, resources;
  ArrowTable::Reals limits;
  for (const LimitChange& c : changes) {
    if (only.has_value() && c.job != *only) continue;
    times.us.push_back(c.from.start_s() * kMicrosPerSecond);
    jobs.Add(jobs_of_trace[c.job.value].name);
    resources.Add(std::string(Name(c.resource)));
    recommenders.Add(NameOf(c.policy, label));
    limits.push_back(c.limit);
  }
  out.Add("time", std::move(times));
  out.Add("job", jobs.Take());
  out.Add("resource", resources.Take());
  out.Add("recommender", recommenders.Take());
  out.Add("limit", std::move(limits));
  return Done(std::move(out));
}

}  // namespace taut::python
