// Writes the report's data: numbers of the fleet, of each day and of each job, and the job stories.
#include "tools/report/report_json.h"

#include <algorithm>
#include <set>

#include "common/base/byte_units.h"
#include "common/base/json_writer.h"
#include "common/base/printable.h"
#include "common/base/strings.h"
#include "tools/report/story_json.h"

namespace taut::tools {
namespace {

constexpr double kDayS = static_cast<double>(kDaySeconds);
constexpr int kSlackPoints = 100;

// Returns the average over `seconds`: core-seconds as cores, byte-seconds as GiB.
double Average(Resource r, double amount_seconds, double seconds) {
  if (!(seconds > 0)) return 0;
  return amount_seconds / seconds / UnitOf(r).large;
}

// Returns the number of scored seconds of a lane. Footprints are averages over these seconds, so the jobs'
// footprints add up to the fleet's footprint.
double ScoredSeconds(const ReplayResult& result, const LaneResult& lane) {
  const auto scored = std::count_if(lane.fleet.begin(), lane.fleet.end(),
                                    [&](const FleetDay& d) { return d.day >= result.first_scored_day; });
  return static_cast<double>(scored) * kDayS;
}

template <typename Items, typename Write>
void Column(std::string_view name, const Items& items, JsonWriter* json, Write write) {
  json->Key(name);
  json->BeginArray();
  for (const auto& item : items) write(item);
  json->EndArray();
}

void WriteSummary(const LaneResult& lane, double seconds, JsonWriter* json) {
  const Totals& t = lane.summary.totals;
  json->BeginObject();
  json->Field("job_days", static_cast<int64_t>(t.job_days));
  json->Field("slack_mean", t.mean_slack());
  json->Field("slack_median", lane.summary.slack.Quantile(0.5));
  json->Field("limit", Average(lane.resource, t.limit_seconds, seconds));
  json->Field("limit_owned", Average(lane.resource, t.limit_seconds_owned, seconds));
  json->Field("owner", Average(lane.resource, t.owner_limit_seconds, seconds));
  json->Field("usage", Average(lane.resource, t.usage_seconds, seconds));
  json->Field("of_owner", t.footprint_of_owner());
  json->Field("of_usage", t.footprint_of_usage());
  json->Field("oom_days", static_cast<int64_t>(t.oom_days));
  json->Field("oom_day_share", t.oom_day_share());
  json->Field("serious_share", t.serious_oom_day_share());
  json->Field("ooms_per_task_day", t.ooms_per_task_day());
  json->Field("changes_mean", t.changes_per_job_day());
  json->Field("changes_p99", int64_t{lane.summary.ChangesQuantile(0.99)});
  json->Field("unchanged_share", t.share_without_change());
  json->Field("windows_over_share", t.windows_over_share());
  json->Field("usage_over_share", t.usage_over_share());
  json->Field("unlimited_windows", static_cast<int64_t>(t.unlimited_windows));
  json->EndObject();
}

// Writes a column, unless the first lane of the resource has an equal column. The owners' limits are equal in all
// lanes and are thus written once.
template <typename Items, typename Value, typename Write>
void ColumnUnlessFirst(std::string_view name, const Items& items, const Items* first, JsonWriter* json,
                       Value value, Write write) {
  const auto same = [&](const auto& a, const auto& b) { return value(a) == value(b); };
  if (first != nullptr && std::equal(items.begin(), items.end(), first->begin(), first->end(), same)) return;
  Column(name, items, json, [&](const auto& item) { write(value(item)); });
}

// Writes the days of the fleet. `first` is the first lane of the resource; null if `lane` itself is the first.
void WriteFleet(const LaneResult& lane, const LaneResult* first, JsonWriter* json) {
  const auto* days = first != nullptr ? &first->fleet : nullptr;
  const auto whole = [&](int64_t value) { json->Int(value); };
  const auto average = [&](double amount_seconds) {
    json->Number(Average(lane.resource, amount_seconds, kDayS));
  };
  json->BeginObject();
  ColumnUnlessFirst(
      "day", lane.fleet, days, json, [](const FleetDay& d) { return int64_t{d.day}; }, whole);
  Column("limit", lane.fleet, json, [&](const FleetDay& d) { average(d.limit_seconds); });
  ColumnUnlessFirst(
      "owner", lane.fleet, days, json, [](const FleetDay& d) { return d.owner_limit_seconds; }, average);
  ColumnUnlessFirst(
      "usage", lane.fleet, days, json, [](const FleetDay& d) { return d.usage_seconds; }, average);
  ColumnUnlessFirst(
      "job_days", lane.fleet, days, json, [](const FleetDay& d) { return static_cast<int64_t>(d.job_days); },
      whole);
  Column("oom_days", lane.fleet, json,
         [&](const FleetDay& d) { json->Int(static_cast<int64_t>(d.oom_days)); });
  json->EndObject();
}

// Writes one array per column, which keeps the JSON of ten thousand jobs small and fast to parse. REQUIRES: both
// lanes have `seconds` scored seconds.
void WriteJobs(const LaneResult& lane, const LaneResult* first, double seconds, JsonWriter* json) {
  const auto* jobs = first != nullptr ? &first->per_job : nullptr;
  const auto average = [&](double amount_seconds) {
    json->Number(Average(lane.resource, amount_seconds, seconds), 4);
  };
  json->BeginObject();
  ColumnUnlessFirst(
      "job_days", lane.per_job, jobs, json, [](const Totals& t) { return static_cast<int64_t>(t.job_days); },
      [&](int64_t days) { json->Int(days); });
  Column("limit", lane.per_job, json, [&](const Totals& t) { average(t.limit_seconds); });
  Column("limit_owned", lane.per_job, json, [&](const Totals& t) { average(t.limit_seconds_owned); });
  ColumnUnlessFirst(
      "owner", lane.per_job, jobs, json, [](const Totals& t) { return t.owner_limit_seconds; }, average);
  Column("slack", lane.per_job, json, [&](const Totals& t) { json->Number(t.mean_slack(), 3); });
  Column("oom_days", lane.per_job, json,
         [&](const Totals& t) { json->Int(static_cast<int64_t>(t.oom_days)); });
  Column("changes", lane.per_job, json, [&](const Totals& t) { json->Number(t.changes_per_job_day(), 3); });
  json->EndObject();
}

// Returns the first lane of the resource; null if `lane` itself is the first.
const LaneResult* FirstOfResource(const ReplayResult& result, const LaneResult& lane) {
  for (const LaneResult& other : result.lanes) {
    if (other.resource == lane.resource) return &other == &lane ? nullptr : &other;
  }
  return nullptr;
}

void WriteLane(const ReplayResult& result, const LaneResult& lane, JsonWriter* json) {
  const double seconds = ScoredSeconds(result, lane);
  const LaneResult* first = FirstOfResource(result, lane);
  const bool same_time = first != nullptr && ScoredSeconds(result, *first) == seconds;
  json->BeginObject();
  json->Field("policy", Name(lane.policy));
  json->Field("resource", Name(lane.resource));
  json->Key("sum");
  WriteSummary(lane, seconds, json);
  json->Key("slack_quantiles");
  json->BeginArray();
  for (int i = 0; i <= kSlackPoints; ++i) {
    json->Number(lane.summary.slack.Quantile(static_cast<double>(i) / kSlackPoints), 4);
  }
  json->EndArray();
  json->Key("fleet");
  WriteFleet(lane, first, json);
  json->Key("jobs");
  WriteJobs(lane, same_time ? first : nullptr, seconds, json);
  json->EndObject();
}

void WritePolicies(const ReplayResult& result, JsonWriter* json) {
  json->Key("policies");
  json->BeginArray();
  const auto write = [&](std::string_view name, std::string_view what) {
    json->BeginObject();
    json->Field("name", name);
    json->Field("what", what);
    json->EndObject();
  };
  std::set<brain::PolicyPair> pairs;
  for (const LaneResult& lane : result.lanes) pairs.insert(lane.policy);
  for (const brain::PolicyInfo& info : brain::Policies()) {
    if (pairs.erase(info.policy) > 0) write(info.name, info.what);
  }
  for (const brain::PolicyPair pair : pairs) {
    write(Name(pair), StrCat("memory by ", Name(pair.memory), ", CPU by ", Name(pair.cpu)));
  }
  json->EndArray();
}

void WriteRun(const ReportInput& input, JsonWriter* json) {
  const ReplayResult& r = *input.result;
  json->Field("title", input.title);
  json->Field("command", input.command);
  json->Field("unix", input.clock_is_unix);
  Column("notes", input.notes, json, [&](const std::string& note) { json->String(note); });
  json->Field("shown_first", Name(input.shown_first));
  json->Field("first_day", int64_t{r.first_day});
  json->Field("last_day", int64_t{r.last_day});
  json->Field("first_scored_day", int64_t{r.first_scored_day});
  json->Field("days_done", static_cast<int64_t>(r.days_done));
  json->Field("days_total", static_cast<int64_t>(r.days_total));
  json->Field("partial", r.partial);
  json->Field("job_windows", static_cast<int64_t>(r.job_windows));
  json->Field("state_bytes_per_job", r.state_bytes_per_job);
}

void WriteGrids(JsonWriter* json) {
  json->Key("grids");
  json->BeginObject();
  for (const Resource r : kResources) {
    json->Key(Name(r));
    json->BeginObject();
    json->Key("first");
    // Write all 17 digits, because the page computes the bounds of all buckets from the first bound.
    json->Number(GridOf(r).UpperBound(0) / UnitOf(r).large, 17);
    json->Field("per_octave", int64_t{Grid::kPerOctave});
    json->Field("size", int64_t{GridOf(r).size()});
    json->EndObject();
  }
  json->EndObject();
}

}  // namespace

std::string ReportJson(const ReportInput& input) {
  JsonWriter json;
  json.BeginObject();
  WriteRun(input, &json);
  WriteGrids(&json);
  WritePolicies(*input.result, &json);
  Column("jobs", *input.jobs, &json, [&](const JobInfo& job) { json.String(Printable(job.name)); });
  Column("lanes", input.result->lanes, &json,
         [&](const LaneResult& lane) { WriteLane(*input.result, lane, &json); });
  Column("stories", input.stories, &json, [&](const JobStory& story) { WriteStory(story, &json); });
  json.EndObject();
  return json.Take();
}

}  // namespace taut::tools
