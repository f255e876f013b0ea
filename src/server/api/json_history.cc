// Writes data over time as JSON: sums of the fleet, usage and tasks of a job, and a what-if.
#include "common/base/strings.h"
#include "server/api/json.h"
#include "server/api/json_columns.h"

namespace taut::server {
namespace {

void PutAmounts(std::string_view key, std::span<const std::optional<double>> values, JsonWriter& json) {
  PutColumn(
      key, values, [&](const std::optional<double>& v) { v.has_value() ? json.Number(*v, 6) : json.Null(); },
      json);
}

void PutWhatIfLane(std::string_view key, const WhatIfLane& lane, JsonWriter& json) {
  json.Key(key);
  json.BeginObject();
  json.Field("recommender", Name(lane.recommender));
  PutAmount("mean_limit", lane.windows > 0 ? std::optional(lane.mean_limit) : std::nullopt, json);
  json.Field("windows", int64_t{lane.windows});
  json.Field("windows_over", int64_t{lane.windows_over});
  json.Field("days", int64_t{lane.days});
  json.Field("days_over", int64_t{lane.days_over});
  json.Field("changes", int64_t{lane.changes});
  PutAmount("saved_share", lane.saved_share, json);
  PutAmounts("limit", lane.limit, json);
  json.EndObject();
}

}  // namespace

void PutFleetHistory(std::span<const FleetPoint> points, JsonWriter& json) {
  json.BeginObject();
  PutColumn(
      "time", points, [&](const FleetPoint& p) { json.Int(p.window.next().start_s()); }, json);
  for (const Resource r : kResources) {
    json.Key(Name(r));
    json.BeginObject();
    const auto column = [&](std::string_view key, double FleetAmounts::*amount) {
      std::vector<std::optional<double>> values;
      values.reserve(points.size());
      for (const FleetPoint& p : points)
        values.push_back(AmountOf(p.amounts[static_cast<size_t>(r)], amount));
      PutAmounts(key, values, json);
    };
    column("usage", &FleetAmounts::usage);
    column("owner_limit", &FleetAmounts::owner_limit);
    column("limit", &FleetAmounts::in_force);
    column("would_be", &FleetAmounts::would_be);
    json.EndObject();
  }
  PutColumn(
      "jobs", points, [&](const FleetPoint& p) { json.Int(p.jobs); }, json);
  PutColumn(
      "tasks", points, [&](const FleetPoint& p) { json.Int(p.tasks); }, json);
  PutColumn(
      "oom_kills", points, [&](const FleetPoint& p) { json.Int(p.oom_kills); }, json);
  PutColumn(
      "changes", points, [&](const FleetPoint& p) { json.Int(p.changes); }, json);
  json.Key("jobs_by_mode");
  json.BeginObject();
  for (size_t m = 0; m < kNumModes; ++m) {
    PutColumn(
        Name(static_cast<Mode>(m)), points, [&](const FleetPoint& p) { json.Int(p.jobs_by_mode[m]); }, json);
  }
  json.EndObject();
  json.EndObject();
}

void PutHeatmap(const Heatmap& map, const HeatmapQuery& query, std::span<const OomRecord> ooms,
                JsonWriter& json) {
  json.BeginObject();
  json.Field("resource", Name(query.resource));
  json.Field("from", query.from_s);
  json.Field("to", query.to_s);
  json.Field("column_seconds", map.column_s);
  PutColumn(
      "time", map.time_s, [&](int64_t t) { json.Int(t); }, json);
  PutColumn(
      "buckets", map.buckets, [&](double b) { json.Number(b, 6); }, json);
  PutColumn(
      "cells", map.cells,
      [&](const Heatmap::Cell& c) {
        json.BeginArray();
        json.Int(c.column);
        json.Int(c.row);
        json.Number(c.share, 3);
        json.EndArray();
      },
      json);
  PutAmounts("limit", map.limit, json);
  PutAmounts("owner_limit", map.owner_limit, json);
  PutAmounts("would_be", map.would_be, json);
  PutAmounts("needed", map.needed, json);
  PutColumn(
      "ooms", ooms, [&](const OomRecord& o) { json.Int(o.time_s); }, json);
  json.EndObject();
}

void PutWhatIf(const WhatIfResult& result, Resource resource, double milliseconds, JsonWriter& json) {
  json.BeginObject();
  json.Field("resource", Name(resource));
  json.Field("oom_kills", static_cast<int64_t>(result.oom_kills));
  PutColumn(
      "time", result.time_s, [&](int64_t t) { json.Int(t); }, json);
  PutColumn(
      "usage_peak", result.usage_peak, [&](float p) { json.Number(p, 6); }, json);
  PutAmounts("owner_limit", result.owner_limit, json);
  PutWhatIfLane("now", result.now, json);
  PutWhatIfLane("whatif", result.whatif, json);
  json.Field("milliseconds", milliseconds);
  json.EndObject();
}

void PutReplicaHistory(const ReplicaHistory& history, JsonWriter& json) {
  const auto column = [&](std::string_view key, std::optional<double> ReplicaColumn::*field) {
    PutColumn(
        key, history.columns,
        [&](const ReplicaColumn& c) { (c.*field).has_value() ? json.Number(*(c.*field), 6) : json.Null(); },
        json);
  };
  json.BeginObject();
  json.Field("step", history.step_s);
  json.Field("load_of", history.is_of_cpu ? "cpu" : "series");
  PutColumn(
      "time", history.columns, [&](const ReplicaColumn& c) { json.Int(c.start_s); }, json);
  column("load", &ReplicaColumn::load);
  column("tasks", &ReplicaColumn::tasks);
  column("tasks_would_be", &ReplicaColumn::would_be);
  column("capacity", &ReplicaColumn::capacity);
  column("capacity_would_be", &ReplicaColumn::would_be_capacity);
  column("forecast_low", &ReplicaColumn::forecast_low);
  column("forecast_high", &ReplicaColumn::forecast_high);
  const ReplicaTotals& t = history.totals;
  json.Key("totals");
  json.BeginObject();
  json.Field("windows", int64_t{t.windows});
  json.Field("task_hours", t.task_hours);
  json.Field("task_hours_would_be", t.would_be_task_hours);
  json.Field("overloaded_windows", int64_t{t.overloaded});
  json.Field("overloaded_windows_would_be", int64_t{t.would_be_overloaded});
  json.Field("changes", int64_t{t.changes});
  json.Field("changes_would_be", int64_t{t.would_be_changes});
  json.EndObject();
  json.EndObject();
}

}  // namespace taut::server
