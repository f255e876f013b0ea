#include "server/control/job_history.h"

#include <algorithm>
#include <map>

#include "brain/fleet/signal_builder.h"

namespace taut::server {
namespace {

struct Column {
  std::map<Bucket, float> buckets;
  float weight = 0;
  std::optional<double> owner_limit, needed;
};

void AddNeeded(const JobDay& day, const JobWindow& window, Column& column) {
  for (const TaskWindow& task : std::span(day.tasks).subspan(window.first_task, window.num_tasks)) {
    if (task.memory_needed_bytes < 0) continue;
    column.needed = std::max<double>(column.needed.value_or(0), task.memory_needed_bytes);
  }
}

void Fold(const Signal& signal, Column& column) {
  for (const BucketWeight& b : signal.buckets) {
    column.buckets[b.bucket] += b.weight;
    column.weight += b.weight;
  }
  column.owner_limit = signal.owner_limit;
}

}  // namespace

LimitSteps::LimitSteps(std::span<const Decision> decisions, Resource resource) {
  for (const Decision& d : decisions) {
    if (d.target != resource) continue;
    const DecisionKindRow& kind = RowOf(d.kind);
    if (kind.sets_all_tasks) limits_.push_back({d.time_s, d.after});
    if (kind.shows_recommendation) would_be_.push_back({d.time_s, d.after});
  }
}

std::optional<double> LimitSteps::At(const std::vector<Step>& steps, int64_t time_s,
                                     std::optional<double> owner) {
  const auto it = std::upper_bound(steps.begin(), steps.end(), time_s,
                                   [](int64_t t, const Step& s) { return t < s.from_s; });
  if (it == steps.begin()) return owner;
  const std::optional<double>& value = std::prev(it)->value;
  return value.has_value() ? value : owner;
}

std::optional<double> LimitSteps::LimitAt(int64_t time_s, std::optional<double> owner) const {
  return At(limits_, time_s, owner);
}

std::optional<double> LimitSteps::WouldBeAt(int64_t time_s, std::optional<double> owner) const {
  return At(would_be_, time_s, owner);
}

Heatmap MakeHeatmap(const HeatmapQuery& query, std::span<const JobDay> days,
                    std::span<const Decision> decisions) {
  Heatmap map;
  const int64_t span_s = std::max<int64_t>(query.to_s - query.from_s, 1);
  const int64_t wanted_s = (span_s + query.columns - 1) / query.columns;
  map.column_s = std::max<int64_t>(1, (wanted_s + kWindowSeconds - 1) / kWindowSeconds) * kWindowSeconds;
  std::map<int64_t, Column> columns;  // columns by their start
  brain::DaySignals signals;
  for (const JobDay& day : days) {
    signals.Build(day, query.resource);
    for (const Signal& s : signals.signals()) {
      const int64_t at_s = s.window.start_s();
      if (at_s >= query.from_s && at_s < query.to_s)
        Fold(s, columns[FloorDiv(at_s, map.column_s) * map.column_s]);
    }
    for (const JobWindow& w : day.windows) {
      if (query.resource != Resource::kMemory) break;
      const auto column = columns.find(FloorDiv(w.window.start_s(), map.column_s) * map.column_s);
      if (column == columns.end() || w.window.start_s() < query.from_s || w.window.start_s() >= query.to_s)
        continue;
      AddNeeded(day, w, column->second);
    }
  }
  Bucket lowest = UINT16_MAX, highest = 0;
  for (const auto& [start, column] : columns) {
    if (column.buckets.empty()) continue;
    lowest = std::min(lowest, column.buckets.begin()->first);
    highest = std::max(highest, column.buckets.rbegin()->first);
  }
  if (lowest > highest) return map;
  const Grid& grid = GridOf(query.resource);
  for (uint32_t b = lowest; b <= highest; ++b) map.buckets.push_back(grid.UpperBound(static_cast<Bucket>(b)));
  const LimitSteps steps(decisions, query.resource);
  for (const auto& [start, column] : columns) {
    const auto at = static_cast<uint32_t>(map.time_s.size());
    const int64_t end_s = start + map.column_s - 1;
    map.time_s.push_back(start);
    map.owner_limit.push_back(column.owner_limit);
    map.limit.push_back(steps.LimitAt(end_s, column.owner_limit));
    map.would_be.push_back(steps.WouldBeAt(end_s, column.owner_limit));
    map.needed.push_back(column.needed);
    for (const auto& [bucket, weight] : column.buckets) {
      map.cells.push_back({at, static_cast<uint32_t>(bucket - lowest), weight / column.weight});
    }
  }
  return map;
}

}  // namespace taut::server
